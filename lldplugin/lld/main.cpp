//===- main.cpp - ld.frontload, an lld that lays out a front ---------------===//
//
// Accepts every argument of ld.lld, and a few more. Without these it is ld.lld, to the byte; with a
// profile, a few options that decide the layout themselves are refused.
//
//===----------------------------------------------------------------------===//

#include "lld/Common/Driver.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/lld_hooks.h"
#include "lld/own_help.h"
#include "lld/packed_relocations.h"
#include "lld/prefetch_library.h"
#include "other_lld/child_process.h"
#include "other_lld/other_lld.h"
#include "plan/front_link.h"
#include "plan/front_note.h"
#include "plan/front_report.h"
#include "plan/output_check.h"
#include "profile/profile_file.h"
#include "profile/profile_folder.h"
#include "program/command_line.h"
#include "program/diagnostics.h"
#include "program/layout_options.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include <optional>

using namespace llvm;
using namespace frontload;

LLD_HAS_DRIVER(elf)

/// Runs lld on `args`, the first of which is the program's name. Returns whether it succeeded.
static bool runLld(ArrayRef<const char *> args, raw_ostream &output = outs()) {
  return lld::elf::link(args, output, errs(), /*exitEarly=*/true, /*disableOutput=*/false);
}

namespace {
/// What the command line says about the front.
struct Options {
  std::string profile;
  /// Where there may be one for this output; a link for which there is none is lld's.
  std::optional<std::string> profileFolder;
  std::string report;
  double minMatch = defaultMinMatch;
  std::optional<std::string> badMinMatch; ///< what was given and is none
  StringRef mistyped, meant;              ///< an option, and the one of ours that it is near to
  std::string output = "a.out";
  /// An option that cannot be had together with a front, and why.
  std::string conflict, reason;
  bool isRelocatable = false;
  bool wantsPrefetch = false;
  LinkTraits traits;
  bool definesEnd = false;
  bool isHelp = false;
  /// The linker that links in place of the built-in one; what it has to know; an option that cannot
  /// be had together with it, and why.
  std::optional<std::string> lld;
  OtherLink other;
  std::string otherConflict, otherReason;
};
} // namespace

/// The first lld with -z pack-relative-relocs.
static constexpr unsigned firstLldThatPacks = 15;

/// Reads what another linker has to know of `arg`, which is number `i` of lld's `args`.
static void parseForOther(ArrayRef<const char *> args, size_t i, Options &options) {
  StringRef arg = args[i], name = arg.ltrim('-').take_until([](char c) { return c == '='; });
  OtherLink &other = options.other;
  if (arg.starts_with("-") && is_contained({"reproduce", "fat-lto-objects"}, name)) {
    options.otherConflict = arg;
    options.otherReason = name == "reproduce" ? "its files would have other names of sections"
                                              : "its objects are made during the link";
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

/// The option of ours that a mistyped one is near to, if any is; lld has none that are so near.
static StringRef nearestOwn(StringRef arg) {
  StringRef name = arg.take_until([](char c) { return c == '='; });
  for (StringRef own : {"--startup-profile", "--startup-profile-dir", "--front-prefetch",
                        "--front-report", "--min-match"})
    if (name.starts_with("--") && name.edit_distance(own) <= 2)
      return own;
  return {};
}

/// Reads our options out of `args` and returns the others, which are lld's.
static std::vector<const char *> parseOptions(ArrayRef<const char *> args, Options &options) {
  std::vector<const char *> others;
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
    StringRef arg = args[i];
    // With one dash it is a library whose name begins with "ld".
    if (arg.starts_with("--") && takeOption(args, i, "lld", value)) {
      options.lld = value;
      continue;
    }
    if (arg == "--front-prefetch" || arg == "-front-prefetch") {
      options.wantsPrefetch = true;
      continue;
    }
    if (StringRef own = nearestOwn(arg); !own.empty())
      options.mistyped = arg, options.meant = own;
    others.push_back(args[i]);
    parseForOther(args, i, options);
    size_t next = i;
    if (takeOption(args, next, "output", options.output))
      continue;
    if (std::optional<LayoutOption> conflict = layoutOption(args, i)) {
      options.conflict = conflict->option, options.reason = conflict->reason;
    } else if (arg == "-r" || arg == "--relocatable" || arg == "-relocatable") {
      options.isRelocatable = true;
    } else if (is_contained({"-pie", "--pie", "-shared", "--shared", "-Bshareable"}, arg)) {
      options.traits.isRelocated = true;
    } else if (takeOption(args, next, "icf", value)) {
      options.traits.foldsCode = value != "none";
    } else if (takeLetter(args, next, "-O", value)) {
      if (unsigned level; !StringRef(value).getAsInteger(10, level))
        options.traits.mergesStrings = level == 1;
    } else if (arg == "--help" || arg == "-help") {
      options.isHelp = true;
    } else if (takeOption(args, next, "defsym", value)) {
      options.definesEnd |= StringRef(value).ltrim('_').starts_with("end=");
    } else if (arg == "-o" && i + 1 < args.size()) {
      options.output = args[i + 1];
    } else if (arg.starts_with("-o") && arg.size() > 2) {
      options.output = arg.substr(2).str();
    }
  }
  return others;
}

/// Whether `path` is or will be a regular file, which can be checked and get its note, or is
/// /dev/null, where configure scripts link to.
static bool isFileOrNull(StringRef path) {
  if (path == "-")
    return false;
  sys::fs::file_status status;
  return sys::fs::status(path, status) || status.type() == sys::fs::file_type::regular_file ||
         path == "/dev/null";
}

/// Checks the output in `path`, whose front it finds, and notes the front in it. Returns the exit
/// code; a bad output does not stay.
static int finishOutput(const std::string &path, const Options &options, FrontLink &link,
                        std::optional<Front> &front) {
  auto output = sys::fs::is_regular_file(path)
                    ? MemoryBuffer::getFile(path, false, false)
                    : make_error_code(std::errc::no_such_file_or_directory);
  // It is not one with -o /dev/null and --oformat binary.
  if (!output || !(*output)->getBuffer().starts_with(ELF::ElfMagic))
    return EXIT_SUCCESS;
  Expected<Front> checked = checkOutput(
      (*output)->getBuffer(), !options.definesEnd && !link.definesEnd(), link.hotStrings());
  if (!checked) {
    error(options.output + ": " + toString(checked.takeError()),
          "please report this; link without --startup-profile until it is mended");
    sys::fs::remove(path);
    return exitVerdict;
  }
  front = *checked;
  link.finishStrings();
  if (std::error_code e = fillNote(path, front->endAddress)) {
    error(options.output + ": " + e.message(), "its front cannot be noted in it");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

/// Writes the report, if one is wanted. Returns the exit code.
static int report(const Options &options, const FrontLink &link, std::optional<Front> front) {
  if (options.report.empty())
    return EXIT_SUCCESS;
  if (Error e = writeFrontReport(options.report, options.output, link, front)) {
    error(options.report + ": " + toString(std::move(e)), "the program itself is linked");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

/// Becomes the other linker, for a link that has no front.
static int becomeOther(const LldProgram &program, ArrayRef<const char *> args) {
  std::vector<std::string> own(args.begin() + 1, args.end());
  error(toString(becomeProgram({program.path, program.flavor, own})), "link without --lld");
  return exitUsage;
}

/// Links by the other linker what the built-in one has read.
static int linkPlanned(const Options &options, const LinkInputs &inputs, FrontLink &link) {
  std::string linked;
  if (int code = linkByOther(options.other, inputs, link, linked))
    return code;
  std::optional<Front> front;
  int code = tellMatches(link, options.minMatch);
  if (linked.empty()) // to /dev/null
    return code ? code : report(options, link, front);
  if (code == EXIT_SUCCESS)
    code = finishOutput(linked, options, link, front);
  if (code == EXIT_SUCCESS)
    if (std::error_code e = sys::fs::rename(linked, options.output)) {
      error(options.output + ": " + e.message(), "the output cannot be put in its place");
      code = exitUsage;
    }
  if (code != EXIT_SUCCESS) {
    sys::fs::remove(linked);
    return code;
  }
  return report(options, link, front);
}

/// Links with a front. Returns the exit code.
static int linkWithFront(ArrayRef<const char *> args, Options &options) {
  StartupProfile profile;
  std::optional<Refusal> refusal = readProfile(options.profile, profile);
  if (!refusal)
    refusal = checkReportPath(options.report, {options.output, options.profile});
  if (refusal) {
    error(refusal->message, refusal->note);
    return refusal->exitCode;
  }
  if (!isFileOrNull(options.output)) {
    error(options.output + ": a front can only be laid out in a file",
          "link to a file and copy it, or link without --startup-profile");
    return exitUsage;
  }
  bool isOther = options.lld.has_value();
  LldProgram &program = options.other.program;
  if (isOther) {
    options.traits.selection = Selection::ByMark;
    options.traits.mergesStrings &= program.hash != nullptr;
    options.other.needsMap |= !options.report.empty();
    options.other.output = options.output;
  }

  // lld frees nothing before the process ends, and neither does this: the link refers to it.
  auto &link = *new FrontLink(std::move(profile), options.profile, options.traits);
  std::vector<const char *> lldArgs = args.vec();
  // lld would sort the front again, by what calls what in a steady state.
  lldArgs.push_back("--no-call-graph-profile-sort");
  if (!(isOther && program.version < firstLldThatPacks) && shouldPackRelativeRelocations(args))
    lldArgs.insert(lldArgs.end(), {"-z", "pack-relative-relocs"});
  std::vector<std::string> added; // lld keeps references
  if (options.wantsPrefetch) {
    Expected<std::vector<std::string>> found = prefetchArguments(args);
    if (!found) {
      error("--front-prefetch: " + toString(found.takeError()),
            "link without --front-prefetch, and start the program with frontload-run");
      return exitUsage;
    }
    added = std::move(*found);
    for (const std::string &argument : added)
      lldArgs.push_back(argument.c_str());
  }
  if (isOther) {
    options.other.args.assign(lldArgs.begin() + 1, lldArgs.end());
    installHooks(link, options.minMatch,
                 [&](const LinkInputs &inputs) { return linkPlanned(options, inputs, link); });
    // The other one says all that there is to say.
    lldArgs.insert(lldArgs.end(), {"--no-warnings", "--no-fatal-warnings"});
    return runLld(lldArgs, nulls()) ? becomeOther(program, args) : exitVerdict;
  }
  installHooks(link, options.minMatch);
  if (!runLld(lldArgs))
    return exitVerdict;
  if (!link.isFinished())
    return EXIT_SUCCESS; // no link: --version, --thinlto-index-only

  std::optional<Front> front;
  if (int code = finishOutput(options.output, options, link, front))
    return code;
  return report(options, link, front);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  // A compiler driver may pass everything in a response file, ours included.
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *, 0> expanded(argv, argv + argc);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, expanded);
  Options options;
  std::vector<const char *> others = parseOptions(expanded, options);

  if (options.isHelp)
    outs() << ownHelp;

  int code;
  if (options.lld) {
    std::optional<LldProgram> program = findLld(*options.lld);
    if (!program)
      lld::exitLld(exitUsage);
    options.other.program = std::move(*program);
  }
  std::optional<Refusal> refusal;
  if (options.profileFolder && options.profile.empty() && !options.isRelocatable)
    refusal = findProfile(*options.profileFolder, options.output, options.profile);
  if (refusal) {
    error(refusal->message, refusal->note);
    code = refusal->exitCode;
  } else if (!options.mistyped.empty()) {
    error(options.mistyped + ": unknown option", "did you mean " + options.meant + "?");
    code = exitUsage;
  } else if (options.badMinMatch) {
    error("--min-match: '" + *options.badMinMatch + "' is no number from 0 to 100",
          "it is the least share of names to be found, in percent");
    code = exitUsage;
  } else if (options.profile.empty() && !options.profileFolder) {
    if (!options.report.empty() || options.wantsPrefetch) {
      error(Twine(options.wantsPrefetch ? "--front-prefetch" : "--front-report") +
                ": there is no front without a profile",
            "add --startup-profile=FILE");
      lld::exitLld(exitUsage);
    }
    code = options.lld ? becomeOther(options.other.program, others)
                       : !runLld(ArrayRef<const char *>(const_cast<const char **>(argv), argc));
  } else if (options.profile.empty() || options.isRelocatable) {
    // Build systems pass the same flags to every link; there is nothing to lay out in this one.
    code = options.lld ? becomeOther(options.other.program, others) : !runLld(others);
  } else if (options.lld && !options.otherConflict.empty()) {
    error("--lld: cannot be combined with " + options.otherConflict + ": " + options.otherReason,
          "use one of the two");
    code = exitUsage;
  } else if (!options.conflict.empty()) {
    error("--startup-profile: cannot be combined with " + options.conflict + ": " + options.reason,
          "use one of the two");
    code = exitUsage;
  } else {
    code = linkWithFront(others, options);
  }
  // As lld does: leaves without freeing what the system frees faster.
  lld::exitLld(code);
}
