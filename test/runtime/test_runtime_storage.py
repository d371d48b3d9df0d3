"""The trace file: it grows, and whatever goes wrong with it, the program runs on unaffected."""

import errno
import os
import platform
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from frontload.base.errors import Failure
from frontload.profile import trace
from killed import at_call, calls_of
from runtime_trace import build_id, decode, many_functions

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
FALLOCATE, FTRUNCATE, OPENAT = {
    "x86_64": (285, 77, 257), "aarch64": (47, 46, 56)}[platform.machine()]
ENDS = " (later first touches are only counted)\n"
# By which the runtime makes a trace and lets it grow.
GROWS = ("openat", "ftruncate", "fallocate", "madvise", "mmap", "write")
# What programs/many.c may do in the middle, and why the file cannot be opened again by its path.
LOCKED_OUT = [("deny", "Operation not permitted"), ("descriptors", "Too many open files"),
              ("user", "Permission denied"), ("replace", "another file has its name now")]


def called(count=30000):
    """The functions of programs/many.c, in the order in which it calls them."""
    return ["main", *(f"f{n}" for n in range(10000, 10000 + count))]


def check_prefix(trace):
    """The earliest are there, in order; the rest is counted."""
    names = trace.names()
    assert names == called()[:len(names)]
    assert trace.dropped == len(called()) - len(names) > 0
    return len(names)


def what_is_left(path):
    """How many first touches the package reads of a trace, which must be the earliest; or what it
    says of a file that is none."""
    try:
        read = trace.read(path)
    except Failure as refusal:
        return str(refusal).removeprefix(f"{path}: ")
    found = decode(path)
    assert list(read.addresses) == [event.address for event in found.events]
    assert found.names() == called()[:len(found.events)]
    return len(found.events)


def run_unrecorded(run, program, pattern, **options):
    """Runs a program that cannot be recorded; returns the one line that it must say."""
    result = run(program, code=7, env={**os.environ, "FRONTLOAD_TRACE": str(pattern)}, **options)
    assert result.stdout == "unaffected\n"
    assert result.stderr.endswith(" (the program runs unrecorded)\n")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def without_reserve(deny):
    """A command prefix under which a trace has no reserve and grows by its path at once."""
    return deny(FTRUNCATE, errno.EPERM)


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


def test_growth_by_path(many, record, without_reserve):
    """The same where there is no reserve."""
    recording = record(*without_reserve, many, code=7)
    assert recording.only.names() == called() and recording.only.dropped == 0
    assert recording.result.stdout == "3\n"


def test_growth_with_closed_descriptors(many, record, without_reserve):
    """The trace grows the same when a program has closed 0, 1 and 2."""
    assert record(*without_reserve, many, "quiet", code=7).only.names() == called()


def test_never_a_standard_descriptor(many, record, deny, without_reserve):
    """Where 0, 1 and 2 are closed, the trace is not even opened as one of them while it is set up
    and grown: what another thread writes there would be in it."""
    def close_all():
        for fd in range(3):
            os.close(fd)

    trace = record(*without_reserve, *deny(FALLOCATE, errno.EIO, limit=3), many, code=7,
                   preexec_fn=close_all, capture_output=False).only
    assert trace.names() == called() and trace.dropped == 0


def test_growth_without_fallocate(many, record, deny, without_reserve):
    """On a file system without fallocate, zeros are appended instead."""
    trace = record(*without_reserve, *deny(FALLOCATE, errno.EOPNOTSUPP), many, code=7).only
    assert trace.names() == called() and trace.dropped == 0


@pytest.mark.parametrize("reserved", [True, False])
@pytest.mark.parametrize("mode, reason", LOCKED_OUT)
def test_locked_out(many, record, without_reserve, traces, mode, reason, reserved):
    """A program that forbids itself to open files, has no descriptor left, becomes another user, or
    whose trace was moved away, still has its start recorded: for that there is a reserve. Where
    there can be none, what is recorded stays, the rest is counted, and one line says why."""
    if mode == "user" and os.geteuid() != 0:
        pytest.skip("needs root")
    prefix = [] if reserved else without_reserve
    recording = record(*prefix, many, mode, traces / "trace", pattern="trace", code=7,
                       skip="trace" if mode == "replace" else None)
    if mode == "replace":
        assert (traces / "trace").read_text() == "mine"
    if reserved:
        assert (recording.only.names(), recording.result.stderr) == (called(), "")
        assert recording.only.dropped == 0
    else:
        assert check_prefix(recording.only) > 4000
        assert recording.result.stderr == (
            f"frontload-rt: warning: {traces}/trace: the trace ends here: {reason}{ENDS}")


@pytest.mark.parametrize(("way", "step"), [("reserve", 1), ("path", 1), ("zeros", 13)])
def test_killed_while_it_grows(many, run, strace, deny, without_reserve, traces, way, step):
    """A program that is killed at a call by which its trace is made or grows leaves the earliest of
    its first touches, or a file that is refused."""
    path = traces / "t"
    prefix = {"reserve": [], "path": without_reserve,
              "zeros": [*without_reserve, *deny(FALLOCATE, errno.EOPNOTSUPP)]}[way]
    environment = {**os.environ, "FRONTLOAD_TRACE": str(path)}
    calls = calls_of(strace, traces / "log", GROWS, *prefix, many, check=False,
                     env=environment)
    first = next(place for place, (*_, text) in enumerate(calls) if str(path) in text)
    left = []
    for name, number, _ in calls[first::step]:
        path.unlink(missing_ok=True)
        run(*at_call(strace, name, number), *prefix, many, code=-signal.SIGKILL, env=environment)
        left.append(what_is_left(path) if path.exists() else "nothing")
    assert left[0] == "nothing" and "not a trace: wrong magic (at byte 0)" in left
    touches = [each for each in left if isinstance(each, int)]
    assert touches == sorted(touches) and len(set(touches)) >= 3 and touches[-1] == len(called())


def test_reserve_takes_no_room(cc, record):
    """Of the reserve there is nothing on the disk."""
    (path,) = record(cc(SMALL), code=7).traces
    assert path.stat().st_size > 1 << 20 and path.stat().st_blocks * 512 <= 2 * FIRST_CHUNK


def test_beyond_the_reserve(cc, run, traces):
    """A trace grows beyond its reserve: a million functions, each once and in order."""
    program = cc("""
        __asm__(".globl big; .type big, @function; big: .skip 1000000; .size big, . - big");
        void __cyg_profile_func_enter(void *, void *);
        extern char big[];
        NOT_RECORDED int main(void) {
          for (int i = 0; i < 1000000; ++i)
            __cyg_profile_func_enter(big + i, 0);
          return 0;
        }""")
    environment = {**os.environ, "FRONTLOAD_TRACE": str(traces / "t")}
    assert run(program, env=environment).stderr == ""
    addresses = many_functions(traces / "t")["word"]
    assert np.array_equal(addresses - addresses[0], np.arange(1000000))


def limit_file_size(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_file_size_limit(many, record):
    """A limit on file sizes ends the growth, and not, by its signal, the program."""
    recording = record(many, code=7, preexec_fn=limit_file_size(FIRST_CHUNK))
    assert check_prefix(recording.only) > 4000
    assert recording.result.stderr.endswith(f": the trace ends here: File too large{ENDS}")


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
    assert check_prefix(recording.only) > 4000 and recording.result.stderr.count("\n") == 1
    assert recording.result.stderr.endswith(
        f": the trace ends here: the disk or its quota is full{ENDS}")


def test_read_only(cc, run, tmpfs):
    """A read-only file system."""
    line = run_unrecorded(run, cc(SMALL), tmpfs("ro") / "t")
    assert "/t: cannot create the trace: Read-only file system (" in line


def test_folder_without_write_permission(cc, root, run, tmp_path):
    """A user who may not write into the folder: one line, and no file."""
    with tempfile.TemporaryDirectory() as name:  # which every user reaches
        folder = Path(name)
        folder.chmod(0o755)
        program = shutil.copy(cc(SMALL), folder / "program")
        result = run("setpriv", "--reuid=65534", "--clear-groups", program, code=7,
                     env={**os.environ, "FRONTLOAD_TRACE": f"{folder}/t"})
        assert result.stdout == "unaffected\n"
        assert result.stderr == (f"frontload-rt: warning: {folder}/t: cannot create the trace: "
                                 "Permission denied (the program runs unrecorded)\n")
        assert not (folder / "t").exists()


def test_quota_refuses_the_trace(cc, run, deny, traces):
    """A quota that is used up at the start, as the kernel reports it: one line, no file."""
    result = run(*deny(FALLOCATE, errno.EDQUOT), cc(SMALL), code=7,
                 env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/t"})
    assert result.stderr == (f"frontload-rt: warning: {traces}/t: cannot create the trace: Disk "
                             "quota exceeded (the program runs unrecorded)\n")
    assert not list(traces.iterdir())


def test_quota_used_up(cc, run, quota):
    """One line, no file."""
    folder = quota(64, full=True)
    result = run(cc(SMALL), code=7, env={**os.environ, "FRONTLOAD_TRACE": f"{folder}/t"})
    assert "/t: cannot create the trace: Disk quota exceeded" in result.stderr
    assert [file.name for file in folder.iterdir()] == ["zeros"]


def test_path_too_long_by_its_pid(cc, run, tmp_path):
    """A path is not cut where there is no more room for it, or another file would be made."""
    program, folder = cc(SMALL), tmp_path / "traces"
    folder.mkdir()
    pattern = (f"{folder}/" + "./" * 2048)[:4090].rstrip(".").ljust(4092, "x") + "-%p"
    assert run_unrecorded(run, program, pattern).endswith(
        ": cannot create the trace: File name too long (the program runs unrecorded)\n")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("kilobytes", [100, 400])
def test_quota(many, run, quota, kilobytes):
    """A quota is used up while the trace grows: as with a full disk. This file system writes a page
    to a new place each time, and one that it has written may have no room any more."""
    folder = quota(kilobytes)
    result = run(many, code=7, env={**os.environ, "FRONTLOAD_TRACE": f"{folder}/t"})
    names = decode(folder / "t").names()
    assert 1000 < len(names) < len(called()) and names == called()[:len(names)]
    assert result.stderr.endswith(f": the trace ends here: the disk or its quota is full{ENDS}")
    assert result.stderr.count("\n") == 1


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
