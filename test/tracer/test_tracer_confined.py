"""Kernels and containers that hide or forbid something: the recording works, or is refused with a
sentence."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from places import SANITIZED
from traced import Binary

YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for namespaces")
AS_NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups"


@pytest.fixture
def folder():
    """Where others may read and write. pytest's folders are their owner's alone, and each pytest
    that starts makes them so again."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.fixture
def confined(tracer, compile, run, folder):
    """confined(how, before, prefix, code): what the tracer says when a shell, in new namespaces,
    has run `before`. The trace is `t` in the folder."""
    program = shutil.copy(compile("order.c"), folder)

    def confined(how, before, prefix="", code=0):
        command = f"{prefix} {tracer} -o {folder}/t -- {program}"
        return run("unshare", *how, "sh", "-c", f"{before} && {command}", code=code)

    return confined


@needs_root
@pytest.mark.skipif(SANITIZED, reason="a sanitizer needs /proc")
def test_no_proc(confined):
    """Without /proc nothing is started."""
    result = confined(["-m"], "umount -l /proc", code=125)
    error, note = result.stderr.splitlines()
    assert error == "frontload-trace: error: /proc: cannot be used: No such file or directory"
    assert "mount -t proc" in note and result.stdout == ""


@needs_root
def test_proc_of_other_processes(confined):
    """A /proc in which the same numbers are other processes is not used: breakpoints would get into
    one of them."""
    result = confined(["-p", "-f"], "true", code=125)
    error, note = result.stderr.splitlines()
    assert error == "frontload-trace: error: /proc: belongs to another process namespace"
    assert "--mount-proc" in note and result.stdout == ""


@needs_root
@pytest.mark.parametrize("option", ["hidepid=1", "hidepid=2", "hidepid=ptraceable"])
def test_hidden_processes(option, confined, folder):
    """A /proc that hides the processes of others does not hide the user's own."""
    result = confined(["-m"], f"mount -t proc -o {option} proc /proc", AS_NOBODY, code=3)
    assert (result.stdout, result.stderr) == ("done\n", "")
    assert (folder / "t").exists()


@pytest.mark.parametrize(("scope", "prefix", "code"), [("1", AS_NOBODY, 3), ("2", AS_NOBODY, 125),
                                                       ("2", "", 3)])
def test_yama(scope, prefix, code, confined):
    """With Yama a command can be recorded by its user up to 1, by root up to 2. (At 3 nobody can,
    until the next boot; that is the same error.)"""
    if not os.access(YAMA, os.W_OK):
        pytest.skip(f"{YAMA} is not there, or cannot be written")
    before = YAMA.read_text()
    if before.strip() == "3":
        pytest.skip("Yama forbids ptrace until the next boot")
    try:
        YAMA.write_text(scope)
        result = confined(["-m"], "true", prefix, code)
    finally:
        YAMA.write_text(before)
    assert ("sysctl kernel.yama.ptrace_scope" in result.stderr) == (code == 125)


def test_child_that_nobody_traces(compile, record):
    """A child that is made with CLONE_UNTRACED keeps the breakpoints and ends at the first. That
    is said, with a remedy; the rest is recorded."""
    program = compile(r"""
        #define _GNU_SOURCE
        #include <sched.h>
        #include <signal.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void in_child(void) { __asm__ volatile(""); }
        __attribute__((noinline)) void after(void) { __asm__ volatile(""); }
        int main(void) {
          int status;
          if (syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0) == 0) {
            in_child();
            _exit(0);
          }
          wait(&status);
          after();
          return 3;
        }""", "-O1", name="untraced")
    recording = record("--", program)
    assert recording.status == 3
    assert recording.stderr == (
        f"frontload-trace: note: {program}: starts a process that cannot be traced "
        "(CLONE_UNTRACED) and has ended at a breakpoint: end the recording before that, with "
        "--until or --for\n")
    assert "after" in Binary(program).named(recording.trace.addresses())
