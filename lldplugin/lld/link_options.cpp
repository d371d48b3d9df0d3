//===- link_options.cpp - what a command line says about the front ---------===//

#include "lld/link_options.h"
#include "lld/front_align.h"
#include "program/command_line.h"
#include "program/layout_options.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>

using namespace llvm;

namespace frontload {

static constexpr char reproduceReason[] = "its files would have different section names";

/// Reads what another linker has to know of argument `i` of lld's `args`.
static void parseForOther(ArrayRef<const char *> args, size_t i, LinkOptions &options) {
  StringRef arg = args[i], name = arg.ltrim('-').take_until([](char c) { return c == '='; });
  OtherLink &other = options.other;
  if (arg.starts_with("-") && is_contained({"reproduce", "fat-lto-objects"}, name)) {
    options.otherConflict = arg;
    options.isReproduced |= name == "reproduce";
    options.otherReason =
        name == "reproduce" ? reproduceReason : "its objects are made during the link";
  } else if (asksForOwnOrder(arg)) {
    options.otherConflict = arg;
    options.otherReason = "it would order the front as well";
  } else if (takeOption(args, i, "Map", other.map)) {
  } else if (is_contained({"-M", "--print-map", "-print-map"}, arg)) {
    other.printsMap = true;
  } else if (is_contained(
                 {"-s", "--strip-all", "-strip-all", "-x", "--discard-all", "-discard-all"}, arg)) {
    other.needsMap = true; // there are no symbols that tell what is in the output
  } else if (arg.starts_with("-") && (name == "start-lib" || name == "end-lib")) {
    other.opensLib = name == "start-lib";
  } else if (is_contained({"--cref", "-cref", "--no-cref", "-no-cref"}, arg)) {
    other.printsReferences = !arg.contains("no-");
  } else if (arg.starts_with("-") && name == "time-trace") {
    other.timeTrace = arg.split('=').second;
  } else if (arg.starts_with("-") &&
             is_contained({"print-gc-sections", "no-print-gc-sections"}, name)) {
    other.removedFile = arg.split('=').second;
  } else {
    takeOption(args, i, "dependency-file", other.dependencyFile);
  }
}

/// Reads how a file without a front is to be laid out.
static bool takePlainOption(ArrayRef<const char *> args, size_t &i, PlainTraits &traits) {
  using enum PlainTraits::Separation;
  std::string value;
  if (takeLetter(args, i, "-z", value)) {
    traits.separation = value == "separate-code"                ? Code
                        : value == "separate-loadable-segments" ? All
                        : value == "noseparate-code"            ? None
                                                                : traits.separation;
    if (StringRef kind = value; kind.consume_back("keep-text-section-prefix"))
      traits.keepsTextPrefix = kind.empty();
    return true;
  }
  StringRef name = StringRef(args[i]).ltrim('-');
  if (!StringRef(args[i]).starts_with("-") || (name != "rosegment" && name != "no-rosegment"))
    return false;
  traits.hasRosegment = name == "rosegment";
  return true;
}

/// Our option that a mistyped `arg` is near to; empty if none is. No option of lld is so near.
static StringRef nearestOwn(StringRef arg) {
  StringRef name = arg.take_until([](char c) { return c == '='; });
  for (StringRef own :
       {"--startup-profile", "--startup-profile-dir", "--front-prefetch", "--front-report",
        "--front-align", "--front-always", "--front-never", "--min-match"})
    if (name.starts_with("--") && name.edit_distance(own) <= 2)
      return own;
  return {};
}

std::vector<const char *> parseLinkOptions(ArrayRef<const char *> args, LinkOptions &options) {
  std::vector<const char *> others;
  bool exportsAll = false; // a version script may still hide some
  std::string value;
  for (size_t i = 0; i < args.size(); ++i) {
    if (takeOption(args, i, "startup-profile", options.profile) ||
        takeOption(args, i, "front-report", options.report))
      continue;
    if (takeOption(args, i, "startup-profile-dir", value)) {
      options.profileFolder = value;
      continue;
    }
    if (takeOption(args, i, "min-match", value)) {
      std::optional<double> percent = parseMinMatch(value);
      options.badMinMatch = percent ? std::nullopt : std::optional(value);
      options.minMatch = percent.value_or(defaultMinMatch);
      continue;
    }
    if (takeOption(args, i, "front-align", value)) {
      options.frontAlign = value;
      options.traits.frontAlign = parseFrontAlign(value).value_or(0);
      continue;
    }
    StringRef arg = args[i];
    // -lld is a library whose name begins with "ld".
    if (arg.starts_with("--") && takeOption(args, i, "lld", value)) {
      options.lld = value;
      continue;
    }
    if (StringRef how = arg;
        (how.consume_front("--front-prefetch") || how.consume_front("-front-prefetch")) &&
        (how.empty() || how == "=inside")) {
      options.traits.prefetches = true;
      options.prefetchesInside = !how.empty();
      continue;
    }
    bool isAlways = arg == "--front-always" || arg == "-front-always";
    if (isAlways || arg == "--front-never" || arg == "-front-never") {
      using enum LinkOptions::FrontChoice;
      options.choice = isAlways ? Always : Never;
      continue;
    }
    if (StringRef own = nearestOwn(arg); !own.empty())
      options.mistyped = arg, options.meant = own;
    others.push_back(args[i]);
    parseForOther(args, i, options);
    size_t next = i;
    exportsAll |= is_contained(
        {"-shared", "--shared", "-Bshareable", "-E", "--export-dynamic", "-export-dynamic"}, arg);
    if (takeOption(args, next, "output", options.output))
      continue;
    if (std::optional<LayoutOption> conflict = layoutOption(args, i)) {
      options.conflict = conflict->option, options.reason = conflict->reason;
    } else if (takePlainOption(args, next, options.traits.plain)) {
    } else if (options.kind.take(args, next)) {
    } else if (takeOption(args, next, "icf", value)) {
      options.traits.folding = value == "all"    ? Folding::All
                               : value == "safe" ? Folding::Listed
                                                 : Folding::None;
    } else if (takeLetter(args, next, "-O", value)) {
      if (unsigned level; !StringRef(value).getAsInteger(10, level))
        options.traits.mergesStrings = level == 1;
    } else if (arg == "--help" || arg == "-help") {
      options.isHelp = true;
    } else if (takeOption(args, next, "defsym", value)) {
      options.definesEnd |= StringRef(value).starts_with("_end=");
    } else if (takeOption(args, next, "image-base", options.imageBase)) {
    } else if (arg == "-o" && i + 1 < args.size()) {
      options.output = args[i + 1];
    } else if (arg.starts_with("-o") && arg.size() > 2) {
      options.output = arg.substr(2).str();
    }
  }
  if (exportsAll && options.traits.folding == Folding::Listed)
    options.traits.folding = Folding::ListedAndHidden;
  options.traits.isRelocated = options.kind.isRelocated();
  options.traits.copiesConstants = !options.kind.isShared && !options.kind.dynamicLinker.empty();
  if (const char *variable = "LLD_REPRODUCE"; getenv(variable) && !options.isReproduced) {
    options.isReproduced = true;
    options.otherConflict = variable, options.otherReason = reproduceReason;
  }
  return others;
}

std::optional<Refusal> checkLinkOptions(const LinkOptions &options) {
  if (!options.mistyped.empty())
    return Refusal{(options.mistyped + ": unknown option").str(),
                   ("did you mean " + options.meant + "?").str(), exitUsage};
  if (options.badMinMatch)
    return badMinMatch("--min-match", *options.badMinMatch);
  if (auto refusal = checkFrontAlign(options))
    return refusal;
  bool isWithoutFront = options.profile.empty() && !options.profileFolder;
  StringRef given = !isWithoutFront             ? ""
                    : options.traits.prefetches ? "--front-prefetch"
                    : options.frontAlign        ? "--front-align"
                    : !options.report.empty()   ? "--front-report"
                                                : "";
  if (!given.empty())
    return Refusal{(given + ": there is no front without a profile").str(),
                   "add --startup-profile=FILE", exitUsage};
  return std::nullopt;
}

std::optional<Refusal> checkFrontOptions(const LinkOptions &options) {
  if (options.lld && !options.otherConflict.empty())
    return Refusal{"--lld: cannot be combined with " + options.otherConflict + ": " +
                       options.otherReason,
                   "use one of the two", exitUsage};
  if (!options.conflict.empty())
    return Refusal{"--startup-profile: cannot be combined with " + options.conflict + ": " +
                       options.reason,
                   "use one of the two", exitUsage};
  return std::nullopt;
}

} // namespace frontload
