"""The recorder is killed at any of its calls: the program dies with it or, if it ran before, goes
on; and what there is of a trace is right, or refused."""

import signal
import subprocess
from itertools import count

import pytest
from frontload.base.errors import Failure
from frontload.profile import trace
from killed import at_call
from traced import Binary, children


@pytest.fixture
def program(compile):
    return compile("signals.c", "-O1")


def first_touches(path):
    """What the package reads of a trace: the addresses, in order; or why it reads nothing."""
    try:
        return list(trace.read(path).addresses)
    except Failure as refusal:
        return str(refusal).removeprefix(f"{path}: ")


@pytest.mark.parametrize("name", ["ptrace", "pwrite64"])
def test_at_any_call(program, tracer, strace, record, spawn, tmp_path, name):
    """The program does not outlive it; the trace has the earliest first touches, or none."""
    whole = record("--", program, "wait", stdin=subprocess.DEVNULL).trace.addresses()
    left = []
    for number in count(1):
        folder = tmp_path / str(number)
        folder.mkdir()
        process = spawn(*at_call(strace, name, number, alone=True), tracer, "-o", folder / "%p",
                        "--", program, "wait", stdin=subprocess.PIPE)
        if process.stdout.readline() == "ready\n":
            break
        assert process.wait() == -signal.SIGKILL
        left.append([first_touches(path) for path in folder.iterdir()])
    # The call that is too late for that has not been made: the program still has a recorder.
    assert [children(recorder) for recorder in children(process.pid)], "it outlives its recorder"
    if name == "pwrite64":
        assert len(left) > len(Binary(program).names) and ["is empty"] in left and [[]] in left
    traces = [found for found in left if found not in ([], ["is empty"])]
    assert all(found == [whole[:len(found[0])]] for found in traces)
    assert left[0] == [] and {len(found[0]) for found in traces} >= {1, 2, 3}
