//===- linking.cpp - links with a front, or without one --------------------===//

#include "lld/linking.h"
#include "lld/Common/Driver.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/added_arguments.h"
#include "lld/held_output.h"
#include "lld/hook_calls.h"
#include "lld/link_run.h"
#include "other_lld/child_process.h"
#include "plan/front_estimate.h"
#include "plan/front_note.h"
#include "plan/front_report.h"
#include "plan/linear_segments.h"
#include "plan/output_check.h"
#include "profile/profile_file.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <future>
#include <variant>

using namespace llvm;

LLD_HAS_DRIVER(elf)

namespace frontload {

/// The first lld with -z pack-relative-relocs.
static constexpr unsigned firstLldThatPacks = 15;

namespace {
/// A link whose profile another thread reads: a hundredth of a large link, while lld opens its
/// inputs in one thread and needs no front yet.
class ReadingLink {
public:
  ReadingLink(const std::string &path, const LinkTraits &traits)
      : reading(std::async(std::launch::async, [path, traits]() -> Read {
          StartupProfile profile;
          if (std::optional<Refusal> refusal = readProfile(path, profile))
            return *refusal;
          // Not freed: lld refers to it until the process ends.
          return new FrontLink(std::move(profile), path, traits);
        })) {}

  /// The link. If the profile cannot be read, reports why and ends the process.
  FrontLink &await() {
    if (reading.valid()) {
      Read read = reading.get();
      if (const auto *refusal = std::get_if<Refusal>(&read))
        lld::exitLld(refuse(*refusal));
      link = std::get<FrontLink *>(read);
    }
    return *link;
  }
  /// The link, if await() has returned it, else null.
  FrontLink *awaited() const { return link; }

private:
  using Read = std::variant<Refusal, FrontLink *>;
  std::future<Read> reading;
  FrontLink *link = nullptr;
};
} // namespace

/// Whether `path` is or will be a regular file, which can be checked and get its note, or is
/// /dev/null, where configure scripts link to.
static bool isFileOrNull(StringRef path) {
  if (path == "-")
    return false;
  sys::fs::file_status status;
  return sys::fs::status(path, status) || status.type() == sys::fs::file_type::regular_file ||
         path == "/dev/null";
}

/// Checks the output in `bytes` before it takes its place, finds its front, and fills in the note.
/// Returns the exit code.
static int finishOutput(MutableArrayRef<char> bytes, const LinkOptions &options, FrontLink &link,
                        std::optional<Front> &front) {
  StringRef contents(bytes.data(), bytes.size());
  if (!contents.starts_with(ELF::ElfMagic)) // --oformat binary
    return EXIT_SUCCESS;
  OutputFacts facts;
  facts.checksEnd = !options.definesEnd && !link.definesEnd();
  std::vector<std::string> unwanted = link.outputsBehind().all();
  facts.unwanted = unwanted;
  facts.wantedBytes = link.account().wantedBytes();
  std::vector<ExpectedPart> parts = link.account().expectedParts();
  facts.parts = parts;
  Expected<Front> checked = checkOutput(contents, facts, link.hotStrings());
  if (!checked) {
    error(options.output + ": " + toString(checked.takeError()),
          "please report this; link without --startup-profile until it is fixed");
    return exitVerdict;
  }
  front = *checked;
  link.account().finishStrings();
  if (front->isMostlyUnnamed())
    warning(options.output + ": " + Twine(front->unnamed) + " of the " + Twine(front->read()) +
            " bytes that are read with the front are in sections that neither the profile nor "
            "anything that it names leads to");
  completeSegments(bytes);
  fillNote(bytes, front->ranges, options.keepsBuildId);
  return EXIT_SUCCESS;
}

/// The file at `path`, to be written.
static ErrorOr<std::unique_ptr<WriteThroughMemoryBuffer>> openToWrite(const std::string &path) {
  auto output = WriteThroughMemoryBuffer::getFile(path);
  if (output.getError() == std::errc::permission_denied) {
    // A umask may take the right to write from the linker's own output.
    auto before = sys::fs::getPermissions(path);
    if (before && !sys::fs::setPermissions(path, *before | sys::fs::owner_write)) {
      output = WriteThroughMemoryBuffer::getFile(path);
      sys::fs::setPermissions(path, *before);
    }
  }
  return output;
}

/// The same for the file at `path`, if it is a regular file.
static int finishOutputFile(const std::string &path, const LinkOptions &options, FrontLink &link,
                            std::optional<Front> &front) {
  if (!sys::fs::is_regular_file(path)) // /dev/null
    return EXIT_SUCCESS;
  auto output = openToWrite(path);
  if (!output) {
    error(options.output + ": " + output.getError().message(),
          "the note of its front cannot be written");
    return exitUsage;
  }
  return finishOutput((*output)->getBuffer(), options, link, front);
}

/// Puts all files of a link in their places. Returns the exit code; after a failure all files are
/// as they were.
static int publish() {
  if (Error e = stagedFiles().publish()) {
    error(toString(std::move(e)), "nothing can be put there; link to another place");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

/// Writes the report, if one is wanted, to wait with the other files. Returns the exit code.
static int stageReport(const LinkOptions &options, const FrontLink &link,
                       std::optional<Front> front, ArrayRef<EstimatedStart> starts) {
  if (options.report.empty())
    return EXIT_SUCCESS;
  if (Error e = writeFrontReport(stagedFiles().stage(options.report), options.output, link, front,
                                 starts)) {
    error(options.report + ": " + toString(std::move(e)), "write the report to another place");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

/// Does both.
static int publishLink(const LinkOptions &options, const FrontLink &link,
                       std::optional<Front> front, ArrayRef<EstimatedStart> starts) {
  int code = stageReport(options, link, front, starts);
  return code ? code : publish();
}

/// Runs lld on `args`, the first of which is the program's name. Returns whether it succeeded.
static bool runLld(ArrayRef<const char *> args, raw_ostream &output = outs()) {
  return lld::elf::link(args, output, errs(), /*exitEarly=*/true, /*disableOutput=*/false);
}

/// Becomes the other linker, for a link that has no front. Returns the exit code of a failure.
static int becomeOther(const LldProgram &program, ArrayRef<const char *> args) {
  std::vector<std::string> own(args.begin() + 1, args.end());
  error(toString(becomeProgram({program.path, program.flavor, own})), "link without --lld");
  return exitUsage;
}

/// Links with lld alone, but for the profile, which is an input. Returns the exit code.
static int linkWithoutFront(ArrayRef<const char *> args, const LinkOptions &options) {
  LinkRun run({.listed = options.profile});
  installHooks(run);
  holdOutput(options.output, [](MutableArrayRef<char>, bool) { return EXIT_SUCCESS; });
  return runLld(args) ? publish() : exitVerdict;
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

/// Has another lld link with a front: the built-in one only reads the inputs. `lldArgs` are `args`
/// with those that a front adds.
static int linkPlanned(ArrayRef<const char *> args, std::vector<const char *> lldArgs,
                       LinkOptions &options, ReadingLink &reading) {
  auto linkInstead = [&](const LinkInputs &inputs) {
    FrontLink &link = reading.await();
    std::string linked;
    if (int code = linkByOther(options.other, inputs, link, stagedFiles(), linked))
      return code;
    std::optional<Front> front;
    int code = tellMatches(link, options.minMatch);
    if (code == EXIT_SUCCESS)
      code = finishOutputFile(linked, options, link, front);
    return code ? code : publishLink(options, link, front, {});
  };
  options.other.args.assign(lldArgs.begin() + 1, lldArgs.end());
  LinkRun run({.awaitLink = [&]() -> FrontLink & { return reading.await(); },
               .minMatch = options.minMatch,
               .instead = linkInstead});
  installHooks(run);
  // The other lld prints all warnings.
  lldArgs.insert(lldArgs.end(), {"--no-warnings", "--no-fatal-warnings"});
  if (!runLld(lldArgs, nulls()))
    return exitVerdict;
  reading.await();
  return becomeOther(options.other.program, args); // no link: --version
}

/// Links with a front, by lld's `args`. Returns the exit code.
static int linkWithFront(ArrayRef<const char *> args, LinkOptions &options) {
  if (auto refusal = checkReportPath(options.report, {options.output, options.profile}))
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
      !(isOther && program.version < firstLldThatPacks) && shouldPackRelativeRelocations(options);
  Expected<std::vector<std::string>> added = addedArguments(options);
  if (!added) {
    error("--front-prefetch: " + toString(added.takeError()),
          "link without --front-prefetch, and start the program with frontload-run");
    return exitUsage;
  }
  std::vector<const char *> lldArgs = args.vec();
  for (const std::string &argument : *added)
    lldArgs.push_back(argument.c_str());

  ReadingLink reading(options.profile, options.traits);
  if (isOther)
    return linkPlanned(args, lldArgs, options, reading);
  std::vector<EstimatedStart> starts;
  LinkRun run({.awaitLink = [&]() -> FrontLink & { return reading.await(); },
               .minMatch = options.minMatch,
               .placed =
                   [&](const FrontLink &link, bool isBetter) {
                     if (!isBetter)
                       starts = estimateStarts(link);
                     stepAside(args, options, link, starts);
                   },
               .listed = options.profile});
  installHooks(run);
  std::optional<Front> front;
  holdOutput(options.output, [&](MutableArrayRef<char> bytes, bool isFile) {
    FrontLink &link = reading.await();
    calls::processSectionCommands.require(); // the hook itself requires those before it
    return isFile ? finishOutput(bytes, options, link, front) : EXIT_SUCCESS;
  });
  if (!runLld(lldArgs)) {
    if (reading.awaited())
      reading.awaited()->awaitPlanner(); // its data is about to go
    return exitVerdict;
  }
  FrontLink &link = reading.await();
  if (link.account().isFinished() != hasFinishedOutput())
    calls::createOutput.endLink();
  if (!link.account().isFinished()) // no link: --version, --thinlto-index-only
    options.report.clear();
  return publishLink(options, link, front, starts);
}

int linkByOptions(ArrayRef<const char *> args, ArrayRef<const char *> others,
                  LinkOptions &options) {
  using enum LinkOptions::FrontChoice;
  if (options.profileFolder && options.profile.empty() && !options.kind.isRelocatable)
    if (auto refusal = findProfile(*options.profileFolder, options.output, options.profile))
      return refuse(*refusal);
  if (std::optional<Refusal> refusal = checkLinkOptions(options))
    return refuse(*refusal);
  // Build systems pass the same flags to every link: objects have no front.
  if (options.profile.empty() || options.kind.isRelocatable ||
      (options.choice == Never && options.lld)) {
    if (options.lld)
      return becomeOther(options.other.program, others);
    bool isPlain = options.profile.empty() && !options.profileFolder && options.choice == IfWorth;
    return !runLld(isPlain ? args : others);
  }
  if (std::optional<Refusal> refusal = checkFrontOptions(options))
    return refuse(*refusal);
  return options.choice == Never ? linkWithoutFront(others, options)
                                 : linkWithFront(others, options);
}

} // namespace frontload
