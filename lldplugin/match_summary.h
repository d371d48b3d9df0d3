//===- match_summary.h - how much of a profile a link has found ------------===//
//
// A profile rots: functions are renamed and removed, and one day half of it names nothing. So every
// link says how many of the names it has found, which ones it has not, and fails below a share that
// the user can set.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_MATCH_SUMMARY_H
#define FRONTLOAD_LLDPLUGIN_MATCH_SUMMARY_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace frontload {

/// The share of names, in percent, below which a link fails unless it is told otherwise.
constexpr double defaultMinMatch = 80;

struct MatchSummary {
  uint64_t found = 0;
  uint64_t ambiguous = 0; ///< of these
  /// The others, in the order of the profile.
  std::vector<llvm::StringRef> missing;

  uint64_t total() const { return found + missing.size(); }
  /// Whether less than `percent` of the names is found; 0 accepts everything.
  bool isBelow(double percent) const;
  /// "n of m names found (x%)", and the first missing ones.
  std::string describe() const;
  /// The first ten missing names, one in a line.
  std::string listMissing() const;
};

/// Parses the value of --min-match: percent, from 0 to 100.
std::optional<double> parseMinMatch(llvm::StringRef text);

} // namespace frontload

#endif
