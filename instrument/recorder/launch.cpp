// The recorder's changes to its own process, which the child undoes before it becomes the program.
#include "launch.h"

#include "base/execute.h"
#include "base/handed_on.h"
#include "diagnostics.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace frontload;

/// Without this, a file of ours could become descriptor 2 and get our messages.
static void fillStandardDescriptors() {
  for (int file = 0; file >= 0 && file <= 2;)
    if ((file = open("/dev/null", O_RDWR | O_CLOEXEC)) > 2)
      close(file);
}

/// SIGPIPE and SIGXFSZ would end the recorder, and with it the program: the reader of our messages
/// has gone, or a trace passes the limit for file sizes. If SIGCHLD stayed ignored, our children
/// would disappear unseen. Ctrl-Z stops the program first; the recorder stops itself when it has
/// seen that.
static constexpr int withAction[] = {SIGPIPE, SIGXFSZ, SIGCHLD, SIGTSTP};

RecorderEnvironment::RecorderEnvironment() {
  fillStandardDescriptors();
  // Each recorded process needs two descriptors, for its memory and its trace.
  getrlimit(RLIMIT_NOFILE, &originalFileLimit);
  rlimit raised = {originalFileLimit.rlim_max, originalFileLimit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &raised);
  for (size_t i = 0; i < std::size(withAction); ++i) {
    struct sigaction action = {};
    action.sa_handler = withAction[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
    sigaction(withAction[i], &action, &originalActions[i]);
  }
  signals_to_hand_on(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigprocmask(SIG_BLOCK, &awaited, &originalMask);
}

void RecorderEnvironment::undoInChild() const {
  setrlimit(RLIMIT_NOFILE, &originalFileLimit);
  for (size_t i = 0; i < std::size(withAction); ++i)
    sigaction(withAction[i], &originalActions[i], nullptr);
  sigprocmask(SIG_SETMASK, &originalMask, nullptr);
}

void RecorderEnvironment::restoreTerminalStop() const {
  sigaction(SIGTSTP, &originalActions[std::size(withAction) - 1], nullptr);
}

Command::Command(char **arguments, const RecorderEnvironment &environment) : pid(-1) {
  if (pipe2(goPipe, O_CLOEXEC) != 0 || pipe2(errorPipe, O_CLOEXEC) != 0)
    return;
  pid = fork();
  if (pid != 0)
    return;
  close(goPipe[1]);
  environment.undoInChild();
  char byte;
  if (read(goPipe[0], &byte, 1) != 1) // the recorder has failed or died
    _exit(EXIT_FAILED);
  int problem = -execute_command(arguments, environ, getenv("PATH"));
  _exit(write(errorPipe[1], &problem, sizeof problem) == sizeof problem ? EXIT_NOT_FOUND
                                                                        : EXIT_FAILED);
}

Command::~Command() {
  for (int file : {goPipe[0], goPipe[1], errorPipe[0], errorPipe[1]})
    if (file >= 0)
      close(file);
  if (pid > 0 && !isGoing) // the child has read the end of the pipe and gives up
    waitpid(pid, nullptr, 0);
}

void Command::go() { isGoing = write(goPipe[1], "", 1) == 1; }

int Command::execError() const {
  int problem = 0;
  fcntl(errorPipe[0], F_SETFL, O_NONBLOCK);
  return read(errorPipe[0], &problem, sizeof problem) == sizeof problem ? problem : 0;
}
