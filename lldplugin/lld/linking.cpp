//===- linking.cpp - links with a front, or without one --------------------===//

#include "lld/linking.h"
#include "lld/Common/Driver.h"
#include "lld/front_align.h"
#include "lld/front_output.h"
#include "lld/hook_calls.h"
#include "lld/lld_hooks.h"
#include "lld/packed_relocations.h"
#include "lld/prefetch_library.h"
#include "lld/reading_link.h"
#include "lld/reproduce.h"
#include "lld/written_files.h"
#include "other_lld/child_process.h"
#include "plan/front_report.h"
#include "plan/front_weighing.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

LLD_HAS_DRIVER(elf)

namespace frontload {

/// The first lld with -z pack-relative-relocs.
static constexpr unsigned firstLldThatPacks = 15;

/// Runs lld on `args`, the first of which is the program's name. Returns whether it succeeded.
static bool runLld(ArrayRef<const char *> args, raw_ostream &output = outs()) {
  return lld::elf::link(args, output, errs(), /*exitEarly=*/true, /*disableOutput=*/false);
}

int linkAsIs(ArrayRef<const char *> args) { return !runLld(args); }

int becomeOther(const LldProgram &program, ArrayRef<const char *> args) {
  std::vector<std::string> own(args.begin() + 1, args.end());
  error(toString(becomeProgram({program.path, program.flavor, own})), "link without --lld");
  return exitUsage;
}

/// Has the other linker link the inputs that the built-in lld has read.
static int linkPlanned(const LinkOptions &options, const LinkInputs &inputs, FrontLink &link) {
  std::string linked;
  if (int code = linkByOther(options.other, inputs, link, stagedFiles(), linked))
    return code;
  std::optional<Front> front;
  int code = tellMatches(link, options.minMatch);
  if (code == EXIT_SUCCESS)
    code = finishOutputFile(linked, options, link, front);
  return code ? code : publishLink(options, link, front, Weighing(), stagedFiles());
}

/// Weighs the front. Returns whether it is not worth having, and says so; never with
/// --front-always, or if the link cannot be done again because lld has shown text.
static bool isWorse(MutableArrayRef<char> bytes, const LinkOptions &options, const FrontLink &link,
                    const Front &front, Weighing &weighing) {
  auto weighed = weighFront({bytes.data(), bytes.size()}, front, link);
  if (!weighed) // nothing that could be started: the file was checked
    return consumeError(weighed.takeError()), false;
  weighing = std::move(*weighed);
  const WeighedStart *worst = weighing.worst();
  if (!worst || options.choice == LinkOptions::FrontChoice::Always || hasShownText())
    return false;
  note(options.output + ": linked without a front: " + describe(*worst) +
       " (--front-always keeps it)");
  return true;
}

int linkWithoutFront(ArrayRef<const char *> args, const LinkOptions &options) {
  LinkRun run({.listed = options.profile});
  installHooks(run);
  holdWrittenFiles(args, options.output,
                   [](MutableArrayRef<char>, bool, function_ref<void()>) { return EXIT_SUCCESS; });
  if (!runLld(args))
    return exitVerdict;
  return publish(stagedFiles());
}

/// Starts the link again, without a front. Returns only if that fails.
static int linkAgainWithoutFront(ArrayRef<const char *> args, const LinkOptions &options,
                                 const FrontLink &link, const Weighing &weighing) {
  StagedFiles files;
  if (int code = publishLink(options, link, std::nullopt, weighing, files))
    return code;
  std::string self = sys::fs::getMainExecutable(args[0], reinterpret_cast<void *>(&linkAsIs));
  std::vector<std::string> own(args.begin() + 1, args.end());
  own.insert(own.end(), {"--startup-profile=" + options.profile, "--front-never"});
  error(toString(becomeProgram({self, {}, own})), "link without --startup-profile");
  return exitUsage;
}

int linkWithFront(ArrayRef<const char *> args, LinkOptions &options) {
  std::optional<Refusal> refusal =
      checkReportPath(options.report, {options.output, options.profile});
  if (refusal)
    return refuse(*refusal);
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
  options.traits.packsRelocations =
      !(isOther && program.version < firstLldThatPacks) && shouldPackRelativeRelocations(args);

  ReadingLink reading(options.profile, options.traits);
  std::vector<const char *> lldArgs = args.vec();
  if (options.traits.packsRelocations)
    lldArgs.insert(lldArgs.end(), {"-z", "pack-relative-relocs"});
  std::vector<std::string> added; // lld keeps references
  if (options.traits.prefetches) {
    Expected<std::vector<std::string>> found = prefetchArguments(args, options.prefetchesInside);
    if (!found) {
      error("--front-prefetch: " + toString(found.takeError()),
            "link without --front-prefetch, and start the program with frontload-run");
      return exitUsage;
    }
    added = std::move(*found);
    for (const std::string &argument : added)
      lldArgs.push_back(argument.c_str());
  }
  if (options.isReproduced && (refusal = prepareReplay(options, lldArgs)))
    return refuse(*refusal);
  // Together with this option, the front's script makes a linear file.
  lldArgs.insert(lldArgs.end(), {"-z", "separate-loadable-segments"});
  std::string imageBase = frontAlignArgument(options);
  if (!imageBase.empty())
    lldArgs.push_back(imageBase.c_str());
  if (isOther) {
    // The other lld would sort the front again, by the call graph of a steady state.
    lldArgs.push_back("--no-call-graph-profile-sort");
    options.other.args.assign(lldArgs.begin() + 1, lldArgs.end());
    LinkRun run({.awaitLink = [&]() -> FrontLink & { return reading.await(); },
                 .minMatch = options.minMatch,
                 .instead =
                     [&](const LinkInputs &inputs) {
                       return linkPlanned(options, inputs, reading.await());
                     }});
    installHooks(run);
    // The other lld prints all warnings.
    lldArgs.insert(lldArgs.end(), {"--no-warnings", "--no-fatal-warnings"});
    if (!runLld(lldArgs, nulls()))
      return exitVerdict;
    reading.await();
    return becomeOther(program, args);
  }
  LinkRun run({.awaitLink = [&]() -> FrontLink & { return reading.await(); },
               .minMatch = options.minMatch,
               .listed = options.profile});
  installHooks(run);
  std::optional<Front> front;
  Weighing weighing;
  holdWrittenFiles(lldArgs, options.output,
                   [&](MutableArrayRef<char> bytes, bool isFile, function_ref<void()> discard) {
                     FrontLink &link = reading.await();
                     hookCalls.requireForOutput(link, {bytes.data(), bytes.size()});
                     if (!isFile)
                       return EXIT_SUCCESS;
                     if (int code = finishOutput(bytes, options, link, front))
                       return code;
                     if (!front || !isWorse(bytes, options, link, *front, weighing))
                       return EXIT_SUCCESS;
                     discard();
                     return linkAgainWithoutFront(args, options, link, weighing);
                   });
  if (!runLld(lldArgs)) {
    if (reading.awaited())
      reading.awaited()->awaitPlanner(); // its data is about to go
    return exitVerdict;
  }
  FrontLink &link = reading.await();
  if (link.isFinished() != hasFinishedOutput())
    hookCalls.endWithout(Hook::CreateOutput);
  if (!link.isFinished()) // no link: --version, --thinlto-index-only
    options.report.clear();
  return publishLink(options, link, front, weighing, stagedFiles());
}

} // namespace frontload
