"""The trace file: it grows, and whatever goes wrong with it, the program runs on unaffected."""

import errno
import os
import platform
import resource
import subprocess
from pathlib import Path

import pytest
from runtime_trace import build_id, decode

SMALL = """
#include <stdio.h>
KEPT void touched(void) {}
int main(void) {
  touched();
  puts("unaffected");
  return 7;
}
"""
FIRST_CHUNK = 64 << 10
PROGRAMS = Path(__file__).parent / "programs"
FALLOCATE, OPENAT = {"x86_64": (285, 257), "aarch64": (47, 56)}[platform.machine()]


def called(count=30000):
    """The functions of programs/many.c, in the order in which it calls them."""
    return ["main", *(f"f{n}" for n in range(10000, 10000 + count))]


def check_prefix(trace):
    """The earliest are there, in order; the rest is counted."""
    names = trace.names()
    assert names == called()[:len(names)]
    assert trace.dropped == len(called()) - len(names) > 0
    return len(names)


def run_unrecorded(run, program, pattern, **options):
    """Runs a program that cannot be recorded; returns the one line that it must say."""
    result = run(program, code=7, env={**os.environ, "FRONTLOAD_TRACE": str(pattern)}, **options)
    assert result.stdout == "unaffected\n"
    assert result.stderr.endswith(" (the program runs unrecorded)\n")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def deny(tmp_path):
    """deny(number, error, limit): a command prefix under which one system call fails, if its first
    argument is below the limit."""
    helper = tmp_path / "deny"
    subprocess.run(["gcc", "-static", PROGRAMS / "deny.c", "-o", helper], check=True)

    def deny(number, error, limit=0xffffffff):
        return [helper, str(number), str(limit), str(error)]

    return deny


def test_growth(many, record):
    """30,000 functions, several chunks: all there, in order, once, and no descriptor stays open."""
    recording = record(many, code=7)
    assert recording.only.names() == called() and recording.only.dropped == 0
    assert recording.result.stdout == "3\n"


def test_growth_with_closed_descriptors(many, record):
    """The trace grows the same when a program has closed 0, 1 and 2."""
    assert record(many, "quiet", code=7).only.names() == called()


def test_never_a_standard_descriptor(many, record, deny):
    """Where 0, 1 and 2 are closed, the trace is not even opened as one of them while it is set up
    and grown: what another thread writes there would be in it."""
    def close_all():
        for fd in range(3):
            os.close(fd)

    trace = record(*deny(FALLOCATE, errno.EIO, limit=3), many, code=7, preexec_fn=close_all,
                   capture_output=False).only
    assert trace.names() == called() and trace.dropped == 0


def test_growth_without_fallocate(many, record, deny):
    """On a file system without fallocate, zeros are appended instead."""
    trace = record(*deny(FALLOCATE, errno.EOPNOTSUPP), many, code=7).only
    assert trace.names() == called() and trace.dropped == 0


def test_growth_denied(many, record):
    """A program that forbids itself to open files keeps what it has; the rest is counted."""
    recording = record(many, "deny", code=7)
    assert check_prefix(recording.only) > 4000 and recording.result.stderr == ""


def test_file_replaced(many, record, traces):
    """A trace that was moved away does not grow, and the file now in its place is not touched."""
    recording = record(many, "replace", traces / "trace", pattern="trace", skip="trace", code=7)
    assert (traces / "trace").read_text() == "mine"
    assert check_prefix(recording.only) > 4000


def limit_file_size(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_file_size_limit(many, record):
    """A limit on file sizes ends the growth, and not, by its signal, the program."""
    recording = record(many, code=7, preexec_fn=limit_file_size(FIRST_CHUNK))
    assert check_prefix(recording.only) > 4000 and recording.result.stderr == ""


def test_file_size_limit_too_small(cc, run, traces):
    """Below the first chunk there is no trace, one line, and no file left."""
    line = run_unrecorded(run, cc(SMALL), traces / "t", preexec_fn=limit_file_size(1000))
    assert line == (f"frontload-rt: warning: {traces}/t: cannot create the trace: File too large "
                    "(the program runs unrecorded)\n")
    assert not list(traces.iterdir())


@pytest.mark.parametrize("without_fallocate", [False, True])
def test_disk_full(many, cc, run, record, tmpfs, traces, deny, without_fallocate):
    """When the disk is full from the start there is no trace; when it fills up, what was recorded
    stays. Never a SIGBUS."""
    prefix = deny(FALLOCATE, errno.EOPNOTSUPP) if without_fallocate else []
    small = tmpfs("size=16k")
    result = run(*prefix, cc(SMALL), code=7, env={**os.environ, "FRONTLOAD_TRACE": f"{small}/t"})
    assert "/t: cannot create the trace: No space left on device" in result.stderr
    assert not list(small.iterdir())

    traces.rmdir()
    traces.symlink_to(tmpfs("size=400k"))
    recording = record(*prefix, many, code=7)
    assert check_prefix(recording.only) > 4000 and recording.result.stderr == ""


def test_read_only(cc, run, tmpfs):
    """A read-only file system."""
    line = run_unrecorded(run, cc(SMALL), tmpfs("ro") / "t")
    assert "/t: cannot create the trace: Read-only file system (" in line


def test_unusable_places(cc, run, tmp_path):
    """A missing folder, a file in place of a folder, a folder in place of a file, a component or a
    path that is too long: one line with the path and the reason."""
    program = cc(SMALL)
    long = tmp_path / ("x" * 300)
    for pattern, reason in (
            (tmp_path / "missing" / "t", "No such file or directory"),
            (program / "t", "Not a directory"),
            (tmp_path, "Is a directory"),
            (long, "File name too long")):
        before = sorted(tmp_path.rglob("*"))
        assert run_unrecorded(run, program, pattern) == (
            f"frontload-rt: warning: {pattern}: cannot create the trace: {reason} "
            "(the program runs unrecorded)\n")
        assert sorted(tmp_path.rglob("*")) == before
    for too_long in ("/" + "d/" * 2100, "%m" * 1000):
        assert run_unrecorded(run, program, too_long) == (
            "frontload-rt: warning: FRONTLOAD_TRACE: cannot create the trace: File name too long "
            "(the program runs unrecorded)\n")


def test_seccomp_denies_the_open(cc, run, deny, tmp_path):
    """Where opening files is forbidden there is one line, and the program runs."""
    program = cc(SMALL, "-static")
    result = run(*deny(OPENAT, errno.EPERM), program, code=7,
                 env={**os.environ, "FRONTLOAD_TRACE": str(tmp_path / "t")})
    assert result.stderr.count("\n") == 1
    assert "cannot create the trace: Operation not permitted" in result.stderr


def test_seccomp_without_wipe_on_fork(cc, run, deny, tmp_path):
    """Without MADV_WIPEONFORK a child could write into its parent's trace: refused."""
    madvise = {"x86_64": 28, "aarch64": 233}[platform.machine()]
    result = run(*deny(madvise, errno.EINVAL), cc(SMALL, "-static"), code=7,
                 env={**os.environ, "FRONTLOAD_TRACE": str(tmp_path / "t")})
    assert "Linux 4.14 or newer is needed" in result.stderr and not (tmp_path / "t").exists()


def test_chroot(cc, root, run, tmp_path):
    """In a chroot without /proc a static program is recorded under the name it was started by, and
    one whose folder is outside of it is told so."""
    program = cc(SMALL, "-static")
    result = run("chroot", tmp_path, "/program", code=7, cwd="/",
                 env={**os.environ, "FRONTLOAD_TRACE": "/%m.trace"})
    (module,) = decode(tmp_path / "program.trace").modules.values()
    assert (str(module.path), module.build_id) == ("/program", build_id(program))
    assert result.stderr == ""
    line = run("chroot", tmp_path, "/program", code=7,
               env={**os.environ, "FRONTLOAD_TRACE": f"{tmp_path}/t"}).stderr
    assert "cannot create the trace: No such file or directory" in line
