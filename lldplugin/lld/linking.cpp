//===- linking.cpp - links with a front, or without one --------------------===//

#include "lld/linking.h"
#include "lld/Common/Driver.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/added_arguments.h"
#include "lld/front_output.h"
#include "lld/held_output.h"
#include "lld/hook_calls.h"
#include "lld/lld_hooks.h"
#include "lld/packed_relocations.h"
#include "other_lld/child_process.h"
#include "plan/front_report.h"
#include "plan/front_weighing.h"
#include "profile/profile_file.h"
#include "llvm/Support/FileSystem.h"
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

/// Weighs the front. Returns whether it is not worth having, and says so; never with
/// --front-always.
static bool isWorse(MutableArrayRef<char> bytes, const LinkOptions &options, const FrontLink &link,
                    const Front &front, Weighing &weighing) {
  auto weighed = weighFront({bytes.data(), bytes.size()}, front, link);
  if (!weighed) // nothing that could be started: the file was checked
    return consumeError(weighed.takeError()), false;
  weighing = std::move(*weighed);
  const WeighedStart *worst = weighing.worst();
  if (!worst || options.choice == LinkOptions::FrontChoice::Always)
    return false;
  note(options.output + ": linked without a front: " + describe(*worst) +
       " (--front-always keeps it)");
  return true;
}

int linkWithoutFront(ArrayRef<const char *> args, const LinkOptions &options) {
  LinkRun run({.listed = options.profile});
  installHooks(run);
  return runLld(args) ? EXIT_SUCCESS : exitVerdict;
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
    return code ? code : publishLink(options, link, front, Weighing(), stagedFiles());
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

int linkWithFront(ArrayRef<const char *> args, LinkOptions &options) {
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
  LinkRun run({.awaitLink = [&]() -> FrontLink & { return reading.await(); },
               .minMatch = options.minMatch,
               .listed = options.profile});
  installHooks(run);
  std::optional<Front> front;
  Weighing weighing;
  holdOutput(
      options.output, [&](MutableArrayRef<char> bytes, bool isFile, function_ref<void()> discard) {
        FrontLink &link = reading.await();
        hookCalls.require(Hook::ProcessSectionCommands); // the hook itself requires those before it
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
