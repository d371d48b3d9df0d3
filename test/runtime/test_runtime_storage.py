"""The trace file: it grows, and whatever goes wrong with it, the program runs on unaffected."""

import errno
import os
import signal

import abilities
import numpy as np
import pytest
from abilities import needs
from frontload.base.errors import Failure
from frontload.profile import trace
from instrumented import SMALL
from kernel_filter import (
    FALLOCATE,
    FTRUNCATE,
    MADVISE,
    OPENAT,
    filter_system_calls,
    limit_file_size,
)
from killed import at_call, calls_of
from runtime_trace import build_id, decode, many_touches, numbers_in

FIRST_CHUNK = 64 << 10
COUNT = 30000  # first touches of programs/many.c
ENDS = " (later first touches are only counted)\n"
FULL = f": the trace ends here: the disk or its quota is full{ENDS}"
# By which the runtime makes a trace and lets it grow.
GROWS = ("openat", "ftruncate", "fallocate", "madvise", "mmap", "write")
# Without these, a trace has no reserve and grows by its path at once; and then by zeros.
NO_RESERVE = (FTRUNCATE, errno.EPERM)
NO_FALLOCATE = (FALLOCATE, errno.EOPNOTSUPP)


def denied(*filters):
    """What to do in a process so that these system calls fail."""
    return lambda: [filter_system_calls(*each) for each in filters]


@pytest.fixture
def record_many(many, record):
    """How many first touches of programs/many.c are in its trace, and the recording."""

    def record_many(*arguments, **options):
        recording = record(many, *arguments, code=7, **options)
        (path,) = recording.traces
        numbers = numbers_in("big", many, many_touches(path))
        assert np.array_equal(numbers, np.arange(len(numbers)))
        assert len(numbers) + recording.only.dropped == COUNT
        return len(numbers), recording

    return record_many


@pytest.fixture
def run_unrecorded(cc, run_with):
    """run_unrecorded(trace): the one line that a program says that cannot be recorded there."""

    def run_unrecorded(trace, *flags, **options):
        result = run_with(trace, cc(SMALL, *flags), code=7, **options)
        assert result.stdout == "unaffected\n"
        assert result.stderr.endswith(" (the program runs unrecorded)\n")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return run_unrecorded


@pytest.mark.parametrize(("mode", "filters"), [
    ("", []), ("", [NO_RESERVE]), ("", [NO_RESERVE, NO_FALLOCATE]), ("quiet", [NO_RESERVE]),
    ("kill", [])], ids=["reserve", "path", "zeros", "closed descriptors", "killing filter"])
def test_growth(record_many, mode, filters):
    """30,000 first touches are all there, once and in order; no descriptor stays open."""
    count, recording = record_many(mode, preexec_fn=denied(*filters))
    assert (count, recording.result.stderr) == (COUNT, "")
    assert recording.result.stdout == "3\n" or mode == "quiet"


def test_never_a_standard_descriptor(record_many):
    """Not even meanwhile is the trace 0, 1 or 2, where another thread might write."""
    def prepare():
        denied(NO_RESERVE, (FALLOCATE, errno.EIO, 0, 3, True))()
        os.closerange(0, 3)

    assert record_many(preexec_fn=prepare, capture_output=False)[0] == COUNT


@pytest.mark.parametrize("reserved", [True, False])
@pytest.mark.parametrize(("mode", "reason"), [
    ("deny", "Operation not permitted"), ("descriptors", "Too many open files"),
    ("user", "Permission denied"), ("replace", "another file has its name now")])
def test_locked_out(record_many, traces, mode, reason, reserved):
    """A program that forbids itself to open files, has no descriptor left, becomes another user, or
    whose trace was moved away, still has its start recorded: for that there is a reserve. Where
    there can be none, what is recorded stays, the rest is counted, and one line says why."""
    if mode == "user":
        abilities.need("another-user")
    count, recording = record_many(
        mode, traces / "trace", pattern="trace", skip="trace" if mode == "replace" else None,
        preexec_fn=None if reserved else denied(NO_RESERVE))
    if mode == "replace":
        assert (traces / "trace").read_text() == "mine"
    if reserved:
        assert (count, recording.result.stderr) == (COUNT, "")
    else:
        assert 4000 < count < COUNT
        assert recording.result.stderr == (
            f"frontload-rt: warning: {traces}/trace: the trace ends here: {reason}{ENDS}")


def what_is_left(path, program):
    """How many first touches the package reads of a trace; or what it says of the file."""
    try:
        read = trace.read(path)
    except Failure as refusal:
        return str(refusal).removeprefix(f"{path}: ")
    touches = many_touches(path)
    assert list(read.addresses) == list(touches["word"] & (1 << 56) - 1)
    assert np.array_equal(numbers_in("big", program, touches), np.arange(len(touches)))
    return len(touches)


@pytest.mark.parametrize(("filters", "step"), [
    ([], 1), ([NO_RESERVE], 1), ([NO_RESERVE, NO_FALLOCATE], 13)], ids=["reserve", "path", "zeros"])
def test_killed_while_it_grows(many, run_with, strace, traces, filters, step):
    """A program killed at any call leaves its earliest touches, or a file that is refused."""
    path, prepare = traces / "t", denied(*filters)
    calls = calls_of(strace, traces / "log", GROWS, many, check=False, preexec_fn=prepare,
                     env={**os.environ, "FRONTLOAD_TRACE": str(path)})
    first = next(place for place, (*_, text) in enumerate(calls) if str(path) in text)
    left = []
    for name, number, _ in calls[first::step]:
        path.unlink(missing_ok=True)
        run_with(path, *at_call(strace, name, number), many, code=-signal.SIGKILL,
                 preexec_fn=prepare)
        left.append(what_is_left(path, many) if path.exists() else "nothing")
    assert left[0] == "nothing" and "not a trace: wrong magic (at byte 0)" in left
    touches = [each for each in left if isinstance(each, int)]
    assert touches == sorted(touches) and len(set(touches)) >= 3 and touches[-1] == COUNT


def test_reserve_takes_no_room(cc, record):
    """Of the reserve there is nothing on the disk."""
    (path,) = record(cc(SMALL), code=7).traces
    assert path.stat().st_size > 1 << 20 and path.stat().st_blocks * 512 <= 2 * FIRST_CHUNK


def test_beyond_the_reserve(cc, run_with, traces):
    """A trace grows beyond its reserve: a million functions, each once and in order."""
    program = cc("""
        BIG(1000000)
        NOT_RECORDED int main(void) {
          for (int i = 0; i < 1000000; ++i)
            enter(i);
          return 0;
        }""")
    assert run_with(traces / "t", program).stderr == ""
    numbers = numbers_in("big", program, many_touches(traces / "t"))
    assert np.array_equal(numbers, np.arange(1000000))


def test_file_size_limit(record_many, run_unrecorded, traces):
    """A limit on file sizes ends the growth, and not, by its signal, the program."""
    line = run_unrecorded(traces / "t", preexec_fn=limit_file_size(1000))
    assert line == (f"frontload-rt: warning: {traces}/t: cannot create the trace: File too large "
                    "(the program runs unrecorded)\n")
    assert not list(traces.iterdir())

    count, recording = record_many(preexec_fn=limit_file_size(FIRST_CHUNK))
    assert 4000 < count < COUNT
    assert recording.result.stderr.endswith(f": the trace ends here: File too large{ENDS}")


@pytest.mark.parametrize("filters", [[], [NO_FALLOCATE]], ids=["fallocate", "zeros"])
def test_disk_full(record_many, run_unrecorded, tmpfs, traces, filters):
    """On a full disk there is no trace; when it fills up, what was recorded stays. No SIGBUS."""
    small = tmpfs("size=16k")
    line = run_unrecorded(small / "t", preexec_fn=denied(*filters))
    assert "/t: cannot create the trace: No space left on device" in line
    assert not list(small.iterdir())

    traces.rmdir()
    traces.symlink_to(tmpfs("size=400k", "traces on tmpfs"))
    count, recording = record_many(preexec_fn=denied(*filters))
    assert 4000 < count < COUNT and recording.result.stderr.count("\n") == 1
    assert recording.result.stderr.endswith(FULL)


def test_read_only(run_unrecorded, tmpfs):
    """A read-only file system."""
    line = run_unrecorded(tmpfs("ro") / "t")
    assert "/t: cannot create the trace: Read-only file system (" in line


@pytest.mark.parametrize("number, error, reason", [
    (FALLOCATE, errno.EDQUOT, "cannot create the trace: Disk quota exceeded"),
    (OPENAT, errno.EPERM, "cannot create the trace: Operation not permitted"),
    (MADVISE, errno.EINVAL, "Linux 4.14 or newer is needed")],  # a child would write into it
    ids=["quota", "open", "wipe-on-fork"])
def test_seccomp_denies_the_open(run_unrecorded, traces, number, error, reason):
    """What the kernel refuses while the trace is made is one line, and no file."""
    line = run_unrecorded(traces / "t", "-static", preexec_fn=denied((number, error)))
    assert reason in line and not list(traces.iterdir())


def test_path_too_long_by_its_pid(run_unrecorded, traces):
    """A path is not cut where there is no more room for it, or another file would be made."""
    pattern = (f"{traces}/" + "./" * 2048)[:4090].rstrip(".").ljust(4092, "x") + "-%p"
    assert run_unrecorded(pattern).endswith(
        ": cannot create the trace: File name too long (the program runs unrecorded)\n")
    assert not list(traces.iterdir())


@pytest.mark.parametrize("kilobytes", [100, 400])
def test_quota(many, run_with, run_unrecorded, quota, kilobytes):
    """A quota is used up at the start, or while the trace grows: as with a full disk. This file
    system writes a page to a new place each time, and one that it has written may have no room any
    more."""
    folder = quota(64, full=True)
    assert "/t: cannot create the trace: Disk quota exceeded" in run_unrecorded(folder / "t")
    assert [file.name for file in folder.iterdir()] == ["zeros"]

    folder = quota(kilobytes)
    result = run_with(folder / "t", many, code=7)
    numbers = numbers_in("big", many, many_touches(folder / "t"))
    assert 1000 < len(numbers) < COUNT and np.array_equal(numbers, np.arange(len(numbers)))
    assert result.stderr.endswith(FULL) and result.stderr.count("\n") == 1


def test_unusable_places(run_unrecorded, traces):
    """Where no file can be is one line with the path and the reason."""
    file = traces / "file"
    file.touch()
    for trace_, reason in (
            (traces / "missing" / "t", "No such file or directory"),
            (file / "t", "Not a directory"),
            (traces, "Is a directory"),
            (traces / ("x" * 300), "File name too long")):
        assert run_unrecorded(trace_) == (
            f"frontload-rt: warning: {trace_}: cannot create the trace: {reason} "
            "(the program runs unrecorded)\n")
        assert list(traces.iterdir()) == [file]
    for too_long in ("/" + "d/" * 2100, "%m" * 1000):
        assert run_unrecorded(too_long) == (
            "frontload-rt: warning: FRONTLOAD_TRACE: cannot create the trace: File name too long "
            "(the program runs unrecorded)\n")


@needs("chroot")
def test_chroot(cc, run_with, tmp_path):
    """In a chroot without /proc, a static program is recorded by the name it was started by."""
    program = cc(SMALL, "-static")
    result = run_with("/%m.trace", "chroot", tmp_path, "/program", code=7, cwd="/")
    (module,) = decode(tmp_path / "program.trace").modules.values()
    assert module == ("/program", build_id(program), True)
    assert result.stderr == ""
