/* Runs a program for which every disk is as quick as memory: what must not wait for a read waits
 * for it, and is told that it did not have to.
 *
 * usage: quick_disk PROGRAM [ARGUMENT...]
 */
#include <elf.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOWAIT = 8 }; /* RWF_NOWAIT */

#ifdef __x86_64__
#define NUMBER(registers) (registers).orig_rax
#define SIXTH(registers) (registers).r9
#else
#define NUMBER(registers) (registers).regs[8]
#define SIXTH(registers) (registers).regs[5]
#endif

int main(int argc, char **argv) {
  int status, signal = 0;
  const pid_t child = argc > 1 ? fork() : -1;
  if (child < 0)
    return 2;
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execv(argv[1], argv + 1);
    _exit(77);
  }
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    struct user_regs_struct registers;
    struct iovec all = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &all) == 0 &&
        NUMBER(registers) == SYS_preadv2 && SIXTH(registers) == NOWAIT) {
      SIXTH(registers) = 0;
      ptrace(PTRACE_SETREGSET, child, (void *)NT_PRSTATUS, &all);
    }
    ptrace(PTRACE_SYSCALL, child, NULL, (void *)(long)signal);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
