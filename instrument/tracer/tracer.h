// Runs a command and all its descendants under ptrace, and hands their touches to the traces.
//
// This is the loop over stops: births, execs, signals, job control, breakpoints, the end of the
// recording. The rule here is that the program must not notice: signals are passed on, stops stay
// stops, and no thread is let go while there are breakpoints in its memory (if the tracer dies, the
// kernel kills the tracees, PTRACE_O_EXITKILL).
#pragma once

#include "loading.h"
#include "recorder/launch.h"

#include <chrono>
#include <unordered_map>
#include <unordered_set>

namespace frontload {

class Tracer {
public:
  /// `recordingTime`: seconds to record, from the first exec on.
  Tracer(Loading &codeLoading, const RecorderEnvironment &recorderEnvironment,
         std::optional<double> recordingTime)
      : loading(codeLoading), environment(recorderEnvironment), seconds(recordingTime) {}

  /// Follows the command and all its descendants to their ends, or only to the end of the
  /// recording. Returns the command's wait status; fails if ptrace is not permitted.
  llvm::Expected<int> run(Command &newCommand);

private:
  using Clock = std::chrono::steady_clock;

  struct Thread {
    std::shared_ptr<AddressSpace> space; // none: the program is not recorded
    Loading::Call call;
    bool isEnteringTrapHandler = false;
    bool isWatched = false;
  };

  void follow();
  void startClock();
  void awaitSignal();
  void handOn(const siginfo_t &info);
  void handOnContinue();
  void changed(pid_t id, int status);
  void stopped(pid_t id, Thread &thread, int status);
  void executed(pid_t id);
  void born(pid_t parent, int event);
  void trapped(pid_t id, Thread &thread, bool wasEnteringTrapHandler);
  void groupStopped(pid_t id, int signal);
  void resume(pid_t id, int signal = 0);
  void endRecording(bool isOnPurpose);

  Loading &loading;
  pid_t command = -1;
  const RecorderEnvironment &environment;
  std::optional<double> seconds;
  std::optional<Clock::time_point> deadline;

  // By thread id; the id of a process is that of its first thread.
  std::unordered_map<pid_t, Thread> threads;
  // Threads stopped at their birth, which the parent has not reported yet. (If the parent is killed
  // just then, they are left to EXITKILL, since the contents of their memory are unknown.)
  std::unordered_set<pid_t> unclaimed;
  std::optional<int> commandStatus;
  bool isEnding = false;
};

} // namespace frontload
