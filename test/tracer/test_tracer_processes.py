"""Threads, child processes and execs: one trace per address space, every function once in each."""

import pytest
from frontload.profile import format as profile
from places import ALL
from trace_decoder import decode
from traced import Binary

SHARED = [f"shared_{i:02}" for i in range(100)]


@pytest.fixture
def program(compile):
    return compile("processes.c", "-O1", "-pthread")


@pytest.fixture
def recorded(program, record):
    """Each trace, by process id, and what of the program's own functions was entered."""
    binary = Binary(program)
    own = {"before", "in_parent", "in_child", "in_grandchild", "in_both", "after", "leaf", "main",
           *SHARED}

    def recorded(what, *options, status=0):
        recording = record(*options, "--", program, what)
        assert (recording.status, recording.stderr) == (status, "")
        return [(trace, [n for n in binary.named(trace.addresses()) if n in own])
                for trace in recording.of(program)]

    return recorded


def test_threads_enter_once(recorded):
    """Eight threads enter the same functions at once: each is recorded once, none skipped."""
    ((trace, names),) = recorded("threads")
    assert names == ["main", *SHARED, "after"]
    assert {thread for _, _, thread in trace.events} != {trace.pid}


def test_order_of_threads(program, record):
    """Ten threads enter the same hundred functions, each from another one on. Each function is
    recorded once, and before a function that a thread was first to enter is all that this thread
    has entered before."""
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


def test_fork(recorded, tmp_path):
    """A forked child has a trace of its own, with what was not touched before the fork."""
    (parent, parent_names), (child, child_names), (grandchild, grandchild_names) = recorded("fork")
    for trace in (parent, child, grandchild):
        assert decode(tmp_path / f"traces/processes.{trace.pid}.fltrace") == trace
    assert parent_names == ["main", "before", "after", "in_parent", "in_both"]
    assert child_names == ["in_child", "in_both"]
    assert grandchild_names == ["in_grandchild"]
    assert len({parent.pid, child.pid, grandchild.pid}) == 3


def test_fork_among_threads(recorded):
    """Eight threads fork among breakpoints: no process dies of one, nothing is lost."""
    (_, names), *_ = recorded("threads-fork")
    assert names == ["main", *SHARED, "after"]


@pytest.mark.parametrize("what", ["vfork", "clone-vm"])
def test_shared_memory_is_one_trace(what, recorded):
    """A child that shares its parent's memory is recorded in the parent's trace, with its own id,
    until it executes a program. An exec that fails before that changes nothing."""
    (trace, names), *leaf = recorded(what)
    assert names == ["main", "in_child", "after"]
    assert len({thread for _, _, thread in trace.events}) == 2
    assert [n for _, n in leaf] == ([["main", "leaf"]] if what == "vfork" else [])


@pytest.mark.parametrize(("what", "found"), [
    ("silent-fork", [["main", "after"]]),  # a child that enters nothing leaves no file
    ("clone-vfork", [["main", "after", "in_child"], ["in_child"]]),  # its memory is a copy
    ("spawn", [["main", "after"], ["main", "leaf"]]),
    ("failed-spawn", [["main", "before", "after"]])])  # which is said to the parent
def test_ways_to_start(what, found, recorded):
    """Each process that enters functions is recorded, however it was started."""
    assert [names for _, names in recorded(what)] == found


@pytest.mark.parametrize(("what", "first"),
                         [("exec", ["main", "before", "after"]),
                          ("thread-exec", ["main", "in_child"])])
def test_exec(what, first, recorded):
    """What was recorded before an exec survives it; a failed one ends nothing."""
    traces = sorted(recorded(what), key=lambda entry: "leaf" in entry[1])
    assert [names for _, names in traces] == [first, ["main", "leaf"]]
    assert traces[0][0].pid == traces[1][0].pid


def test_daemon(recorded):
    """A process that outlives the command is recorded to its end; the status is the command's."""
    _, (_, child) = recorded("daemon", status=4)
    assert child == ["in_child"]


def test_thousand_processes(compile, record, frontload, tmp_path):
    """Very many processes, each its own trace, by one tracer, make one profile."""
    count = 1000 if ALL else 100
    program = compile("void f(void){} int main(void){ f(); return 0; }", "-static", name="tiny")
    recording = record("--", "sh", "-c", f"for i in $(seq {count}); do {program} & done; wait")
    assert recording.status == 0
    traces = recording.of(program)
    assert len({trace.pid for trace in traces}) == count
    assert len({tuple(trace.addresses()) for trace in traces}) == 1
    files = [tmp_path / f"traces/tiny.{trace.pid}.fltrace" for trace in traces]
    frontload("profile", *files, "-o", tmp_path / "tiny.startup")
    runs = {name.name: touch.runs for name, touch in
            profile.read(tmp_path / "tiny.startup").in_order()}
    assert runs.items() >= {b"main": count, b"f": count}.items()


def test_thousand_processes_in_one_name(compile, record, tmp_path):
    """Never two writers in one file: a pattern without %p still gives a file per process."""
    program = compile("int main(void){ return 0; }", name="tiny")
    script = f"for i in $(seq 50); do {program} & done; wait"
    recording = record("-o", tmp_path / "traces/one", "--", "sh", "-c", script)
    assert len({trace.pid for trace in recording.of(program)}) == 50
