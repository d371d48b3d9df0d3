// The plugin's options, and gold's.
//
// The options behind --plugin-opt= on the linker's command line:
//
//   profile=FILE    the startup profile to lay out (needed)
//   report=FILE     write what was placed, and what was not found, as JSON (front_report.h)
//   min-match=N     fail the link if less than N percent of the profile's names are in it; 0 turns
//                   that off (default 80)
//
// gold tells a plugin these, but not its own options. A few of its own matter: if another order is
// asked for, gold forgets the plugin's, and it cannot both give sections a segment of their own and
// write relocations into its output (it ends with an internal error, as with --gc-sections).
#pragma once

#include "profile/match_summary.h"
#include "program/diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace frontload {

struct GoldOptions {
  std::string profile, report;
  double minMatch = defaultMinMatch;
};

/// Reads `words`. The last one of a kind counts.
std::optional<Refusal> parseGoldOptions(llvm::ArrayRef<llvm::StringRef> words,
                                        GoldOptions &options);

struct GoldCommandLine {
  /// An option that orders sections itself.
  std::string ordering;
  bool emitsRelocations = false;
  bool foldsCode = false; ///< --icf
};

/// Reads gold's `arguments`, each of which ends in a zero byte.
GoldCommandLine parseGoldCommandLine(llvm::StringRef arguments);

} // namespace frontload
