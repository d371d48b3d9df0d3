// Asks /proc, and the kernel in the name of the program.
#include "trap_action.h"

#include "arch.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace frontload;

TrapAction frontload::presentTrapAction(pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  uint64_t ignored = 0, caught = 0;
  for (std::string field; status >> field;) {
    if (field == "SigIgn:")
      status >> std::hex >> ignored;
    else if (field == "SigCgt:")
      status >> std::hex >> caught;
  }
  constexpr uint64_t trap = uint64_t(1) << (SIGTRAP - 1);
  return ignored & trap  ? TrapAction::ignored
         : caught & trap ? TrapAction::handled
                         : TrapAction::standard;
}

namespace {
/// struct sigaction as the kernel has it.
struct Action {
  uint64_t handler, flags, restorer, mask;
};
constexpr size_t words = sizeof(Action) / sizeof(long);
} // namespace

bool frontload::wasTrapActionSet(pid_t thread, std::optional<int> &interruption) {
  arch::Registers registers;
  if (!arch::getRegisters(thread, registers) || !arch::isPastSystemCall(thread, registers))
    return false;
  uint64_t place = arch::unusedStack(registers) - sizeof(Action);
  std::array<long, words> memory, answer = {};
  for (size_t i = 0; i < words; ++i) {
    errno = 0;
    memory[i] = ptrace(PTRACE_PEEKDATA, thread, place + i * sizeof(long), nullptr);
    if (errno != 0)
      return false;
  }
  // No signal may come in between.
  uint64_t mask, all = ~uint64_t(0);
  if (ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask) != 0)
    return false;
  ptrace(PTRACE_SETSIGMASK, thread, sizeof all, &all);
  arch::setSystemCall(thread, registers, SYS_rt_sigaction, {SIGTRAP, 0, place, sizeof all});
  bool isDone = false;
  int status;
  if (ptrace(PTRACE_SINGLESTEP, thread, nullptr, nullptr) == 0 &&
      waitpid(thread, &status, __WALL) == thread) {
    isDone = WIFSTOPPED(status) && status >> 8 == SIGTRAP;
    if (!isDone)
      interruption = status;
    if (!WIFSTOPPED(status))
      return false;
  }
  for (size_t i = 0; i < words; ++i) {
    answer[i] = ptrace(PTRACE_PEEKDATA, thread, place + i * sizeof(long), nullptr);
    ptrace(PTRACE_POKEDATA, thread, place + i * sizeof(long), memory[i]);
  }
  arch::setRegisters(thread, registers);
  ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask);
  auto [handler, flags, restorer, ignored] = answer;
  return isDone && answer != memory && (flags != 0 || restorer != 0);
}
