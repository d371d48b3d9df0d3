//===- main.cpp - ld.frontload, an lld that lays out a front ---------------===//
//
// Accepts every argument of ld.lld, and a few more. Without these it is ld.lld, to the byte; with a
// profile, a few options that decide the layout themselves are refused.
//
//===----------------------------------------------------------------------===//

#include "../diagnostics.h"
#include "../front_files.h"
#include "../front_link.h"
#include "../front_note.h"
#include "../front_report.h"
#include "../output_check.h"
#include "command_line.h"
#include "lld/Common/Driver.h"
#include "lld/Common/ErrorHandler.h"
#include "lld_hooks.h"
#include "packed_relocations.h"
#include "prefetch_library.h"
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
static bool runLld(ArrayRef<const char *> args) {
  return lld::elf::link(args, outs(), errs(), /*exitEarly=*/true, /*disableOutput=*/false);
}

namespace {
/// What the command line says about the front.
struct Options {
  std::string profile;
  std::string report;
  double minMatch = defaultMinMatch;
  std::optional<std::string> badMinMatch; ///< what was given and is none
  std::string output = "a.out";
  /// An option that cannot be had together with a front, and why.
  std::string conflict, reason;
  bool isRelocatable = false;
  bool wantsPrefetch = false;
  LinkTraits traits;
  bool definesEnd = false;
  bool isHelp = false;
};
} // namespace

/// Options of lld that order sections themselves, without their dashes.
static constexpr StringLiteral orderingOptions[] = {"symbol-ordering-file",
                                                    "call-graph-ordering-file", "shuffle-sections",
                                                    "bp-startup-sort", "bp-compression-sort"};

/// Reads our options out of `args` and returns the others, which are lld's.
static std::vector<const char *> parseOptions(ArrayRef<const char *> args, Options &options) {
  std::vector<const char *> others;
  std::string value;
  for (size_t i = 0; i < args.size(); ++i) {
    if (takeOption(args, i, "startup-profile", options.profile) ||
        takeOption(args, i, "front-report", options.report))
      continue;
    if (takeOption(args, i, "min-match", value)) {
      std::optional<double> percent = parseMinMatch(value);
      options.badMinMatch = percent ? std::nullopt : std::optional(value);
      options.minMatch = percent.value_or(defaultMinMatch);
      continue;
    }
    StringRef arg = args[i];
    if (arg == "--front-prefetch" || arg == "-front-prefetch") {
      options.wantsPrefetch = true;
      continue;
    }
    others.push_back(args[i]);
    size_t next = i;
    if (takeOption(args, next, "output", options.output))
      continue;
    StringRef name = arg.ltrim('-').take_until([](char c) { return c == '='; });
    if (arg == "-r" || arg == "--relocatable" || arg == "-relocatable") {
      options.isRelocatable = true;
    } else if (is_contained({"-pie", "--pie", "-shared", "--shared", "-Bshareable"}, arg)) {
      options.traits.isRelocated = true;
    } else if (takeOption(args, next, "icf", value)) {
      options.traits.foldsCode = value != "none";
    } else if (takeLetter(args, next, "-O", value)) {
      if (unsigned level; !StringRef(value).getAsInteger(10, level))
        options.traits.mergesStrings = level == 1;
    } else if (takeLetter(args, next, "-z", value)) {
      if (value == "nosectionheader")
        options.conflict = "-z nosectionheader", options.reason = "nothing else tells the front";
    } else if (arg == "--unique" || arg == "-unique") {
      options.conflict = arg, options.reason = "it puts every section into one of its own";
    } else if (arg == "--help" || arg == "-help") {
      options.isHelp = true;
    } else if (arg == "-N" || arg == "--omagic") {
      options.conflict = arg, options.reason = "it puts everything into one segment";
    } else if (is_contained({"Tbss", "Tdata", "Ttext", "section-start"}, name)) {
      options.conflict = arg, options.reason = "it decides where sections lie in memory";
    } else if (arg.ends_with("sort=none")) {
      // The default: lld does not sort.
    } else if (arg.starts_with("-") && is_contained(orderingOptions, name)) {
      options.conflict = arg, options.reason = "both decide the order of sections";
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

/// Runs lld with a front. Returns the exit code.
static int linkWithFront(ArrayRef<const char *> args, const Options &options) {
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

  // lld frees nothing before the process ends, and neither does this: the link refers to it.
  auto &link = *new FrontLink(std::move(profile), options.profile, options.traits);
  installHooks(link, options.minMatch);
  std::vector<const char *> lldArgs = args.vec();
  // lld would sort the front again, by what calls what in a steady state.
  lldArgs.push_back("--no-call-graph-profile-sort");
  if (shouldPackRelativeRelocations(args))
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
  if (!runLld(lldArgs))
    return exitVerdict;
  if (!link.isFinished())
    return EXIT_SUCCESS; // no link: --version, --thinlto-index-only

  auto output = sys::fs::is_regular_file(options.output)
                    ? MemoryBuffer::getFile(options.output, false, false)
                    : make_error_code(std::errc::no_such_file_or_directory);
  std::optional<Front> front;
  // It is not one with -o /dev/null and --oformat binary.
  if (output && (*output)->getBuffer().starts_with(ELF::ElfMagic)) {
    Expected<Front> checked = checkOutput(
        (*output)->getBuffer(), !options.definesEnd && !link.definesEnd(), link.hotStrings());
    if (!checked) {
      error(options.output + ": " + toString(checked.takeError()),
            "please report this; link without --startup-profile until it is mended");
      sys::fs::remove(options.output);
      return exitVerdict;
    }
    front = *checked;
    link.finishStrings();
    if (std::error_code e = fillNote(options.output, front->endAddress)) {
      error(options.output + ": " + e.message(), "its front cannot be noted in it");
      return exitUsage;
    }
  }
  if (!options.report.empty())
    if (Error e = writeFrontReport(options.report, options.output, link, front)) {
      error(options.report + ": " + toString(std::move(e)), "the program itself is linked");
      return exitUsage;
    }
  return EXIT_SUCCESS;
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
    outs()
        << "ld.frontload: ld.lld that lays out a front\n"
           "  --startup-profile=FILE  place what the profile names in a contiguous front\n"
           "  --front-prefetch        make the program read its front in one go when it starts;\n"
           "                          it then needs libfrontload-prefetch.so.1\n"
           "  --min-match=PERCENT     fail if less of the profile's names are found (default: 80;\n"
           "                          0: never)\n"
           "  --front-report=FILE     write what was placed, and what was not found, as JSON\n"
           "All other options are those of ld.lld:\n\n";

  int code;
  if (options.badMinMatch) {
    error("--min-match: '" + *options.badMinMatch + "' is no number from 0 to 100",
          "it is the least share of names to be found, in percent");
    code = exitUsage;
  } else if (options.profile.empty()) {
    if (!options.report.empty() || options.wantsPrefetch) {
      error(Twine(options.wantsPrefetch ? "--front-prefetch" : "--front-report") +
                ": there is no front without a profile",
            "add --startup-profile=FILE");
      lld::exitLld(exitUsage);
    }
    code = !runLld(ArrayRef<const char *>(const_cast<const char **>(argv), argc));
  } else if (options.isRelocatable) {
    // Build systems pass the same flags to every link; there is nothing to lay out in this one.
    code = !runLld(others);
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
