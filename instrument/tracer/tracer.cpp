// The loop over stops: the kind of each stop, its meaning, and how the thread goes on.
#include "tracer.h"

#include "base/handed_on.h"
#include "other_tracers.h"
#include "recorder/diagnostics.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <cerrno>
#include <fstream>
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
  bool asksForTheEnd =
      signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
  // Once the command has ended, the signal ends the recording, not the processes left behind.
  if (commandStatus && asksForTheEnd)
    endRecording(/*isOnPurpose=*/false);
  else
    handOn(info);
}

void Tracer::handOn(const siginfo_t &info) {
  if (!reaches_the_program(&info))
    for (pid_t process : commandStatus ? eldestProcesses() : std::vector<pid_t>{command})
      hand_on(process, &info);
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

/// The traced processes that no traced process has started: the remains of a command that made
/// itself a daemon.
std::vector<pid_t> Tracer::eldestProcesses() const {
  std::vector<pid_t> eldest;
  for (const auto &[id, thread] : threads) {
    std::ifstream status("/proc/" + std::to_string(id) + "/status");
    pid_t parent = 0;
    for (std::string field; parent == 0 && status >> field;)
      if (field == "PPid:")
        status >> parent;
    if (processOf(id) == id && !threads.contains(parent))
      eldest.push_back(id);
  }
  return eldest;
}

void Tracer::changed(pid_t id, int status) {
  if (!WIFSTOPPED(status)) {
    unclaimed.erase(id);
    forget(id);
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
    if (signal == SIGTRAP || isEnding || leaving.contains(id)) {
      handOnContinue();
      return resume(id);
    }
    return groupStopped(id, signal);
  default:
    if (signal == SIGTRAP)
      return trapped(id, thread, wasEnteringTrapHandler);
    if (signal == SIGCHLD)
      noteUntracedEnd(id);
    if (signal != (SIGTRAP | 0x80))
      return resume(id, signal);
    if (thread.space && !isEnding)
      loading.systemCall(id, thread.space, thread.call);
    if (thread.followsCalls && !isEnding)
      if (auto process = processToLetGo(id))
        return letGo(*process, id);
    return resume(id);
  }
}

/// Notes that a breakpoint of ours has ended a child that was made untraceable. A tracer learns of
/// such a child only by its end.
void Tracer::noteUntracedEnd(pid_t parent) {
  siginfo_t info;
  if (ptrace(PTRACE_GETSIGINFO, parent, nullptr, &info) == 0 && threads[parent].space &&
      (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) && info.si_status == SIGTRAP &&
      !everTraced.contains(info.si_pid))
    noteOnce(threads[parent].space->recordedProgram().path +
             ": starts a process that cannot be traced (CLONE_UNTRACED) and has ended at a "
             "breakpoint: end the recording before that, with --until or --for");
}

/// Whether the program ignores a SIGTRAP that a process has sent, or did before a breakpoint of
/// ours.
static bool isTrapIgnored(pid_t id, TrapHistory &history, std::optional<int> &interruption) {
  TrapAction present = presentTrapAction(id);
  history.wasHandled |= present == TrapAction::handled;
  return present == TrapAction::standard && !history.wasHandled &&
         (history.wasIgnored || wasTrapActionSet(id, interruption));
}

void Tracer::executed(pid_t id) {
  // The thread that called exec has taken over the id of its process.
  unsigned long formerId = id;
  ptrace(PTRACE_GETEVENTMSG, id, nullptr, &formerId);
  if (formerId != unsigned(id))
    forget(formerId);
  leaving.erase(id);
  Thread &thread = threads[id];
  const std::string formerRole = thread.space ? thread.space->role() : "";
  thread = {};
  if (!isEnding)
    thread.space = loading.execute(id, formerRole);
  thread.followsCalls = thread.space && mayTrace(thread.space->recordedProgram());
  thread.call.isLoaders = thread.space && thread.space->recordedProgram().isLoader();
  thread.traps = std::make_shared<TrapHistory>();
  thread.traps->wasIgnored = presentTrapAction(id) == TrapAction::ignored;
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
  everTraced.insert(child);
  const Thread &old = threads[parent];
  std::shared_ptr<AddressSpace> space = old.space;
  std::shared_ptr<TrapHistory> traps = old.traps;
  if (space && !shareMemory(parent, child, event)) {
    space = space->fork(child);
    traps = std::make_shared<TrapHistory>(*traps);
  }
  if (auto found = leaving.find(parent);
      found != leaving.end() && processOf(child) == processOf(parent))
    leaving.emplace(child, found->second);
  Thread &thread = threads[child];
  thread.followsCalls = old.followsCalls;
  thread.space = std::move(space);
  thread.traps = std::move(traps);
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
        if (std::exchange(thread.call.isLoaders, false))
          thread.followsCalls = mayTrace(thread.space->recordedProgram());
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
  std::optional<int> interruption;
  if (info.si_code <= 0 && isTrapIgnored(id, *thread.traps, interruption))
    return resume(id);
  if (interruption) { // the signal comes again
    syscall(SYS_tkill, id, SIGTRAP);
    return changed(id, *interruption);
  }
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
    return info.si_signo == SIGTRAP && info.si_code == arch::breakpointSignalCode;
  });
}

void Tracer::resume(pid_t id, int signal) {
  const Thread &thread = threads[id];
  if ((isEnding || leaving.contains(id)) && !hasPendingTrap(id) &&
      (!thread.space || thread.space->removeBreakpoints(id))) {
    ptrace(PTRACE_DETACH, id, nullptr, signal);
    forget(id);
    return;
  }
  if (auto found = leaving.find(id);
      found != leaving.end() && found->second != id && !hasPendingTrap(id)) {
    pid_t held = found->second; // it must not wait for ever
    leaving.erase(found);
    release(held);
  }
  bool followsCalls = loading.followsLibraries() || thread.followsCalls || thread.call.isLoaders;
  ptrace(followsCalls ? PTRACE_SYSCALL : PTRACE_CONT, id, nullptr, signal);
}

/// Ends the recording of one process. `held` is the thread whose system call needs that: it stays
/// where it is until all others of the process are gone.
void Tracer::letGo(pid_t process, pid_t held) {
  for (const auto &[id, thread] : threads)
    if (processOf(id) == process) {
      leaving.emplace(id, held);
      if (id != held)
        ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
    }
  release(held);
}

void Tracer::release(pid_t held) {
  bool isLast = llvm::none_of(
      leaving, [&](auto &entry) { return entry.second == held && entry.first != held; });
  if (isLast && threads.contains(held))
    resume(held);
}

/// Removes a thread that has ended, or is not ours any more.
void Tracer::forget(pid_t id) {
  threads.erase(id);
  auto found = leaving.find(id);
  if (found == leaving.end())
    return;
  pid_t held = found->second;
  leaving.erase(found);
  if (held != id)
    release(held);
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
