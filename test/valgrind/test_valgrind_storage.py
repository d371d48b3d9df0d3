"""Places in which a trace cannot be made, or not be finished: that is said once, with the reason,
and the program goes on with its own status."""

import resource
import signal
from functools import partial

import pytest
from frontload.base.errors import Failure
from frontload.profile import trace
from killed import at_call, calls_of
from trace_decoder import VALGRIND, decode

GOES_ON = """
    DATA my_data[1 << 12];
    static void beyond(int signal) { (void)signal; _exit(9); }
    int main(int argc, char **argv) {
      (void)argv;
      if (argc > 1)
        signal(SIGXFSZ, beyond);
      for (int i = 0; i < 1 << 12; i += 4)
        my_data[i] = 1;
      usleep(1000); /* signals reach a program when it makes a system call that may wait */
      return 7;
    }"""


@pytest.mark.parametrize("handles", [False, True], ids=["default", "with a handler"])
def test_file_size_limit(handles, compile, record):
    """The trace ends at the program's limit for file sizes: the earliest touches are in it, the
    others are counted, and the signal that comes with the limit is not the program's."""
    program = compile(GOES_ON)
    command = [program, *["handler"] * handles]
    whole = record("--", *command).trace
    path = program.parent / "traces/short"
    recording = record("-o", path, "--", *command, preexec_fn=partial(
        resource.setrlimit, resource.RLIMIT_FSIZE, (8000, 8000)))
    assert recording.status == 7
    assert recording.stderr == (f"frontload-valgrind: warning: {path}: the trace ends here: File "
                                "too large\n")
    short = decode(path, VALGRIND)
    assert 400 < len(short.events) < 500
    assert [e[:2] for e in short.events] == [e[:2] for e in whole.events[:len(short.events)]]
    assert len(short.events) + short.dropped == len(whole.events)


@pytest.mark.parametrize(("kind", "options", "said"), [
    ("full", "", "cannot write the trace: No space left on device"),
    ("no more files", ",nr_inodes=2", "cannot create the trace: No space left on device"),
    ("read-only", ",ro", "cannot create the trace: Read-only file system")])
def test_a_bad_disk(kind, options, said, program, record, tmpfs, tmp_path):
    """A disk that is full from the start, or read-only: where that can be known, the program is not
    started; else there is one warning, and no file."""
    folder = tmpfs(f"size=16k{options}", "program")
    if kind != "read-only":
        with open(folder / "zeros", "wb", buffering=0) as zeros:
            zeros.write(bytes(1 << 20))
    before = sorted(folder.iterdir())
    recording = record("-o", tmp_path / "%m/x", "--", program)
    assert recording.status == 5
    assert recording.stderr == f"frontload-valgrind: warning: {folder}/x: {said}\n"
    assert sorted(folder.iterdir()) == before
    recording = record("-o", folder / "x", "--", "touch", tmp_path / "started")
    assert recording.status == 125
    assert f"{folder}: cannot write traces there: {said.split(': ')[1]}\n" in recording.stderr
    assert not (tmp_path / "started").exists()
    assert sorted(folder.iterdir()) == before


def test_quota(compile, record, quota):
    """The same where not the disk is full, but a quota is used up, at the start or later. (Such a
    file system may have no room for the number of what was lost, either.)"""
    program = compile(GOES_ON)
    full = quota(64, full=True)
    recording = record("-o", full / "x", "--", program)
    assert recording.status == 125
    assert f"{full}: cannot write traces there: Disk quota exceeded\n" in recording.stderr
    assert [file.name for file in full.iterdir()] == ["zeros"]
    small = quota(24)
    recording = record("-o", small / "x", "--", program)
    assert recording.status == 7
    said, why = recording.stderr.split("the trace ends here: ")
    assert said == f"frontload-valgrind: warning: {small}/x: "
    assert why in ("Disk quota exceeded\n", "the disk or its quota is full\n")
    assert len(decode(small / "x", VALGRIND).events) > 100


@pytest.mark.parametrize("name", ["%m/" + "x" * 300, "%m" + "/." * 2100 + "/x"],
                         ids=["name", "path"])
def test_a_path_that_is_too_long(name, program, record, tmp_path):
    """It is said once, and no trace is made in another place that is a part of the path."""
    (tmp_path / "program").mkdir()
    recording = record("-o", f"{tmp_path}/{name}", "--", program)
    assert recording.status == 5 and recording.files == []
    assert recording.stderr.startswith(f"frontload-valgrind: warning: {tmp_path}/")
    assert recording.stderr.endswith(": cannot create the trace: File name too long\n")
    assert recording.stderr.count("\n") == 1
    assert not list((tmp_path / "program").iterdir())


def test_the_longest_path(program, record, tmp_path):
    """A trace gets any path that a file may have."""
    (tmp_path / "program").mkdir()
    room = 4095 - len(f"{tmp_path}/program/x")
    name = "%m" + "/." * (room // 2) + "/" * (room % 2) + "/x"
    recording = record("-o", f"{tmp_path}/{name}", "--", program)
    assert (recording.status, recording.stderr) == (5, "")
    assert [f.name for f in (tmp_path / "program").iterdir()] == ["x"]


def test_killed_while_it_writes(recorder, program, strace, record, run, tmp_path):
    """A process that is killed at a call by which its trace is made or written leaves the earliest
    of its touches, or a file that is refused."""
    path = tmp_path / "t"
    whole = record("--", program).trace.events
    command = [recorder, "-o", path, "--", program]
    calls = calls_of(strace, tmp_path / "log", ("?open", "openat", "write"), *command, check=False)
    first = next(place for place, (*_, text) in enumerate(calls) if f'"{path}", O_RDWR' in text)
    left = []
    for name, number, _ in (*calls[first:first + 3], *calls[first + 3::12]):
        path.unlink(missing_ok=True)
        run(*at_call(strace, name, number), *command, code=-signal.SIGKILL)
        try:
            found = list(trace.read(path).addresses)
        except Failure as refusal:
            left.append(str(refusal).removeprefix(f"{path}: "))
            continue
        assert found == [address for _, address, _ in whole][:len(found)]
        left.append(len(found))
    assert left[:3] == ["No such file or directory", "is empty", 0]
    assert left[2:] == sorted(left[2:]) and len(set(left[2:])) > 2
