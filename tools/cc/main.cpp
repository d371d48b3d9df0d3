// frontload-cc, a compiler launcher.
//
// Stands before a compiler, as ccache does, and adds the arguments that a recording or a front
// needs. Then it becomes that compiler: streams, exit code and signals are the compiler's, and a
// call that neither makes code nor links is not changed by a byte.
#include "base/execute.h"
#include "base/handed_on.h"
#include "cc/additions.h"
#include "cc/compiler.h"
#include "cc/compiler_command.h"
#include "cc/own_options.h"
#include "program/diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

const StringLiteral frontload::programName = "frontload-cc";

static constexpr StringLiteral usage = R"(usage: frontload-cc [options] COMPILER ARGUMENT...

Compiles and links for Frontload with the compiler of any build. It stands before gcc or clang, or
before another launcher such as ccache, adds flags to compile and to link with, and becomes the
compiler. If no compiler is named, because the caller can name only one program, it is
$FRONTLOAD_CC, or otherwise cc.

options:
  --mode=off|record|use  off: change nothing. record: link programs so that their start can be
                         recorded, each with a map beside it, NAME.map. use: link with a front
                         (default: use if a profile or a folder of them is named, otherwise off)
  --profile=FILE         the startup profile to link with
  --profile-dir=DIR      the profile of each output is DIR/NAME.startup; without that file, the
                         output is linked without a front
  --prefetch             make programs read their front in one go when they start (see
                         ld.frontload --front-prefetch)
  --own-linker           keep the linker of the build, which does what it can: an order, packed
                         relocations, and a note of what a start touches. This is the default
                         where the build names another linker
  --min-match=PERCENT    fail if fewer of a profile's names are found (default: 80; 0: never)
  --no-section-flags     compile as the build says, without -ffunction-sections -fdata-sections
  --link-log=FILE        append a line of JSON for each link, as in compile_commands.json
  --help                 show this help
  --version              show the version

environment:
  FRONTLOAD              as --mode
  FRONTLOAD_PROFILE      as --profile
  FRONTLOAD_PROFILE_DIR  as --profile-dir; an absolute path
  FRONTLOAD_PREFETCH     1: as --prefetch; 0: no prefetch
  FRONTLOAD_MIN_MATCH    as --min-match
  FRONTLOAD_LINK_LOG     as --link-log
  FRONTLOAD_CC           the compiler, if none is named

examples:
  # configure an Autotools project, first to record it, then with its profiles
  ../configure CC="frontload-cc --mode=record gcc"
  ../configure CC="frontload-cc --profile-dir=$PWD/../startup gcc"

exit status:
  2    an option or a variable has a bad value
  126  the compiler cannot be run
  127  there is no such compiler; otherwise the status is that of the compiler
)";

/// Becomes the program that `words` call; returns the error if it cannot.
static int execute(ArrayRef<const char *> words) {
  std::vector<const char *> args(words);
  args.push_back(nullptr);
  return -execute_command(const_cast<char **>(args.data()), environ, getenv("PATH"));
}

/// Becomes the compiler. Returns the exit code of a failure.
static int become(ArrayRef<const char *> words) {
  int error = execute(words);
  return refuse({std::string(words[0]) + ": " + std::generic_category().message(error),
                 error == E2BIG ? "give the compiler its arguments in a response file: @FILE"
                                : "the compiler comes after the options of frontload-cc",
                 error == ENOENT ? exitNotFound : exitCannotRun});
}

static void appendString(std::string &line, StringRef text) {
  line += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      (line += '\\') += c;
    else if (static_cast<unsigned char>(c) < ' ')
      ((line += "\\u00") += hexdigit(c >> 4)) += hexdigit(c & 15);
    else
      line += c;
  }
  line += '"';
}

/// A line of the link log for a link of `output` by `arguments`, in `directory`: a JSON object with
/// the members of an entry of compile_commands.json. Bytes that are not UTF-8 stay unchanged, as
/// there. `frontload auto` links programs again with these arguments.
static std::string linkLogLine(StringRef directory, ArrayRef<const char *> arguments,
                               StringRef output) {
  std::string line = "{\"directory\": ";
  appendString(line, directory);
  line += ", \"arguments\": [";
  for (auto [i, argument] : enumerate(arguments)) {
    line += i ? ", " : "";
    appendString(line, argument);
  }
  line += "], \"output\": ";
  appendString(line, output);
  return line + "}\n";
}

/// Appends `line` to the file at `path`, whole, whatever other processes append at the same time.
static std::error_code appendLine(StringRef path, StringRef line) {
  std::error_code error;
  raw_fd_ostream file(path, error, sys::fs::CD_OpenAlways, sys::fs::FA_Write, sys::fs::OF_Append);
  if (error)
    return error;
  // One call: two might have another process's line between them.
  file.SetBufferSize(line.size() + 1);
  file << line;
  file.flush();
  error = file.error();
  file.clear_error();
  return error;
}

/// Whether `word` names a response file that can be read once.
static bool isStream(StringRef word) {
  sys::fs::file_status status;
  return word.consume_front("@") && !sys::fs::status(word, status) &&
         !sys::fs::is_regular_file(status);
}

/// Runs `become`, which becomes a program or returns an exit code, in a child, and hands signals on
/// to it. Returns the child's wait status.
static int runInChild(function_ref<int()> become) {
  sigset_t awaited, before;
  signals_to_hand_on(&awaited);
  sigaddset(&awaited, SIGCHLD);
  // Signals are awaited, not handled: none is lost before the child is there, and none is sent to
  // another process when the child has ended.
  sigprocmask(SIG_BLOCK, &awaited, &before);
  auto ofChildren = signal(SIGCHLD, SIG_DFL);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGCHLD, ofChildren);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    _exit(become());
  }
  int status = W_EXITCODE(exitCannotRun, 0);
  siginfo_t info;
  while (child > 0 && waitpid(child, &status, WNOHANG) == 0)
    if (sigwaitinfo(&awaited, &info) > 0 && info.si_signo != SIGCHLD && !reaches_the_program(&info))
      hand_on(child, &info);
  signal(SIGCHLD, ofChildren);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return status;
}

/// Ends as the program with this wait status did.
static int endAs(int status) {
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

/// Writes what a start needs into the note of the linked `output`. A stale profile fails the link,
/// as ld.frontload does; whatever else is wrong leaves a note without ranges.
static int finishNote(const OwnOptions &options, const std::string &output,
                      const std::string &profile) {
  SmallString<128> program = sys::path::parent_path(sys::fs::getMainExecutable(nullptr, nullptr));
  sys::path::append(program, "frontload-predict");
  std::string ofProfile = "--startup-profile=" + profile;
  std::string minMatch = "--min-match=" + options.minMatch;
  std::vector<const char *> words = {program.c_str(), "--finish", ofProfile.c_str()};
  if (!options.minMatch.empty())
    words.push_back(minMatch.c_str());
  words.insert(words.end(), {"--", output.c_str()});
  int status = runInChild([&] {
    dup2(STDERR_FILENO, STDOUT_FILENO); // builds may read what a compiler prints
    return become(words);
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == exitVerdict) {
    sys::fs::remove(output);
    return exitVerdict;
  }
  if (status)
    note(output + ": its note stays without ranges");
  return 0;
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
  bool isNamed = !isArgument(args[0]);
  if (!isNamed) {
    std::string compiler = sys::Process::GetEnv("FRONTLOAD_CC").value_or("");
    cl::TokenizeGNUCommandLine(compiler, saver, words);
    if (words.empty())
      words.push_back("cc");
  }
  words.append(args.begin(), args.end());
  // Naming frontload-cc twice does no harm: each time there is a word less.
  bool isNamedTwice = isNamed && sys::path::filename(words[0]) == "frontload-cc";
  if (!isNamedTwice && isOurselves(words[0]))
    return refuse(
        {std::string(words[0]) + ": is frontload-cc itself, which would call itself without end",
         "name a compiler after frontload-cc or in FRONTLOAD_CC, by its path", exitNotFound});
  if (options.mode == Mode::Off && options.linkLog.empty())
    return become(words);

  Compiler compiler = findCompiler(words);
  auto *behind = words.begin() + compiler.index + 1;
  SmallVector<const char *, 0> expanded(words.begin(), words.end());
  // An unreadable response file stays, so that the compiler reports it.
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, expanded);
  if (any_of(words, isStream)) { // which the compiler can read no more
    words = expanded;
    behind = words.begin() + compiler.index + 1;
  }
  CompilerCommand command =
      parseCompilerCommand(ArrayRef<const char *>(expanded).drop_front(compiler.index + 1));
  if (!options.linkLog.empty() && command.isLink && !isProbe(command)) {
    SmallString<128> folder;
    sys::fs::current_path(folder);
    std::string line = linkLogLine(folder, expanded, command.output);
    if (std::error_code error = appendLine(options.linkLog, line))
      return refuse({options.linkLog + ": " + error.message(),
                     "name another file with --link-log or FRONTLOAD_LINK_LOG", exitUsage});
  }
  if (options.mode == Mode::Off)
    return become(words);
  Additions additions;
  if (std::optional<Refusal> refusal =
          makeAdditions(options, command, ArrayRef(words).take_front(compiler.index + 1),
                        compiler.family, additions))
    return refuse(*refusal);
  SmallVector<const char *, 0> all(words.begin(), behind);
  for (const std::string &flag : additions.flags)
    all.push_back(flag.c_str());
  all.append(behind, words.end());
  auto becomeCompiler = [&] {
    // A caller may have used all the room that the system gives to arguments.
    if (execute(all) == E2BIG && !additions.flags.empty())
      note(command.output + ": is made without Frontload: there is no room for its flags");
    return become(words);
  };
  if (additions.profileOfNote.empty())
    return becomeCompiler();
  int status = runInChild(becomeCompiler);
  if (!additions.temporary.empty())
    sys::fs::remove(additions.temporary);
  return status ? endAs(status) : finishNote(options, command.output, additions.profileOfNote);
}
