// How much of a profile a link has found.
//
// A profile rots: functions are renamed and removed, until half of its names are gone. So every
// link reports how many names it has found and which are missing, and fails below a share that the
// user can set.
#pragma once

#include "program/diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace frontload {

/// The share of names, in percent, below which a link fails, unless an option sets another.
constexpr double defaultMinMatch = 80;

/// The message of a link about a profile: one line, and for an error a note on what to do.
struct MatchVerdict {
  std::string text, note;
  bool isError = false;
};

struct MatchSummary {
  uint64_t found = 0;
  uint64_t ambiguous = 0; ///< of the found ones
  /// The names that were not found, in the order of the profile.
  std::vector<llvm::StringRef> missing;
  /// Names that do not count: strings, which only the output shows; names in sections like .init,
  /// which keep their place; and missing names that starts no longer touch, or that only a build
  /// with hooks has.
  uint64_t strings = 0, kept = 0, faded = 0, inlined = 0;

  uint64_t total() const { return found + missing.size(); }
  /// Whether less than `percent` of the names is found; 0 accepts everything.
  bool isBelow(double percent) const;
  /// "n of m names found (x%)", the names that do not count, and the first missing ones.
  std::string describe() const;
  /// The message about the profile at `path`: an error if less than `percent` of the names is
  /// found. `option` of the linker sets this limit.
  MatchVerdict judge(llvm::StringRef path, double percent, llvm::StringRef option) const;
};

/// Parses the value of --min-match: percent, from 0 to 100.
std::optional<double> parseMinMatch(llvm::StringRef text);

/// The error for a bad value of an option or a variable.
Refusal badMinMatch(llvm::StringRef where, llvm::StringRef value);

} // namespace frontload
