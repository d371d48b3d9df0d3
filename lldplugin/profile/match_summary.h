//===- match_summary.h - how much of a profile a link has found ------------===//
//
// A profile rots: functions are renamed and removed, and one day half of it names nothing. So every
// link says how many of the names it has found, which ones it has not, and fails below a share that
// the user can set.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_MATCH_SUMMARY_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_MATCH_SUMMARY_H

#include "program/diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace frontload {

/// The share of names, in percent, below which a link fails unless it is told otherwise.
constexpr double defaultMinMatch = 80;

/// What a link says of a profile: one line, and if that is an error, a second that says what to do.
struct MatchVerdict {
  std::string text, note;
  bool isError = false;
};

struct MatchSummary {
  uint64_t found = 0;
  uint64_t ambiguous = 0; ///< of these
  /// The others, in the order of the profile.
  std::vector<llvm::StringRef> missing;
  /// What does not count: of strings only the output tells what has become of them, sections like
  /// .init keep their place in any case, and what starts touch no more may have gone.
  uint64_t strings = 0, kept = 0, faded = 0;

  uint64_t total() const { return found + missing.size(); }
  /// Whether less than `percent` of the names is found; 0 accepts everything.
  bool isBelow(double percent) const;
  /// "n of m names found (x%)", what does not count, and the first missing ones.
  std::string describe() const;
  /// What to say of the profile at `path`: an error if less than `percent` of the names is found,
  /// which `option` of the linker sets.
  MatchVerdict judge(llvm::StringRef path, double percent, llvm::StringRef option) const;

private:
  /// The first ten missing names, one in a line.
  std::string listMissing() const;
};

/// Parses the value of --min-match: percent, from 0 to 100.
std::optional<double> parseMinMatch(llvm::StringRef text);

/// What to say of a value that is none, of an option or a variable.
Refusal badMinMatch(llvm::StringRef where, llvm::StringRef value);

} // namespace frontload

#endif
