// Starts the command to be recorded: in a child process that waits until it is told to go, so that
// the recorder is ready before the first instruction of the program, and that inherits everything
// as if there were no recorder.
#pragma once

#include <csignal>
#include <sys/resource.h>
#include <sys/types.h>

namespace frontload {

/// The recorder's own needs (descriptors, signals), set up so that the program does not inherit
/// them.
class RecorderEnvironment {
public:
  RecorderEnvironment();
  /// Between fork and exec.
  void undoInChild() const;
  /// Once there is nothing left to record: Ctrl-Z stops the recorder like the program.
  void restoreTerminalStop() const;

  /// The signals that the recorder waits for: the state changes of its children, and those that it
  /// hands on. They are blocked, except in the child.
  sigset_t awaited;

private:
  sigset_t originalMask;
  rlimit originalFileLimit;
  struct sigaction originalActions[4]; ///< of the signals that launch.cpp lists
};

class Command {
public:
  /// `arguments` ends with a null pointer. The pid is -1 if no process could be made.
  Command(char **arguments, const RecorderEnvironment &environment);
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
