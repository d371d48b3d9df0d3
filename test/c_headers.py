"""What C programs of the recorders' tests begin with."""

HEADERS = "".join(f"#include <{name}.h>\n" for name in (
    "dlfcn", "errno", "fcntl", "link", "pthread", "sched", "signal", "spawn", "stddef", "stdint",
    "stdio", "stdlib", "string", "sys/mman", "sys/prctl", "sys/ptrace", "sys/resource",
    "sys/syscall", "sys/wait", "unistd"))
# filter_open(action): what becomes from now on of a process that opens a file.
FILTER_OPEN = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#ifndef SYS_open
#define SYS_open SYS_openat
#endif
static int filter_open(unsigned action) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
"""
