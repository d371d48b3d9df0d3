// The loop over stops: which kind of stop it is, what it means, how the thread goes on.
#include "tracer.h"

#include "recorder/diagnostics.h"

#include <cerrno>
#include <linux/kcmp.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace frontload;

Expected<int> Tracer::run() {
  constexpr long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                           PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, command.pid, nullptr, options) != 0)
    return systemError("ptrace", "cannot trace the command");
  threads[command.pid];
  command.go();
  while (!commandStatus || !threads.empty()) {
    if (deadline && Clock::now() >= *deadline)
      endRecording(/*isOnPurpose=*/true);
    int status;
    pid_t id = waitpid(-1, &status, __WALL | WNOHANG);
    if (id > 0)
      changed(id, status);
    else if (id == 0)
      awaitSignal();
    else
      break;
  }
  return commandStatus.value_or(0);
}

/// Sleeps until something happens. A change of a child is only a reason to call waitpid again.
void Tracer::awaitSignal() {
  siginfo_t info;
  int signal;
  if (deadline) {
    auto left = std::max(*deadline - Clock::now(), Clock::duration(0));
    auto whole = std::chrono::floor<std::chrono::seconds>(left);
    timespec timeout = {whole.count(), std::chrono::nanoseconds(left - whole).count()};
    signal = sigtimedwait(&environment.awaited, &info, &timeout);
  } else {
    signal = sigwaitinfo(&environment.awaited, &info);
  }
  if (signal <= 0 || signal == SIGCHLD)
    return;
  // Once the command has ended, there is nobody else to tell.
  if (commandStatus)
    endRecording(/*isOnPurpose=*/false);
  // Ctrl-C and the like come from the terminal to the program as well as to us.
  else if (info.si_code <= 0)
    kill(command.pid, signal);
}

void Tracer::changed(pid_t id, int status) {
  if (!WIFSTOPPED(status)) {
    threads.erase(id);
    unclaimed.erase(id);
    if (id == command.pid)
      commandStatus = status;
    return;
  }
  if (auto thread = threads.find(id); thread != threads.end())
    stopped(id, thread->second, status);
  else
    unclaimed.insert(id);
}

void Tracer::stopped(pid_t id, Thread &thread, int status) {
  int signal = WSTOPSIG(status);
  bool wasEnteringTrapHandler = std::exchange(thread.isEnteringTrapHandler, false);
  switch (int event = status >> 16) {
  case PTRACE_EVENT_EXEC:
    return executed(id);
  case PTRACE_EVENT_FORK:
  case PTRACE_EVENT_VFORK:
  case PTRACE_EVENT_CLONE:
    born(id, event);
    return resume(id);
  case PTRACE_EVENT_STOP:
    if (signal == SIGTRAP || isEnding) // just born, continued, or interrupted by endRecording
      return resume(id);
    return groupStopped(id, signal);
  default:
    if (signal == SIGTRAP)
      return trapped(id, thread, wasEnteringTrapHandler);
    if (signal != (SIGTRAP | 0x80))
      return resume(id, signal);
    if (thread.space && !isEnding)
      loading.systemCall(id, *thread.space, thread.call);
    return resume(id);
  }
}

void Tracer::executed(pid_t id) {
  // The thread that called exec has taken over the id of its process.
  unsigned long formerId = id;
  ptrace(PTRACE_GETEVENTMSG, id, nullptr, &formerId);
  threads.erase(formerId);
  Thread &thread = threads[id] = {};
  if (!isEnding)
    thread.space = loading.execute(id);
  if (seconds && !isEnding && !deadline)
    deadline = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
  resume(id);
}

/// Whether two threads have one memory. Where the kernel will not say, by how it usually is.
static bool shareMemory(pid_t one, pid_t other, int event) {
  long order = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
  return order >= 0 ? order == 0 : event != PTRACE_EVENT_FORK;
}

void Tracer::born(pid_t parent, int event) {
  unsigned long message;
  if (ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &message) != 0)
    return; // killed meanwhile
  pid_t child = message;
  std::shared_ptr<AddressSpace> space = threads[parent].space;
  if (space && !shareMemory(parent, child, event))
    space = space->fork(child);
  threads[child].space = std::move(space);
  if (unclaimed.erase(child))
    resume(child);
}

void Tracer::trapped(pid_t id, Thread &thread, bool wasEnteringTrapHandler) {
  siginfo_t info = {};
  ptrace(PTRACE_GETSIGINFO, id, nullptr, &info);
  if (info.si_code == arch::breakpointSignalCode && thread.space) {
    if (auto address = arch::breakpointAddress(id)) {
      AddressSpace::Hit hit = thread.space->hit(id, *address, !isEnding);
      if (hit.isOurs) {
        arch::setProgramCounter(id, *address);
        if (hit.endsRecording)
          endRecording(/*isOnPurpose=*/true);
        return resume(id);
      }
    }
  }
  // The signal is the program's own. A breakpoint in a thread that blocks SIGTRAP makes the kernel
  // forget the program's handler for it, and handlers run with their signal blocked: so this
  // handler is stepped into, and the signal unblocked there until the handler returns. (A program
  // that handles SIGTRAP and blocks it elsewhere loses its handler; ptrace has no remedy for that.)
  if (wasEnteringTrapHandler) {
    constexpr int codeAtHandlerEntry = SIGTRAP;
    uint64_t blocked;
    if (info.si_code == codeAtHandlerEntry &&
        ptrace(PTRACE_GETSIGMASK, id, sizeof blocked, &blocked) == 0) {
      blocked &= ~(uint64_t(1) << (SIGTRAP - 1));
      ptrace(PTRACE_SETSIGMASK, id, sizeof blocked, &blocked);
    }
    return resume(id);
  }
  if (isEnding || !thread.space)
    return resume(id, SIGTRAP);
  thread.isEnteringTrapHandler = true;
  ptrace(PTRACE_SINGLESTEP, id, nullptr, SIGTRAP);
}

void Tracer::groupStopped(pid_t id, int signal) {
  ptrace(PTRACE_LISTEN, id, nullptr, nullptr);
  // The shell sees only the tracer, so a stop from the terminal (Ctrl-Z) must be its stop too. Not
  // SIGSTOP, which is sent to the program alone, as is the SIGCONT after it.
  if (id == command.pid && signal != SIGSTOP && getpgid(id) == getpgrp())
    raise(SIGSTOP);
}

void Tracer::resume(pid_t id, int signal) {
  std::shared_ptr<AddressSpace> &space = threads[id].space;
  if (isEnding && (!space || space->removeBreakpoints())) {
    ptrace(PTRACE_DETACH, id, nullptr, signal);
    threads.erase(id);
    return;
  }
  ptrace(loading.followsLibraries() ? PTRACE_SYSCALL : PTRACE_CONT, id, nullptr, signal);
}

/// From now on every thread that stops is let go (see resume); those that run are made to stop.
void Tracer::endRecording(bool isOnPurpose) {
  isEnding = true;
  deadline.reset();
  for (auto &[id, thread] : threads) {
    if (isOnPurpose && thread.space)
      thread.space->markStartupDone();
    ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
  }
  environment.restoreTerminalStop();
}
