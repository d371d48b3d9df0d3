"""Programs that forbid something to themselves: a filter of system calls that kills whoever opens a
file, another root folder, another user. What was recorded stays, and the program runs as without
the recorder."""

import os
import tempfile
from pathlib import Path

import pytest
from recorded import Binary
from trace_decoder import VALGRIND, decode

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
    #define _GNU_SOURCE
    #include <grp.h>
    #include <stddef.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define DATA __attribute__((aligned(16))) volatile int
    DATA my_before[4], my_after[4], my_child[4];
    static int enter(const char *root) {
      if (*root)
        return chroot(root) || chdir("/");
      return setgroups(0, NULL) || setgid(65534) || setuid(65534);
    }
    int main(int argc, char **argv) {
      (void)argc;
      my_before[0] = 1;
      if (enter(argv[1]))
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


OPENS = """
    #include <dlfcn.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
      (void)argc;
      if (chroot(argv[1]) || chdir("/"))
        return 1;
      void *library = dlopen("/libmy.so.1", RTLD_NOW);
      return library ? ((int (*)(void))dlsym(library, "my_function"))() : 2;
    }"""


@pytest.fixture
def other_root(compile, run, tmp_path):
    """other_root(has_proc): a folder with a library, and with /proc or without."""
    mounted = []

    def other_root(has_proc):
        if os.geteuid():
            pytest.skip("needs root, to change the root folder")
        compile("int my_function(void) { return 5; }", "-shared", "-fPIC", name="root/libmy.so.1")
        if has_proc:
            proc = tmp_path / "root/proc"
            proc.mkdir()
            if run("mount", "-t", "proc", "proc", proc, code=None).returncode:
                pytest.skip("/proc cannot be mounted here")
            mounted.append(proc)
        return tmp_path / "root"

    yield other_root
    for proc in mounted:
        run("umount", proc)


@pytest.mark.parametrize("has_proc", [False, True], ids=["without proc", "with proc"])
@pytest.mark.parametrize("name", ["by name", "by path"])
def test_a_library_in_another_root(name, has_proc, other_root, compile, record):
    """A library that is opened there is recorded. Without /proc, in which the kernel says which
    file is mapped, it is recorded if --module gives its path from outside, and else that is said.
    """
    program, root = compile(OPENS, "-ldl"), other_root(has_proc)
    library = root / "libmy.so.1"
    recording = record(f"--module={library if name == 'by path' else 'libmy'}", "--", program, root)
    assert recording.status == 5
    modules = {m.path: m.build_id for m in recording.trace.modules.values() if not m.is_main}
    if name == "by name" and not has_proc:
        assert modules == {}
        assert recording.stderr == (
            "frontload-valgrind: warning: --module=libmy: not seen: code was mapped without /proc, "
            "which tells from which file\n")
    else:
        path = "/libmy.so.1" if has_proc else str(library)
        assert (modules, recording.stderr) == ({path: Binary(library).build_id}, "")
        (number,) = [n for n, m in recording.trace.modules.items() if not m.is_main]
        assert Binary(library)["my_function"] in [
            address for module, address, _ in recording.trace.events if module == number]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
@pytest.mark.parametrize("mode", [0o755, 0o1777], ids=["of root alone", "of all"])
def test_another_user(mode, compile, record, tmp_path):
    """A program that gives up its rights is recorded to its end. A child that it forks then has no
    trace where the other user may not make one, runs on, and says what to do; which helps."""
    program = compile(ENTERS)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # which all may enter
        os.chmod(folder, mode)
        recording = record("-o", f"{folder}/%m.%p.fltrace", "--", program, "")
        traces = sorted((decode(file, VALGRIND) for file in Path(folder).iterdir()),
                        key=lambda trace: trace.pid)
    assert recording.status == 5
    found = [[name for name in Binary(program).touches(trace) if "+" in name] for trace in traces]
    children = [["my_child+0"]] * 2 if mode == 0o1777 else []
    assert found == [["my_before+0", "my_after+0"], *children]
    lines = recording.stderr.splitlines()
    assert len(lines) == 2 - len(children)
    assert all(line.startswith(f"frontload-valgrind: warning: {folder}/program.") and line.endswith(
        ": permission denied: the program runs as a user that cannot write into this folder (chmod "
        "1777)") for line in lines)
