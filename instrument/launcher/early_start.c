/* Runs a command with a prefetch list before libc is initialized. That initialization is most of
 * frontload-run's cost when all is in memory: glibc queries the processor some thirty times, which
 * takes 0.25 ms in a virtual machine. The exec of a program without libc costs 0.05 ms.
 *
 * The linker makes frontload_run_start the entry of frontload-run. main() handles and reports all
 * other cases: other options, an unusable list, a start that is to be watched, no command. */
#include "base/execute.h"
#include "base/text.h"
#include "prefetch/learnt_list.h"
#include "prefetch/prefetch_list.h"
#include "unmarked_front.h"

#include <stdbool.h>

/* Tells main() that there is no need to ask: the command could not be run, or is to be watched. */
bool listWasAskedFor;

/* `stack` is what the kernel gives a program: argc, argv, NULL, the environment, NULL. */
__attribute__((used, visibility("hidden"))) void frontload_run_early(long *stack) {
  char **argument = (char **)(stack + 2);
  char **environment = (char **)(stack + 1) + *stack + 1;
  struct learnt_list learnt;
  bool learns = false;
  const char *path = NULL, *value;
  const struct device_kind *device = NULL;
  if (*stack < 2)
    return;
  for (; *argument && **argument == '-'; ++argument) {
    if (same_string(*argument, "--")) {
      ++argument;
      break;
    }
    if ((value = after(*argument, "--files=")))
      path = value;
    else if (same_string(*argument, "--learn"))
      learns = true;
    else if (!(value = after(*argument, "--device=")) || !(device = device_kind_named(value)))
      return;
  }
  const char *folders = value_of(environment, "PATH=");
  if (!*argument || !folders)
    return;
  if (learns) {
    char found[PATH_MAX];
    const char *program = find_command(*argument, folders, found);
    if (!program || !find_learnt_list(&learnt, program, environment))
      return;
    const enum learnt state = look_at_learnt_list(&learnt);
    if (state == TO_ASK_FOR) {
      struct front front;
      prefetch_unmarked(program, &front);
      prefetch_list_ask_apart(learnt.path, device, NULL);
      listWasAskedFor = true;
    }
    if (state != LEARNT)
      return;
  } else if (path) {
    const int resident = prefetch_list_is_resident(path, NULL);
    if (resident < 0)
      return;
    if (!resident)
      prefetch_list_ask_apart(path, device, NULL);
  } else
    return;
  execute_command(argument, environment, folders);
  listWasAskedFor = true;
}

/* Keeps the register that the kernel or the dynamic linker has set for libc's _start. */
#if defined(__x86_64__)
#define CALL_EARLY                                                                                 \
  "  endbr64\n"                                                                                    \
  "  mov %rdx, %r12\n"                                                                             \
  "  mov %rsp, %rdi\n"                                                                             \
  "  call frontload_run_early\n"                                                                   \
  "  mov %r12, %rdx\n"                                                                             \
  "  jmp _start\n"
#elif defined(__aarch64__)
#define CALL_EARLY                                                                                 \
  "  hint #34\n" /* bti c */                                                                       \
  "  mov x19, x0\n"                                                                                \
  "  mov x0, sp\n"                                                                                 \
  "  bl frontload_run_early\n"                                                                     \
  "  mov x0, x19\n"                                                                                \
  "  b _start\n"
#elif defined(__riscv)
/* The linker may have made addresses relative to gp, which libc's _start would set. */
#define CALL_EARLY                                                                                 \
  ".option push\n"                                                                                 \
  ".option norelax\n"                                                                              \
  "  lla gp, __global_pointer$\n"                                                                  \
  ".option pop\n"                                                                                  \
  "  mv s1, a0\n"                                                                                  \
  "  mv a0, sp\n"                                                                                  \
  "  call frontload_run_early\n"                                                                   \
  "  mv a0, s1\n"                                                                                  \
  "  tail _start\n"
#endif
__asm__(".text\n"
        ".globl frontload_run_start\n"
        ".hidden frontload_run_start\n"
        ".type frontload_run_start, %function\n"
        "frontload_run_start:\n" CALL_EARLY ".size frontload_run_start, . - frontload_run_start\n");
