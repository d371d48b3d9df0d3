// frontload-trace: records which functions an unmodified program enters, in order of first entry.
//
// Every function of the program gets a breakpoint before the program starts. A breakpoint that is
// hit is removed. This file holds the command line and the exit status.
#include "recorder/command_line.h"
#include "recorder/diagnostics.h"
#include "tracer.h"

#include <cerrno>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

const char frontload::toolName[] = "frontload-trace";

static cl::opt<bool>
    blocksOption("blocks", cl::cat(recorderOptions()),
                 cl::desc("Record basic blocks, too, of code that was compiled with "
                          "-fbasic-block-address-map"));

static cl::opt<std::string>
    programOption("program", cl::cat(recorderOptions()), cl::value_desc("name"),
                  cl::desc("Record only processes of the program with this file name or path, "
                           "whatever else the command runs"));

static constexpr char overview[] =
    "frontload-trace [options] -- COMMAND [ARGUMENT...]\n\n"
    "Runs a command and records which functions it and the programs it starts enter, in order of\n"
    "first entry. Each process gets a trace, and a new one at each exec. The trace of a forked\n"
    "child has what was not entered before the fork. A trace never replaces a file: if its name\n"
    "is taken, it gets .1, .2 and so on. Programs without a symbol table run, but are not\n"
    "recorded. --module slows system calls down.\n\n"
    "The recording ends when all processes have ended, or, with --until or --for, when the\n"
    "command has. The exit status is that of the command.\n";
static cl::extrahelp moreHelp(R"(
examples:
  # record which functions a program enters, and in which order
  frontload-trace --output=app.fltrace -- ./app --version
  # also record those of a library, until the program is ready
  frontload-trace --module=libapp.so.1 --until=serve_requests -- ./server
  # record the program in all processes of its test suite
  frontload-trace --program=app -o 'traces/%p.fltrace' -- make check

exit status:
  2      the options are wrong
  125    frontload-trace failed
  126    the command cannot be executed
  127    the command was not found
  128+N  signal N ended the command

environment:
  FRONTLOAD_ROLE  the role of the command, and of what it starts, in the traces; --role sets it
)");

static constexpr char howToTrace[] =
    "allow ptrace: sysctl kernel.yama.ptrace_scope=1 or 0; in a container, --cap-add=SYS_PTRACE or "
    "a seccomp profile that permits it; or rebuild the program with -finstrument-functions and "
    "libfrontload-rt";

/// Breakpoints are planted through /proc. That of another process namespace would lead to other
/// processes.
static Error checkProc() {
  char self[32];
  ssize_t length = readlink("/proc/self", self, sizeof self - 1);
  if (length < 0)
    return systemError("/proc", "cannot be used");
  self[length] = 0;
  if (self == std::to_string(getpid()))
    return Error::success();
  return createStringError("/proc: belongs to another process namespace");
}

static int record(char **arguments, OutputPattern pattern) {
  RecorderEnvironment environment;
  if (Error problem = pattern.check(arguments[0]))
    return fail(std::move(problem), EXIT_FAILED, howToWrite);
  Command command(arguments, environment);
  if (command.pid < 0)
    return fail(systemError("fork", "cannot start the command"));
  TraceFolder folder(std::move(pattern), FRONTLOAD_RECORDER_TRACER);
  Loading loading(folder, moduleOption, programOption, untilOption, blocksOption);
  std::optional<double> seconds;
  if (forOption.getNumOccurrences())
    seconds = forOption;
  auto status = Tracer(loading, environment, seconds).run(command);
  if (!status)
    return fail(status.takeError(), EXIT_FAILED, howToTrace);
  if (int problem = command.execError()) {
    errno = problem;
    return fail(systemError(arguments[0], "cannot be executed"), status_of_exec_error(problem),
                how_to_execute(problem));
  }

  loading.warnAboutUnseen();
  if (*status == 0 && folder.isEmpty())
    return fail(createStringError(Twine(arguments[0]) + ": nothing was recorded"), EXIT_FAILED,
                "no program with a symbol table ran: record a build that is not stripped");
  return status_of_ended(*status);
}

int main(int argc, char **argv) {
  auto commandLine = parseCommandLine(argc, argv, overview);
  if (!commandLine)
    return EXIT_USAGE;
  if (Error problem = checkProc())
    return fail(std::move(problem), EXIT_FAILED,
                "mount the one of these processes: mount -t proc proc /proc, or unshare "
                "--mount-proc");
  if (!commandLine->role.empty())
    setenv(FRONTLOAD_ROLE_VARIABLE, commandLine->role.c_str(), 1);
  return record(commandLine->command, std::move(commandLine->pattern));
}
