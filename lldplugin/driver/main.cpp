//===- main.cpp - frontload-cc, a compiler launcher ------------------------===//
//
// Stands before a compiler, as ccache does, and adds to its arguments what a start can be recorded
// with or a front needs. Then it becomes that compiler: streams, exit code and signals are the
// compiler's, and a call that neither makes code nor links is not changed by a byte.
//
//===----------------------------------------------------------------------===//

#include "compiler.h"
#include "compiler_command.h"
#include "diagnostics.h"
#include "link_log.h"
#include "link_refusal.h"
#include "own_options.h"
#include "profile_folder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"
#include <cerrno>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

static constexpr int exitCannotRun = 126, exitNotFound = 127;

static constexpr StringLiteral usage =
    "usage: frontload-cc [options] COMPILER ARGUMENT...\n"
    "\n"
    "Compiles and links for Frontload by a compiler of any build. It stands before gcc or clang, "
    "or\n"
    "another launcher such as ccache, adds flags for code that is made and for links, and becomes\n"
    "the compiler. Where there is no compiler, which is for callers that can name only one "
    "program,\n"
    "that is $FRONTLOAD_CC, else cc.\n"
    "\n"
    "options:\n"
    "  --mode=off|record|use  off: change nothing. record: link programs whose start can be\n"
    "                         recorded, each with a map beside it, NAME.map. use: link with a "
    "front\n"
    "                         (default: use if a profile or a folder of them is named, else off)\n"
    "  --profile=FILE         the startup profile to link with\n"
    "  --profile-dir=DIR      the profile of each output is DIR/NAME.startup; without such a file "
    "it\n"
    "                         is linked without a front\n"
    "  --prefetch             make programs read their front in one go when they start (see\n"
    "                         ld.frontload --front-prefetch)\n"
    "  --min-match=PERCENT    fail if less of a profile's names are found (default: 80; 0: never)\n"
    "  --no-section-flags     compile as the build says, without -ffunction-sections\n"
    "                         -fdata-sections\n"
    "  --link-log=FILE        append a line of JSON for each link, as in compile_commands.json\n"
    "  --help                 print this\n"
    "  --version              print the version\n"
    "\n"
    "environment:\n"
    "  FRONTLOAD              as --mode\n"
    "  FRONTLOAD_PROFILE      as --profile\n"
    "  FRONTLOAD_PROFILE_DIR  as --profile-dir; an absolute path\n"
    "  FRONTLOAD_PREFETCH     1: as --prefetch; 0: not\n"
    "  FRONTLOAD_MIN_MATCH    as --min-match\n"
    "  FRONTLOAD_LINK_LOG     as --link-log\n"
    "  FRONTLOAD_CC           the compiler, where none is named\n"
    "\n"
    "examples:\n"
    "  # an Autotools project, first to be recorded, then with its profiles\n"
    "  ./configure CC=\"frontload-cc gcc\" FRONTLOAD=record\n"
    "  make CC=\"frontload-cc --profile-dir=$PWD/startup gcc\"\n"
    "\n"
    "exit status:\n"
    "  2    an option or a variable has no good value\n"
    "  126  the compiler cannot be run\n"
    "  127  there is no such compiler; otherwise the compiler's own\n";

static void say(StringRef kind, const Twine &message) {
  errs() << "frontload-cc: " << kind << ": " << message << '\n';
}

static int refuse(const Refusal &refusal) {
  say("error", refusal.message);
  say("note", refusal.note);
  return refusal.exitCode;
}

/// Whether the linker has written what is at `path`, or nobody.
static bool isMapOrNothing(const std::string &path) {
  if (!sys::fs::exists(path))
    return true;
  auto head = MemoryBuffer::getFileSlice(path, 64, 0);
  return head && (*head)->getBuffer().ltrim(' ').starts_with("VMA ");
}

namespace {
/// What is added to one call of the compiler.
class Additions {
public:
  Additions(const OwnOptions &theOptions, const CompilerCommand &theCommand)
      : options(theOptions), command(theCommand) {}

  /// Returns what is wrong.
  std::optional<Refusal> make(StringRef compiler, Family family);

  std::vector<std::string> flags;

private:
  const OwnOptions &options;
  const CompilerCommand &command;

  std::optional<Refusal> addLinker();
  void addMap();
};
} // namespace

/// By a folder with a program named ld.lld. All versions of gcc and clang look there first, while
/// --ld-path is clang's alone.
std::optional<Refusal> Additions::addLinker() {
  SmallString<128> folder =
      sys::path::parent_path(sys::path::parent_path(sys::fs::getMainExecutable(nullptr, nullptr)));
  sys::path::append(folder, "lib", "frontload", "gcc");
  SmallString<128> linker = folder;
  sys::path::append(linker, "ld.lld");
  if (!sys::fs::can_execute(linker))
    return Refusal{
        (linker + ": " + make_error_code(std::errc::no_such_file_or_directory).message()).str(),
        "frontload-cc belongs into the bin folder of Frontload; a link to it may be "
        "anywhere",
        exitUsage};
  flags.insert(flags.end(), {("-B" + folder).str(), "-fuse-ld=lld"});
  return std::nullopt;
}

void Additions::addMap() {
  for (StringRef argument : command.linkerArguments)
    if (is_contained({"-Map", "--Map", "-M", "--print-map"}, argument.split('=').first))
      return;
  std::string map = command.output + ".map";
  if (isMapOrNothing(map))
    flags.insert(flags.end(), {"-Xlinker", "-Map=" + map});
  else
    say("note", map + ": is no map of a link, and stays as it is; name one: -Wl,-Map=FILE");
}

std::optional<Refusal> Additions::make(StringRef compiler, Family family) {
  if (command.makesCode && options.addsSectionFlags && family != Family::Unknown)
    flags = {"-ffunction-sections", "-fdata-sections"};
  if (!command.isLink || command.isRelocatable)
    return std::nullopt;
  bool isTried = isProbe(command);
  bool isUse = options.mode == Mode::Use;
  std::string profile = isTried ? "" : options.profile;
  if (isUse && !isTried && profile.empty()) {
    if (options.profileFolder.empty())
      return Refusal{"--mode=use: there is no profile",
                     "add --profile=FILE or --profile-dir=DIR, or set FRONTLOAD_PROFILE_DIR",
                     exitUsage};
    if (auto refusal = findProfile(options.profileFolder, command.output, profile))
      return refusal;
  }
  if (auto why = whyNotOurs(compiler, family, command)) {
    // Nothing is lost where nothing was to be had.
    if (!isTried && !(isUse && profile.empty()))
      say("note", command.output + ": is linked without Frontload: " + *why);
    return std::nullopt;
  }
  if (auto refusal = addLinker())
    return refusal;
  if (!isUse) {
    if (!isTried)
      addMap();
    return std::nullopt;
  }
  // A folder is for the linker to look into, so that one command line fits all links.
  if (!options.profile.empty() && !isTried)
    flags.insert(flags.end(), {"-Xlinker", "--startup-profile=" + options.profile});
  else if (!options.profileFolder.empty())
    flags.insert(flags.end(), {"-Xlinker", "--startup-profile-dir=" + options.profileFolder});
  else
    return std::nullopt;
  if (options.wantsPrefetch)
    flags.insert(flags.end(), {"-Xlinker", "--front-prefetch"});
  if (!options.minMatch.empty())
    flags.insert(flags.end(), {"-Xlinker", "--min-match=" + options.minMatch});
  return std::nullopt;
}

/// Becomes the program that `words` call.
static int become(ArrayRef<const char *> words) {
  std::vector<const char *> args(words);
  args.push_back(nullptr);
  execvp(args[0], const_cast<char *const *>(args.data()));
  int error = errno;
  say("error", Twine(words[0]) + ": " + std::generic_category().message(error));
  say("note", error == E2BIG ? "give the compiler its arguments in a response file: @FILE"
                             : "the compiler stands behind the options of frontload-cc");
  return error == ENOENT ? exitNotFound : exitCannotRun;
}

int main(int argc, char **argv) {
  OwnOptions options;
  ArrayRef<const char *> args(const_cast<const char **>(argv) + 1, argc > 0 ? argc - 1 : 0);
  if (std::optional<Refusal> refusal = readOwnOptions(args, options))
    return refuse(*refusal);
  if (options.isHelp || options.isVersion) {
    outs() << (options.isHelp ? usage : "frontload-cc " FRONTLOAD_VERSION "\n");
    return 0;
  }
  if (args.empty())
    return refuse({"there is no compiler", "see frontload-cc --help", exitUsage});

  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *, 0> words;
  if (isArgument(args[0])) {
    std::string compiler = sys::Process::GetEnv("FRONTLOAD_CC").value_or("");
    cl::TokenizeGNUCommandLine(compiler, saver, words);
    if (words.empty())
      words.push_back("cc");
  }
  words.append(args.begin(), args.end());
  if (options.mode == Mode::Off && options.linkLog.empty())
    return become(words);

  Compiler compiler = findCompiler(words);
  auto *behind = words.begin() + compiler.index + 1;
  SmallVector<const char *, 0> expanded(words.begin(), words.end());
  // A response file that is none stays, for the compiler to complain about.
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, expanded);
  CompilerCommand command =
      parseCompilerCommand(ArrayRef<const char *>(expanded).drop_front(compiler.index + 1));
  if (!options.linkLog.empty() && command.isLink && !isProbe(command)) {
    SmallString<128> folder;
    sys::fs::current_path(folder);
    std::string line = linkLogLine(folder, expanded, command.output);
    if (Error e = appendLine(options.linkLog, line))
      return refuse({options.linkLog + ": " + toString(std::move(e)),
                     "name another file by --link-log or FRONTLOAD_LINK_LOG", exitUsage});
  }
  if (options.mode == Mode::Off)
    return become(words);
  Additions additions(options, command);
  if (std::optional<Refusal> refusal = additions.make(words[compiler.index], compiler.family))
    return refuse(*refusal);
  SmallVector<const char *, 0> all(words.begin(), behind);
  for (const std::string &flag : additions.flags)
    all.push_back(flag.c_str());
  all.append(behind, words.end());
  return become(all);
}
