// Starts the command to be traced: in a child process that waits until it is told to go, so that
// the tracer is attached before the first instruction of the program, and that inherits everything
// as if there were no tracer.
#ifndef FRONTLOAD_RECORDER_LAUNCH_H
#define FRONTLOAD_RECORDER_LAUNCH_H

#include <csignal>
#include <sys/resource.h>
#include <sys/types.h>

namespace frontload {

/// The tracer's own needs (descriptors, signals), set up so that the program does not inherit them.
class TracerEnvironment {
public:
  TracerEnvironment();
  /// Between fork and exec.
  void undoInChild() const;
  /// Once there is nothing left to trace: Ctrl-Z stops the tracer like the program.
  void restoreTerminalStop() const;

  /// The signals that the tracer waits for: the state changes of its children, and those by which
  /// people ask a command to end. They are blocked, except in the child.
  sigset_t awaited;

private:
  sigset_t originalMask;
  rlimit originalFileLimit;
  struct sigaction originalPipe, originalFileSize, originalChild, originalStop;
};

class Command {
public:
  /// `arguments` ends with a null pointer. The pid is -1 if no process could be made.
  Command(char **arguments, const TracerEnvironment &environment);
  ~Command();
  Command(const Command &) = delete;
  Command &operator=(const Command &) = delete;

  void go();
  /// After the child has ended: the errno with which its exec failed, or 0.
  int execError() const;

  pid_t pid;

private:
  bool isGoing = false;
  int goPipe[2] = {-1, -1};
  int errorPipe[2] = {-1, -1};
};

} // namespace frontload

#endif
