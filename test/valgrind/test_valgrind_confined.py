"""Programs that forbid something to themselves: a filter of system calls that kills whoever opens a
file, another root folder, another user. What was recorded stays, and the program runs as without
the recorder."""

import os
import tempfile
from pathlib import Path

import pytest
from abilities import needs
from c_headers import FILTER_OPEN
from recorded import Binary
from trace_decoder import VALGRIND, decode

# Two children, after confine(), end with 5, and then the program.
CONFINED = """
    DATA my_before[4], my_after[4], my_child[4];
    int main(int argc, char **argv) {
      my_before[0] = 1;
      if (confine(argv[argc - 1]))
        return 1;
      my_after[0] = 1;
      int status = 0;
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
FILTERS = FILTER_OPEN + """
    static int confine(const char *unused) {
      (void)unused;
      return filter_open(SECCOMP_RET_KILL_PROCESS);
    }"""
ENTERS = """
    static int confine(const char *root) { return chroot(root) || chdir("/"); }"""
BECOMES = """
    #include <grp.h>
    static int confine(const char *unused) {
      (void)unused;
      return setgroups(0, 0) || setgid(65534) || setuid(65534);
    }"""
OWN = ["my_before+0", "my_after+0"]


def test_a_filter_that_kills_who_opens_a_file(compile, record):
    """The program is recorded to its end. The children that it forks have no trace, for making one
    would kill them: they run on, and that is told once."""
    program = compile(FILTERS + CONFINED)
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (5, (
        "frontload-valgrind: warning: processes are not recorded that the program forks after it "
        "has filtered its system calls (seccomp)\n"))
    assert Binary(program).data(recording.trace) == OWN


@needs("chroot")
def test_another_root(compile, record, tmp_path):
    """A program in a root folder of its own is recorded to its end. The trace of a child is made
    where its name leads to from there."""
    program = compile(ENTERS + CONFINED)
    root = tmp_path / "root"
    place = root / str(tmp_path / "traces")[1:]
    place.mkdir(parents=True)
    recording = record("--", program, root)
    assert (recording.status, recording.stderr) == (5, "")
    assert Binary(program).data(recording.trace) == OWN
    assert len(list(place.iterdir())) == 2


@needs("chroot")
@pytest.mark.parametrize("name", ["by name", "by path"])
def test_a_library_in_another_root(name, compile, record, tmp_path):
    """A library that is opened where there is no /proc, in which the kernel says which file is
    mapped, is not recorded, which is said."""
    program = compile(ENTERS + """
        int main(int argc, char **argv) {
          if (confine(argv[argc - 1]))
            return 1;
          void *library = dlopen("/libmy.so.1", RTLD_NOW);
          return library ? ((int (*)(void))dlsym(library, "my_function"))() : 2;
        }""", "-ldl")
    library = compile("int my_function(void) { return 5; }", "-shared", "-fPIC",
                      name="root/libmy.so.1")
    module = library if name == "by path" else "libmy"
    recording = record(f"--module={module}", "--", program, library.parent)
    assert recording.status == 5
    assert all(module.is_main for module in recording.trace.modules.values())
    assert recording.stderr == (
        f"frontload-valgrind: warning: --module={module}: not seen: code was mapped without /proc, "
        "which tells from which file\n")


@needs("another-user")
@pytest.mark.parametrize("mode", [0o755, 0o1777], ids=["of root alone", "of all"])
def test_another_user(mode, compile, record):
    """A program that gives up its rights is recorded to its end. A child that it forks then has no
    trace where the other user may not make one, runs on, and says what to do; which helps."""
    program = compile(BECOMES + CONFINED)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # which all may enter
        os.chmod(folder, mode)
        recording = record("-o", f"{folder}/%m.%p.fltrace", "--", program)
        found = sorted(Binary(program).data(decode(file, VALGRIND))
                       for file in Path(folder).iterdir())
    assert recording.status == 5
    children = [["my_child+0"]] * 2 if mode == 0o1777 else []
    assert found == [OWN, *children]
    lines = recording.stderr.splitlines()
    assert len(lines) == 2 - len(children)
    assert all(line.startswith(f"frontload-valgrind: warning: {folder}/program.") and line.endswith(
        ": permission denied: the program runs as a user that cannot write into this folder (chmod "
        "1777)") for line in lines)
