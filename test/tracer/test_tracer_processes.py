"""Threads, child processes and execs: one trace per address space, every function once in each."""

import pytest
from frontload.profile import format as profile
from places import ALL
from traced import Binary

SHARED = [f"shared_{i:02}" for i in range(100)]


@pytest.fixture
def program(compile):
    return compile("processes.c", "-O1", "-pthread")


@pytest.fixture
def recorded(program, record):
    """Each trace, by process id, and what of the program's own functions was entered."""
    binary = Binary(program)
    own = {"in_child", "after", "leaf", "main", *SHARED}

    def recorded(what):
        recording = record("--", program, what)
        assert (recording.status, recording.stderr) == (0, "")
        return [(trace, [n for n in binary.named(trace.addresses()) if n in own])
                for trace in recording.of(program)]

    return recorded


def test_order_of_threads(program, record):
    """Before a function that a thread was first to enter is all that it has entered before."""
    for _ in range(3):
        recording = record("--", program, "threads-apart")
        assert (recording.status, recording.stderr) == (0, "")
        trace = recording.trace
        names = Binary(program).named(trace.addresses())
        places = {name: place for place, name in enumerate(names) if name in SHARED}
        assert sorted(places) == SHARED
        firsts = dict(map(int, line.split()) for line in recording.stdout.splitlines())
        for name, (_, _, thread) in zip(names, trace.events, strict=True):
            if name in SHARED:
                first, own = firsts[thread], SHARED.index(name)
                earlier = [SHARED[(first + i) % 100] for i in range((own - first) % 100)]
                assert all(places[other] < places[name] for other in earlier)
        for file in recording.files:
            file.unlink()


def test_thread_outlives_first_thread(recorded):
    """When the first thread ends, the others are recorded on."""
    ((_, names),) = recorded("leader-exit")
    assert names == ["main", *SHARED]


def test_fork_among_threads(recorded):
    """Eight threads fork among breakpoints: no process dies of one, nothing is lost."""
    (_, names), *_ = recorded("threads-fork")
    assert names == ["main", *SHARED, "after"]


@pytest.mark.parametrize("what", ["vfork", "clone-vm"])
def test_shared_memory_is_one_trace(what, recorded):
    """A child in its parent's memory is in its parent's trace, until it executes a program."""
    (trace, names), *leaf = recorded(what)
    assert names == ["main", "in_child", "after"]
    assert len({thread for _, _, thread in trace.events}) == 2
    assert [n for _, n in leaf] == ([["main", "leaf"]] if what == "vfork" else [])


@pytest.mark.parametrize(("what", "found"), [
    ("silent-fork", [["main", "after"]]),  # a child that enters nothing leaves no file
    ("clone-vfork", [["main", "after", "in_child"], ["in_child"]])])  # its memory is a copy
def test_ways_to_start(what, found, recorded):
    """Each process that enters functions is recorded, however it was started."""
    assert [names for _, names in recorded(what)] == found


def test_exec_by_a_thread(recorded):
    """It goes on as the first thread; what all threads have entered before is kept."""
    traces = sorted(recorded("thread-exec"), key=lambda entry: "leaf" in entry[1])
    assert [names for _, names in traces] == [["main", "in_child"], ["main", "leaf"]]
    assert traces[0][0].pid == traces[1][0].pid


def test_thousand_processes_in_one_name(compile, record, frontload, tmp_path):
    """Very many processes have a file each, also without %p, and make one profile."""
    count = 1000 if ALL else 100
    program = compile("void f(void){} int main(void){ f(); return 0; }", "-static", name="tiny")
    script = f"for i in $(seq {count}); do {program} & done; wait"
    recording = record("-o", tmp_path / "traces/one", "--", "sh", "-c", script)
    traces = recording.of(program)
    assert recording.status == 0 and len({trace.pid for trace in traces}) == count
    assert len({tuple(trace.addresses()) for trace in traces}) == 1
    frontload("profile", *recording.files, "-o", tmp_path / "tiny.startup")
    runs = {name.name: touch.runs for name, touch in
            profile.read(tmp_path / "tiny.startup").in_order()}
    assert runs.items() >= {b"main": count, b"f": count}.items()
