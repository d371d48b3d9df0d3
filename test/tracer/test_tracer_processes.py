"""Threads, child processes and execs: one trace per address space, every function once in each."""

import pytest
from frontload.profile import format as profile
from trace_decoder import decode
from traced import Binary

SHARED = [f"shared_{i:02}" for i in range(100)]


@pytest.fixture
def program(compile):
    return compile("processes.c", "-O1", "-pthread")


@pytest.fixture
def recorded(program, record):
    """recorded(what): for each trace, in order of process id, what of the program's own functions
    was entered."""
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
    """Eight threads enter the same hundred functions at once: each is recorded once, in an order
    that every thread could have seen, and nothing is skipped over or entered twice."""
    ((trace, names),) = recorded("threads")
    assert names == ["main", *SHARED, "after"]
    assert {thread for _, _, thread in trace.events} != {trace.pid}


def test_order_of_threads(program, record):
    """Ten threads enter the same hundred functions, each from another one on. Each function is
    recorded once, and before a function that a thread was first to enter is all that this thread
    has entered before."""
    for _ in range(10):
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
    """A forked child has a trace of its own, named by its pid, with what was not touched before the
    fork; the parent's trace misses nothing, has nothing of the child's, and nothing twice."""
    (parent, parent_names), (child, child_names), (grandchild, grandchild_names) = recorded("fork")
    for trace in (parent, child, grandchild):
        assert decode(tmp_path / f"traces/processes.{trace.pid}.fltrace") == trace
    assert parent_names == ["main", "before", "after", "in_parent", "in_both"]
    assert child_names == ["in_child", "in_both"]
    assert grandchild_names == ["in_grandchild"]
    assert len({parent.pid, child.pid, grandchild.pid}) == 3


def test_fork_that_touches_nothing(recorded):
    """A child that enters no new function leaves no file."""
    ((_, names),) = recorded("silent-fork")
    assert names == ["main", "after"]


def test_fork_among_threads(recorded):
    """Eight threads fork while the others run into breakpoints: no process dies of a breakpoint
    that was copied at the wrong moment, and the parent's trace is complete."""
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


def test_vfork_with_a_copy(recorded):
    """CLONE_VFORK without CLONE_VM: the memory is a copy, so the traces are two."""
    (_, parent), (_, child) = recorded("clone-vfork")
    assert (parent, child) == (["main", "after", "in_child"], ["in_child"])


def test_posix_spawn(recorded):
    """A program started by posix_spawn is recorded from its beginning."""
    (_, parent), (_, child) = recorded("spawn")
    assert (parent, child) == (["main", "after"], ["main", "leaf"])


def test_posix_spawn_of_nothing(recorded):
    """That there is no such program is said to the parent, which is recorded on."""
    ((_, names),) = recorded("failed-spawn")
    assert names == ["main", "before", "after"]


@pytest.mark.parametrize(("what", "first"),
                         [("exec", ["main", "before", "after"]),
                          ("thread-exec", ["main", "in_child"])])
def test_exec(what, first, recorded):
    """What was recorded before an exec survives, also when another thread calls it; a failed exec
    ends nothing; the new program has a trace of its own although the pid is the same."""
    traces = sorted(recorded(what), key=lambda entry: "leaf" in entry[1])
    assert [names for _, names in traces] == [first, ["main", "leaf"]]
    assert traces[0][0].pid == traces[1][0].pid


def test_daemon(recorded):
    """A process that outlives the command is recorded to its end; the status is the command's."""
    _, (_, child) = recorded("daemon", status=4)
    assert child == ["in_child"]


def test_thousand_processes(compile, record, frontload, tmp_path):
    """A thousand processes, each its own whole trace, by one tracer; they make one profile of a
    thousand runs."""
    program = compile("void f(void){} int main(void){ f(); return 0; }", "-static", name="tiny")
    recording = record("--", "sh", "-c", f"for i in $(seq 1000); do {program} & done; wait")
    assert recording.status == 0
    traces = recording.of(program)
    assert len({trace.pid for trace in traces}) == 1000
    assert len({tuple(trace.addresses()) for trace in traces}) == 1
    files = [tmp_path / f"traces/tiny.{trace.pid}.fltrace" for trace in traces]
    frontload("profile", *files, "-o", tmp_path / "tiny.startup")
    runs = {name.name: touch.runs for name, touch in
            profile.read(tmp_path / "tiny.startup").in_order()}
    assert runs.items() >= {b"main": 1000, b"f": 1000}.items()


def test_thousand_processes_in_one_name(compile, record, tmp_path):
    """Never two writers in one file: a pattern without %p still gives a file per process."""
    program = compile("int main(void){ return 0; }", name="tiny")
    script = f"for i in $(seq 50); do {program} & done; wait"
    recording = record("-o", tmp_path / "traces/one", "--", "sh", "-c", script)
    assert len({trace.pid for trace in recording.of(program)}) == 50
