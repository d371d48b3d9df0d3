// frontload-lackey: records which code and data an unmodified program touches, in order of first
// touch, by running it in valgrind.
//
// Valgrind's tool lackey writes every access into a pipe of one page. This program reads them and
// keeps the first ones. This file holds the command line and the exit status.
#include "debug_free_copy.h"
#include "recorder/command_line.h"
#include "recorder/diagnostics.h"
#include "recording.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <filesystem>
#include <sys/wait.h>

using namespace llvm;
using namespace frontload;

const char frontload::toolName[] = "frontload-lackey";

static constexpr char overview[] =
    "frontload-lackey [options] -- COMMAND [ARGUMENT...]\n\n"
    "Runs a program in valgrind and records which 16-byte granules of its code it executes, and\n"
    "which of its data it reads or writes, in order of first touch. The program gets a trace, and\n"
    "so does each process that it forks. Programs that it executes run, but are not recorded. The\n"
    "program runs some hundred times slower.\n\n"
    "A trace does not contain what the loader touches to relocate the program, or what only the\n"
    "kernel reads, such as the text of write(1, text, size). A program with debug info runs as a\n"
    "copy without it, in a folder below $TMPDIR: /proc/self/exe and argv[0] name the copy. The\n"
    "exit status is that of the program.\n";
static cl::extrahelp moreHelp(R"(
examples:
  # record which bytes of its code and data a program touches
  frontload-lackey --output=app.fltrace -- ./app --version

exit status:
  2      the options are wrong
  125    frontload-lackey failed
  126    the program cannot be executed
  127    the program was not found
  128+N  signal N ended the program

environment:
  PATH    where valgrind is
  TMPDIR  where the copy of a program with debug info is made (default: /tmp)
)");

/// What valgrind is started with. The name of its log is a pattern like ours.
static std::vector<std::string> valgrindCommand(const std::string &valgrind, StringRef logFolder,
                                                const std::string &program, char **arguments) {
  std::string logPattern;
  for (char c : logFolder)
    logPattern += c == '%' ? std::string("%%") : std::string(1, c);
  std::vector<std::string> command = {
      valgrind,
      "--command-line-only=yes", // not what the user has set for other tools
      "--tool=lackey",
      "--trace-mem=yes",
      "--basic-counts=no",
      "--trace-children=no",
      "--vgdb=no",
      "--log-file=" + logPattern + "/%p",
      "--",
      program,
  };
  for (char **argument = arguments + 1; *argument; ++argument)
    command.push_back(*argument);
  return command;
}

/// The exit status, and what there is to say about the recording.
static int conclude(int status, const Recording &recording, const TraceFolder &folder,
                    const Modules &modules) {
  const std::string &program = modules.program().path;
  if (!recording.program().hasRun()) {
    error(program + ": valgrind cannot run it");
    for (const std::string &message : recording.program().messages())
      note("valgrind: " + message);
    return EXIT_FAILED;
  }
  modules.warnAboutUnseen();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGILL)
    note("valgrind does not know all instructions: if the program ends differently without it, "
         "build it without -march=native and the like");
  if (status == 0 && folder.isEmpty()) {
    error(program + ": nothing was recorded");
    note("please report this: valgrind ran it, but its memory was not found");
    return EXIT_FAILED;
  }
  return status_of_ended(status);
}

static int record(char **arguments, OutputPattern pattern) {
  auto valgrind = sys::findProgramByName("valgrind");
  if (!valgrind) {
    error("valgrind: not found");
    note("install it: apt-get install valgrind");
    return EXIT_FAILED;
  }
  std::string name = arguments[0];
  auto found = sys::findProgramByName(name);
  SmallString<256> path;
  if (std::error_code code = found ? sys::fs::real_path(*found, path) : found.getError())
    return fail(createStringError(code, name + ": cannot be executed: " + code.message()),
                status_of_exec_error(code.value()), HOW_TO_EXECUTE);
  if (!sys::fs::can_execute(path))
    return fail(createStringError(name + ": cannot be executed: no permission, or no file"),
                EXIT_NOT_EXECUTABLE, HOW_TO_EXECUTE);
  auto program = readProgram(path);
  if (!program)
    return fail(program.takeError(), EXIT_NOT_EXECUTABLE);

  RecorderEnvironment environment;
  environment.restoreTerminalStop();
  if (Error problem = pattern.check(name))
    return fail(std::move(problem), EXIT_FAILED, howToWrite);
  SmallString<256> temporary, folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  sys::path::append(temporary, "frontload-lackey-XXXXXX");
  if (!mkdtemp(const_cast<char *>(temporary.c_str()))) // LLVM's own would replace any % in the path
    return fail(systemError(temporary.str().str(), "cannot make a folder for temporary files"),
                EXIT_FAILED, "choose another place with TMPDIR");
  scope_exit removeIt([&] {
    std::error_code ignored;
    std::filesystem::remove_all(temporary.str().str(), ignored);
  });
  if (std::error_code code = sys::fs::real_path(temporary, folder))
    return fail(createFileError(temporary, code));

  auto copy = copyWithoutDebugInfo(path, name, (folder + "/program").str());
  if (!copy)
    return fail(copy.takeError());
  std::string logs = (folder + "/logs").str();
  if (std::error_code code = sys::fs::create_directory(logs))
    return fail(createFileError(logs, code));

  std::vector<std::string> words =
      valgrindCommand(*valgrind, logs, copy->empty() ? name : *copy, arguments);
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  Command command(pointers.data(), environment);
  if (command.pid < 0)
    return fail(systemError("fork", "cannot start the command"));
  TraceFolder traces(std::move(pattern), FRONTLOAD_RECORDER_VALGRIND);
  Modules modules(std::move(*program), copy->empty() ? path.str().str() : *copy, moduleOption);
  Recording recording(modules, traces, command, logs, environment);
  auto status = recording.run();
  if (!status)
    return fail(status.takeError());
  if (int problem = command.execError()) {
    errno = problem;
    return fail(systemError(*valgrind, "cannot be executed"));
  }
  return conclude(*status, recording, traces, modules);
}

int main(int argc, char **argv) {
  auto commandLine = parseCommandLine(argc, argv, overview);
  if (!commandLine)
    return EXIT_USAGE;
  return record(commandLine->command, std::move(commandLine->pattern));
}
