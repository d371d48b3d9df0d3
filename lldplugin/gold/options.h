//===- options.h - the plugin's options ------------------------------------===//
//
// The options behind --plugin-opt= on the linker's command line:
//
//   profile=FILE    the startup profile to lay out (needed)
//   report=FILE     write what was placed, and what was not found, as JSON (front_report.h)
//   min-match=N     fail the link if less than N percent of the profile's names are in it; 0 turns
//                   that off (default 80)
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_GOLD_OPTIONS_H
#define FRONTLOAD_LLDPLUGIN_GOLD_OPTIONS_H

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

} // namespace frontload

#endif
