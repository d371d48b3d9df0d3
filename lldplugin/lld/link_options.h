// What a command line says about the front.
//
// ld.frontload takes every option of ld.lld, and a few of its own. It takes its own out, and notes
// which of the others matter to a front: lld's own table of options is inside lld.
#pragma once

#include "plan/front_link.h"
#include "profile/match_summary.h"
#include "program/command_line.h"
#include "program/diagnostics.h"
#include "program/library_search.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace frontload {

/// What the command line says about the front.
struct LinkOptions {
  std::string profile;
  std::optional<std::string> front; ///< the value of --front: auto needs no profile
  /// May have a profile for this output; a link without one is lld's.
  std::optional<std::string> profileFolder;
  std::string report;
  double minMatch = defaultMinMatch;
  std::optional<std::string> badMinMatch; ///< a value that is no percentage
  std::optional<std::string> frontAlign;  ///< as it was given; see LinkTraits
  std::string output = "a.out";
  OutputKind kind;
  /// Whether a front is laid out: if it is worth having; always, with --front-always; or never,
  /// with --front-never, where the profile is only an input.
  enum class FrontChoice : uint8_t { IfWorth, Always, Never } choice = FrontChoice::IfWorth;
  bool prefetchesInside = false; ///< by code in the program, instead of a library that it needs
  LinkTraits traits;
  bool decidesPacking = false; ///< of relative relocations
  bool keepsBuildId = false;   ///< which the user has chosen
  std::string imageBase;       ///< as it was given
  LibrarySearch libraries;
  bool isHelp = false;
  /// An option that cannot be had together with a front.
  std::optional<LayoutOption> conflict;
};

/// Whether the link makes a front without a profile.
inline bool isUntrained(const LinkOptions &options) {
  return options.front && options.profile.empty() && !options.kind.isRelocatable;
}

/// Reads our options out of `args` and returns the others, which are lld's.
std::vector<const char *> parseLinkOptions(llvm::ArrayRef<const char *> args, LinkOptions &options);

/// What is wrong with the options, for any link.
std::optional<Refusal> checkLinkOptions(const LinkOptions &options);

} // namespace frontload
