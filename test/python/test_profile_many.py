"""frontload profile with more inputs than a command line has room for: lists, several processes,
and what becomes of the good ones when something goes wrong with a few."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from frontload.base import workers
from frontload.profile import format as profile
from trace_writer import DATA, TraceWriter

NAMES = ["main", "f1", "f2", "f3", "f4", "f5", "helper", "last"]
COUNT = 300  # several parts for several processes


@pytest.fixture
def fleet(link, tmp_path):
    """A folder of traces, in which names come in many orders; some are of data, of two processes
    of a run, or of nothing that has a name."""
    program = link()
    folder = tmp_path / "fleet"
    folder.mkdir()
    for number in range(COUNT):
        writer = TraceWriter().module(1, str(program.path), program.build_id)
        for step in range(1 + number % len(NAMES)):
            writer.event(program.addresses[NAMES[(number * 5 + step * 3) % len(NAMES)]])
        if number % 7 == 0:
            writer.event(program.addresses["table"] + 16 * (number % 4), kind=DATA)
        if number % 50 == 0:
            writer = TraceWriter().module(1, str(program.path), program.build_id).event(1)
        writer.write(folder / f"app.{number}.fltrace", minor=3, pid=number,
                     run=1 + number // 2 if number % 10 < 4 else 0, forked=number % 2)
    return folder


def frontload(*arguments, **options) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "frontload", *map(str, arguments)],
                            stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("jobs", [2, 5])
def test_several_processes_give_the_same_bytes(fleet, cli, tmp_path, jobs):
    """And the same words, as one process gives."""
    one = cli("profile", fleet, "--jobs", 1, "-o", tmp_path / "one")
    many = cli("profile", fleet, "--jobs", jobs, "-o", tmp_path / "many")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()
    assert profile.read(tmp_path / "one").runs > COUNT / 2
    assert many.err == one.err
    assert "without a named first touch" in many.err


def test_parts_that_others_have_merged_give_the_same_bytes(fleet, cli, tmp_path):
    """Any engine can spread the work: profiles of parts merge to the profile of all."""
    cli("profile", fleet, "-o", tmp_path / "all")
    runs: dict[int, list[Path]] = {}
    for number, trace in enumerate(sorted(fleet.iterdir(), key=lambda path: path.stat().st_ino)):
        runs.setdefault(int(trace.name.split(".")[1]) // 2 % 4, []).append(trace)
        assert number < COUNT
    parts = []
    for number, traces in runs.items():
        parts.append(tmp_path / f"part{number}")
        cli("profile", *traces, "-o", parts[-1])
    cli("profile", *parts[::-1], "-o", tmp_path / "merged")
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "all").read_bytes()


@pytest.mark.parametrize("end", [b"\n", b"\0"])
def test_a_list_names_inputs(fleet, cli, tmp_path, monkeypatch, end):
    """From a file and from stdin; a list may name folders, and has a weight as any input has."""
    cli("profile", fleet, "-o", tmp_path / "folder")
    listed = tmp_path / "list"
    listed.write_bytes(b"".join(os.fsencode(path) + end for path in fleet.iterdir()))
    cli("profile", f"@{listed}", "-o", tmp_path / "p")
    assert (tmp_path / "p").read_bytes() == (tmp_path / "folder").read_bytes()
    with listed.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        cli("profile", "@-", "-o", tmp_path / "q")
    assert (tmp_path / "q").read_bytes() == (tmp_path / "folder").read_bytes()
    listed.write_bytes(os.fsencode(fleet) + end)
    cli("profile", "--weighted-input", f"3,@{listed}", "-o", tmp_path / "r")
    assert profile.read(tmp_path / "r").runs == 3 * profile.read(tmp_path / "folder").runs


def test_a_list_of_nothing_is_refused(cli, tmp_path):
    """An empty list is a mistake of whoever made it; a missing one is named."""
    (tmp_path / "list").write_bytes(b"\n")
    assert "lists no inputs" in cli("profile", f"@{tmp_path / 'list'}", code=65).err
    assert "./@" in cli("profile", f"@{tmp_path / 'missing'}", code=2).err


def test_one_corrupt_trace_among_many(fleet, cli, tmp_path):
    """It is named, and nothing is written; --allow-partial counts it and does without."""
    bad = fleet / "app.123.fltrace"
    bad.write_bytes(bad.read_bytes()[:-8])
    other = fleet / "app.200.fltrace"
    other.write_bytes(b"rubbish")
    result = cli("profile", fleet, "--jobs", 3, "-o", tmp_path / "p", code=65)
    assert f"error: {bad}: truncated" in result.err
    assert not (tmp_path / "p").exists()
    result = cli("profile", fleet, "--jobs", 3, "-o", tmp_path / "p", "--allow-partial")
    assert f"2 of {COUNT} inputs left out" in result.err
    for path in (bad, other):
        assert result.err.count(f"{path}: ") == 1
        path.unlink()
    cli("profile", fleet, "-o", tmp_path / "q")
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_one_trace_of_another_build_among_many(fleet, link, cli, tmp_path):
    """What only the binary tells is told by the process that reads the trace."""
    odd = fleet / "app.250.fltrace"
    path = str(tmp_path / "app")
    TraceWriter().module(1, path, b"another build of it.").event(1).write(odd)
    result = cli("profile", fleet, "--jobs", 3, "-o", tmp_path / "p", code=65)
    assert "its build-id is" in result.err and str(odd) in result.err
    assert not (tmp_path / "p").exists()
    result = cli("profile", fleet, "--jobs", 3, "-o", tmp_path / "p", "--allow-partial")
    assert f"1 of {COUNT} inputs left out" in result.err
    odd.unlink()
    cli("profile", fleet, "-o", tmp_path / "q")
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_a_pipe_is_refused(cli, tmp_path):
    """Inputs are read twice; waiting for a second writer would never end."""
    os.mkfifo(tmp_path / "pipe")
    assert "read twice" in cli("profile", tmp_path / "pipe", code=2).err


def test_a_full_disk_leaves_the_old_profile(fleet, tmp_path):
    """A limit of file size stands for the disk: the old output stays, nothing lies beside it."""
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "p"
    output.write_bytes(b"old")
    merging = frontload("profile", fleet, "-o", output, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (64, 64)))
    _, said = merging.communicate(timeout=120)
    assert merging.returncode == 2 and str(output.parent) in said
    assert output.read_bytes() == b"old"
    assert list(output.parent.iterdir()) == [output]


def test_two_merges_into_one_output(fleet, cli, tmp_path):
    """Each writes the whole file: the last one's stays."""
    cli("profile", fleet, "-o", tmp_path / "expected")
    half = [str(path) for path in fleet.iterdir() if int(path.name.split(".")[1]) < COUNT // 2]
    cli("profile", *half, "-o", tmp_path / "half")
    allowed = {(tmp_path / name).read_bytes() for name in ("expected", "half")}
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "p"
    for _ in range(3):
        merges = [frontload("profile", *given, "-o", output) for given in ([fleet], half)]
        assert [merging.wait(timeout=120) for merging in merges] == [0, 0]
        assert output.read_bytes() in allowed
        assert list(output.parent.iterdir()) == [output]


def test_a_killed_process_is_told():
    """Its part is lost, so there is no result; what to do is said."""
    def die(item):
        os.kill(os.getpid(), 9)

    with pytest.raises(workers.Failure, match="was killed") as caught:
        list(workers.in_order(die, [1, 2, 3], 2))
    assert "--jobs 1" in caught.value.note


def test_results_come_in_order_and_failures_as_they_are():
    """Whoever is done first; a Failure keeps its code and its note."""
    assert list(workers.in_order(lambda item: item * item, range(50), 4)) == [
        item * item for item in range(50)]

    def fail(item):
        if item == 7:
            raise workers.Failure("seven", code=65, note="leave it out")
        return item

    found = []
    with pytest.raises(workers.Failure, match="seven") as caught:
        for item in workers.in_order(fail, range(50), 3):
            found.append(item)
    assert (caught.value.code, caught.value.note, found) == (65, "leave it out", list(range(7)))


def test_the_processes_end_with_their_parent(tmp_path):
    """A merge that is killed leaves nobody behind."""
    script = tmp_path / "parent.py"
    script.write_text("""
import os, sys, time
from frontload.base import workers
def work(item):
    open(os.path.join(sys.argv[1], f"pid.{os.getpid()}"), "w").close()
    time.sleep(1000)
list(workers.in_order(work, [1, 2], 2))
""")
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path)])
    try:
        while len(pids := list(tmp_path.glob("pid.*"))) < 2:
            assert parent.poll() is None
    finally:
        parent.kill()
        parent.wait()
    for path in pids:
        place = Path("/proc", path.name.partition(".")[2], "stat")
        while place.exists() and place.read_text().rpartition(")")[2].split()[0] not in "ZX":
            pass
