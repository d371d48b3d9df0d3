"""Programs that forbid something to themselves: a filter of system calls that kills whoever opens a
file, another root folder. What was recorded stays, and the program runs as without the recorder."""

import os

import pytest
from recorded import Binary

FILTERS = """
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <stddef.h>
    #include <sys/prctl.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #ifndef __NR_open
    #define __NR_open __NR_openat
    #endif
    #define DATA __attribute__((aligned(16))) volatile int
    DATA my_before[4], my_after[4], my_child[4];
    static int filter(void) {
      struct sock_filter steps[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 1, 0),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_open, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
      return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
             prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    }
    int main(void) {
      my_before[0] = 1;
      if (filter())
        return 1;
      my_after[0] = 1;
      int status, sum = 0;
      for (int i = 0; i < 3; ++i) {
        if (fork() == 0) {
          my_child[0] = 1;
          _exit(i + 1);
        }
        if (wait(&status) < 0 || !WIFEXITED(status))
          return 2;
        sum += WEXITSTATUS(status);
      }
      return sum;
    }"""
TOLD = ("frontload-valgrind: warning: processes are not recorded that the program forks after it "
        "has filtered its system calls (seccomp)\n")


def test_a_filter_that_kills_who_opens_a_file(compile, record):
    """The program is recorded to its end. The children that it forks have no trace, for making one
    would kill them: they run on, and that is told once."""
    program = compile(FILTERS)
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (1 + 2 + 3, TOLD)
    assert [name for name in Binary(program).touches(recording.trace) if "+" in name] == [
        "my_before+0", "my_after+0"]


ENTERS = """
    #include <errno.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define DATA __attribute__((aligned(16))) volatile int
    DATA my_before[4], my_after[4], my_child[4];
    int main(int argc, char **argv) {
      (void)argc;
      my_before[0] = 1;
      if (chroot(argv[1]) || chdir("/"))
        return 1;
      my_after[0] = 1;
      int status;
      for (int i = 0; i < 2; ++i) {
        if (fork() == 0) {
          my_child[0] = 1;
          _exit(5);
        }
        if (wait(&status) < 0 || !WIFEXITED(status))
          return 2;
      }
      return WEXITSTATUS(status);
    }"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to change the root folder")
@pytest.mark.parametrize("has_place", [False, True], ids=["empty", "with the same folder"])
def test_another_root(has_place, compile, record, tmp_path):
    """A program in a root folder of its own is recorded to its end. The trace of a child is made
    where its name leads to from there; where that is nowhere, the child runs on, and says so."""
    program = compile(ENTERS)
    root = tmp_path / "root"
    place = root / str(tmp_path / "traces")[1:]
    (place if has_place else root).mkdir(parents=True)
    recording = record("--", program, root)
    assert recording.status == 5
    assert [name for name in Binary(program).touches(recording.trace) if "+" in name] == [
        "my_before+0", "my_after+0"]
    lines = recording.stderr.splitlines()
    if has_place:
        assert lines == [] and len(list(place.iterdir())) == 2
    else:
        assert len(lines) == 2 and list(root.iterdir()) == []
        assert all(line.startswith(f"frontload-valgrind: warning: {tmp_path}/traces/program.")
                   and line.endswith(": cannot create the trace: No such file or directory")
                   for line in lines)
