// The loop over stops: the kind of each stop, its meaning, and how the thread goes on.
#include "tracer.h"

#include "base/handed_on.h"
#include "recorder/diagnostics.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <linux/kcmp.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace frontload;

static constexpr long followAll = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                  PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

Expected<int> Tracer::run(Command &newCommand) {
  if (ptrace(PTRACE_SEIZE, newCommand.pid, nullptr, followAll | PTRACE_O_EXITKILL) != 0)
    return systemError("ptrace", "cannot trace the command");
  command = newCommand.pid;
  threads[command];
  newCommand.go();
  follow();
  return commandStatus.value_or(0);
}

void Tracer::follow() {
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
}

void Tracer::startClock() {
  if (seconds && !isEnding && !deadline)
    deadline = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
}

/// Sleeps until something happens. A change of a child is only a reason to call waitpid again.
void Tracer::awaitSignal() {
  siginfo_t info;
  timespec timeout;
  if (deadline) {
    auto left = std::max(*deadline - Clock::now(), Clock::duration(0));
    auto whole = std::chrono::floor<std::chrono::seconds>(left);
    timeout = {whole.count(), std::chrono::nanoseconds(left - whole).count()};
  }
  int signal = sigtimedwait(&environment.awaited, &info, deadline ? &timeout : nullptr);
  if (signal <= 0 || signal == SIGCHLD)
    return;
  bool asksForTheEnd =
      signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
  // Once the command has ended, the signal ends the recording, not the processes left behind.
  if (commandStatus && asksForTheEnd)
    endRecording(/*isOnPurpose=*/false);
  else
    handOn(info);
}

void Tracer::handOn(const siginfo_t &info) {
  if (!commandStatus && !reaches_the_program(&info))
    hand_on(command, &info);
}

/// Hands on the SIGCONT that has continued us, before the program takes its own (a shell sends
/// SIGCONT to the whole job): so the two become one. awaitSignal would see SIGCHLD first, and the
/// program would go on before its second SIGCONT.
void Tracer::handOnContinue() {
  sigset_t continued;
  sigemptyset(&continued);
  sigaddset(&continued, SIGCONT);
  siginfo_t info;
  constexpr timespec atOnce = {0, 0};
  if (sigtimedwait(&continued, &info, &atOnce) == SIGCONT)
    handOn(info);
}

void Tracer::changed(pid_t id, int status) {
  if (!WIFSTOPPED(status)) {
    unclaimed.erase(id);
    if (auto ended = threads.extract(id); !ended.empty() && ended.mapped().space)
      ended.mapped().space->ended(id, status);
    if (id == command)
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
    // Just born, continued, or interrupted in order to be let go.
    if (signal == SIGTRAP || isEnding) {
      handOnContinue();
      return resume(id);
    }
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
  if (formerId != unsigned(id))
    threads.erase(formerId);
  Thread &thread = threads[id];
  const std::string formerRole = thread.space ? thread.space->role() : "";
  thread = {};
  if (!isEnding)
    thread.space = loading.execute(id, formerRole);
  startClock();
  resume(id);
}

/// Whether two threads share their memory. If the kernel refuses to tell, decides by `event`.
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
  if (info.si_code == TRAP_HWBKPT && thread.space && arch::hasReadWatched(id)) {
    thread.space->codeWasRead(id);
    arch::watchReads(id, {});
    return resume(id);
  }
  if (info.si_code == arch::breakpointSignalCode && thread.space) {
    if (auto address = arch::breakpointAddress(id)) {
      AddressSpace::Hit hit = thread.space->hit(id, *address, !isEnding);
      if (hit.isOurs || thread.space->restoreCopy(id, *address)) {
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
  if (id != command || signal == SIGSTOP || getpgid(id) != getpgrp())
    return;
  raise(SIGSTOP);
  handOnContinue();
}

/// Whether an interrupted thread has just run into a breakpoint: the kernel reports that second,
/// when the thread would be detached already.
static bool hasPendingTrap(pid_t id) {
  std::array<siginfo_t, 32> pending;
  __ptrace_peeksiginfo_args range = {0, 0, int(pending.size())};
  long count = ptrace(PTRACE_PEEKSIGINFO, id, &range, pending.data());
  return llvm::any_of(ArrayRef(pending.data(), std::max(count, 0L)), [](const siginfo_t &info) {
    return info.si_signo == SIGTRAP &&
           (info.si_code == arch::breakpointSignalCode || info.si_code == TRAP_HWBKPT);
  });
}

void Tracer::resume(pid_t id, int signal) {
  Thread &thread = threads[id];
  bool isOver = isEnding || (thread.space && thread.space->isOfTracer());
  if (isOver && !hasPendingTrap(id) && (!thread.space || thread.space->removeBreakpoints(id))) {
    if (thread.isWatched)
      arch::watchReads(id, {});
    ptrace(PTRACE_DETACH, id, nullptr, signal);
    threads.erase(id);
    return;
  }
  if (thread.space && !std::exchange(thread.isWatched, true))
    arch::watchReads(id, thread.space->watchedPlaces());
  bool seesCalls = thread.space && loading.followsLibraries();
  ptrace(seesCalls ? PTRACE_SYSCALL : PTRACE_CONT, id, nullptr, signal);
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
