// ld.frontload, an lld that lays out a front.
//
// Accepts every argument of ld.lld, and a few more. Without these its output is ld.lld's, to the
// byte. With a profile, it refuses a few options that decide the layout themselves.
#include "lld/Common/Driver.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/added_arguments.h"
#include "lld/held_output.h"
#include "lld/hook_calls.h"
#include "lld/link_options.h"
#include "lld/link_run.h"
#include "lld/own_help.h"
#include "plan/front_estimate.h"
#include "plan/front_note.h"
#include "plan/front_report.h"
#include "plan/linear_segments.h"
#include "plan/output_check.h"
#include "profile/general_profile.h"
#include "profile/profile_file.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/StringSaver.h"
#include <future>
#include <variant>

using namespace llvm;
using namespace frontload;

LLD_HAS_DRIVER(elf)

const StringLiteral frontload::programName = "ld.frontload";

/// A link with the profile at `path`, or why that cannot be read.
static std::variant<Refusal, FrontLink *> readLink(const std::string &path,
                                                   const LinkTraits &traits) {
  StartupProfile profile;
  if (traits.isUntrained)
    profile = cantFail(parseStartupProfile(path, generalProfile));
  else if (std::optional<Refusal> refusal = readProfile(path, profile))
    return *refusal;
  // Not freed: lld refers to it until the process ends.
  return new FrontLink(std::move(profile), path, traits);
}

/// Checks the output in `bytes` before it takes its place, finds its front, and fills in the note,
/// which has at most `maxTail` bytes of the tail. Returns the exit code.
static int finishOutput(MutableArrayRef<char> bytes, const LinkOptions &options, FrontLink &link,
                        uint64_t maxTail, std::optional<Front> &front) {
  StringRef contents(bytes.data(), bytes.size());
  if (!contents.starts_with(ELF::ElfMagic)) // --oformat binary
    return EXIT_SUCCESS;
  std::vector<std::string> unwanted = link.outputsBehind().all();
  std::vector<ExpectedPart> parts = link.account().expectedParts();
  Expected<Front> checked =
      checkOutput(contents, {unwanted, link.account().wantedBytes(), link.account().tail(), parts},
                  link.hotStrings());
  if (!checked)
    return refuse({options.output + ": " + toString(checked.takeError()),
                   "please report this; link without --startup-profile until it is fixed",
                   exitVerdict});
  front = *checked;
  front->limitTail(maxTail);
  link.account().finishStrings();
  if (front->isMostlyUnnamed())
    warning(options.output + ": " + Twine(front->unnamed) + " of the " + Twine(front->read()) +
            " bytes that are read with the front are in sections that neither the profile nor "
            "anything that it names leads to");
  completeSegments(bytes);
  fillNote(bytes, front->ranges, front->tail, options.keepsBuildId);
  return EXIT_SUCCESS;
}

/// Puts all files of a link in their places. Returns the exit code; after a failure all files are
/// as they were.
static int publish() {
  if (Error e = stagedFiles().publish())
    return refuse(
        {toString(std::move(e)), "nothing can be put there; link to another place", exitUsage});
  return EXIT_SUCCESS;
}

/// Writes the report, if one is wanted, to wait with the other files. Returns the exit code.
static int stageReport(const LinkOptions &options, const FrontLink &link,
                       std::optional<Front> front, ArrayRef<EstimatedStart> starts) {
  if (options.report.empty())
    return EXIT_SUCCESS;
  if (Error e = writeFrontReport(stagedFiles().stage(options.report), options.output, link, front,
                                 starts))
    return refuse({options.report + ": " + toString(std::move(e)),
                   "write the report to another place", exitUsage});
  return EXIT_SUCCESS;
}

/// Runs lld on `args`, the first of which is the program's name. Returns whether it succeeded.
static bool runLld(ArrayRef<const char *> args) {
  return lld::elf::link(args, outs(), errs(), /*exitEarly=*/true, /*disableOutput=*/false);
}

/// Links with lld alone, but for the profile, which is an input. Returns the exit code.
static int linkWithoutFront(ArrayRef<const char *> args, const LinkOptions &options) {
  LinkRun run({.listed = options.profile});
  installHooks(run);
  holdOutput(options.output, [](MutableArrayRef<char>, bool) { return EXIT_SUCCESS; });
  return runLld(args) ? publish() : exitVerdict;
}

/// Links without a front where --front=auto cannot make one, and says why. Returns the exit code.
static int linkAsAsked(ArrayRef<const char *> args, const LinkOptions &options,
                       const Twine &reason) {
  note(options.output + ": linked without a front: " + reason);
  return linkWithoutFront(args, options);
}

/// Links again without a front, and ends the process, if a start is worse with one, unless
/// --front-always says that it stays. Nothing is written yet.
static void stepAside(ArrayRef<const char *> args, const LinkOptions &options,
                      const FrontLink &link, ArrayRef<EstimatedStart> starts) {
  const EstimatedStart *worst = worstOf(starts);
  if (!worst || options.choice == LinkOptions::FrontChoice::Always)
    return;
  note(options.output + ": linked without a front: " + worst->describe() +
       " (--front-always keeps it)");
  stagedFiles().discard();
  int code = stageReport(options, link, std::nullopt, starts);
  lld::exitLld(code ? code : linkWithoutFront(args, options));
}

/// Links with a front, by lld's `args`. Returns the exit code.
static int linkWithFront(ArrayRef<const char *> args, LinkOptions &options) {
  if (auto refusal = checkReportPath(options.report, {options.output, options.profile}))
    return refuse(*refusal);
  // Only a file can be checked and get its note. Configure scripts link to /dev/null.
  const bool makesOne = options.output != "-" && makesFile(options.output);
  if (!makesOne && options.traits.isUntrained)
    return linkAsAsked(args, options, "the output is no file");
  if (!makesOne && options.output != "/dev/null")
    return refuse({options.output + ": a front can only be laid out in a file",
                   "link to a file and copy it, or link without --startup-profile", exitUsage});
  options.traits.packsRelocations = shouldPackRelativeRelocations(options);
  if (options.traits.prefetches && isForOtherMachine(options)) {
    note(options.output +
         ": does not prefetch its front: the library for it is for another machine");
    options.traits.prefetches = false;
  }
  Expected<std::vector<std::string>> added = addedArguments(options);
  if (!added)
    return refuse({"--front-prefetch: " + toString(added.takeError()),
                   "link without --front-prefetch, and start the program with frontload-run",
                   exitUsage});
  std::vector<const char *> lldArgs = args.vec();
  for (const std::string &argument : *added)
    lldArgs.push_back(argument.c_str());

  // A hundredth of a large link, while lld opens its inputs in one thread and needs no front yet.
  const std::string path = options.traits.isUntrained ? "--front=auto" : options.profile;
  auto reading = std::async(std::launch::async, readLink, path, options.traits).share();
  auto awaitLink = [&]() -> FrontLink & {
    if (const auto *refusal = std::get_if<Refusal>(&reading.get()))
      lld::exitLld(refuse(*refusal));
    return *std::get<FrontLink *>(reading.get());
  };
  std::vector<EstimatedStart> starts;
  uint64_t maxTail = 0;
  LinkRun run({.awaitLink = awaitLink,
               .refuseScript =
                   [&](StringRef script) {
                     if (options.traits.isUntrained)
                       lld::exitLld(linkAsAsked(args, options, script + " decides the layout"));
                   },
               .minMatch = options.minMatch,
               .placed =
                   [&](const FrontLink &link, uint64_t saved) {
                     if (!saved)
                       starts = estimateStarts(link);
                     // A trained start reads no more than without a front, even if it needs nothing
                     // of the tail. A start of a small program may end before the front is read.
                     maxTail = link.linkTraits().isUntrained ? maxAskedTail
                               : saved                       ? std::min(saved, maxAskedTail)
                                                             : bytesSaved(starts) / 2;
                     stepAside(args, options, link, starts);
                   },
               .listed = options.profile});
  installHooks(run);
  std::optional<Front> front;
  holdOutput(options.output, [&](MutableArrayRef<char> bytes, bool isFile) {
    FrontLink &link = awaitLink();
    calls::processSectionCommands.require(); // the hook itself requires those before it
    return isFile ? finishOutput(bytes, options, link, maxTail, front) : EXIT_SUCCESS;
  });
  if (!runLld(lldArgs)) {
    if (run.link())
      run.link()->awaitPlanner(); // its data is about to go
    return exitVerdict;
  }
  FrontLink &link = awaitLink();
  if (link.account().isFinished() != hasFinishedOutput())
    calls::createOutput.endLink();
  if (!link.account().isFinished()) // no link: --version, --thinlto-index-only
    options.report.clear();
  int code = stageReport(options, link, front, starts);
  return code ? code : publish();
}

/// Links by the command line: `args` is all of it, `others` are lld's arguments. Returns the exit
/// code.
static int linkByOptions(ArrayRef<const char *> args, ArrayRef<const char *> others,
                         LinkOptions &options) {
  using enum LinkOptions::FrontChoice;
  if (options.profileFolder && options.profile.empty() && !options.kind.isRelocatable)
    if (auto refusal = findProfile(*options.profileFolder, options.output, options.profile))
      return refuse(*refusal);
  if (std::optional<Refusal> refusal = checkLinkOptions(options))
    return refuse(*refusal);
  // Build systems pass the same flags to every link: objects have no front.
  options.traits.isUntrained = isUntrained(options);
  if ((options.profile.empty() && !options.traits.isUntrained) || options.kind.isRelocatable) {
    bool isPlain = options.profile.empty() && !options.profileFolder && options.choice == IfWorth;
    return !runLld(isPlain ? args : others);
  }
  if (options.conflict && options.traits.isUntrained)
    return linkAsAsked(others, options, options.conflict->option + ": " + options.conflict->reason);
  if (options.conflict)
    return refuse({"--startup-profile: cannot be combined with " + options.conflict->option + ": " +
                       options.conflict->reason,
                   "use one of the two", exitUsage});
  return options.choice == Never ? linkWithoutFront(others, options)
                                 : linkWithFront(others, options);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  // A compiler driver may pass everything in a response file, also our options.
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *, 0> expanded(argv, argv + argc);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, expanded);
  LinkOptions options;
  std::vector<const char *> others = parseLinkOptions(expanded, options);

  if (options.isHelp)
    outs() << ownHelp;
  ArrayRef<const char *> args(const_cast<const char **>(argv), argc);
  // Like lld, exits without freeing memory: the system frees it faster.
  lld::exitLld(linkByOptions(args, others, options));
}
