"""frontload profile with more inputs than a command line has room for: lists, several processes,
and what becomes of the good ones when something goes wrong with a few."""

import os
import random
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import compile_to
from frontload.base import workers
from frontload.profile import format as profile
from frontload.profile import merge
from frontload.profile.startup_profile import Name, Touched
from frontload.profile.touched import Sum, TouchedNumbers
from frontload.profile.touched import together as touched_together
from linking import Image
from numpy import array, int64
from places import LLVM
from small_programs import SOURCE
from trace_writer import DATA, TraceWriter, build_id

NAMES = ["main", "f1", "f2", "f3", "f4", "f5", "helper", "last"]
LARGE = SOURCE + "".join(f"__attribute__((aligned(16))) char {name}[300000] = {{1}};\n"
                         for name in ("near", "far"))
COUNT = 300  # several parts for several processes, and more runs than a profile keeps


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """A folder of traces of two builds, in which names come in many orders."""
    folder, programs = tmp_path_factory.mktemp("fleet"), []
    for level in ("-O1", "-O2"):
        (folder / level).mkdir()
        path = compile_to(folder / level / "app", LLVM / "clang", level, "-Wl,--build-id=sha1",
                          f"--ld-path={LLVM / 'ld.lld'}", "app.c", sources={"app.c": LARGE})
        programs.append((path, Image(path).symbols))
    for number in range(COUNT):
        chance, (path, symbols) = random.Random(number), programs[number % 2]
        writer = TraceWriter().module(1, str(path), build_id(path))
        for name in chance.sample(NAMES, 1 + number % len(NAMES)):
            writer.event(symbols[name].address)
        if number % 7 == 0:
            for name, reach in (("table", 64), ("near", 9000), ("far", 300_000)):
                for _ in range(2):
                    offset = chance.randrange(0, reach, 16)
                    writer.event(symbols[name].address + offset, kind=DATA)
        if number % 50 == 0:
            writer = TraceWriter().module(1, str(path), build_id(path)).event(1)
        writer.write(folder / f"app.{number}.fltrace", minor=3, pid=number,
                     run=1 + number // 2 if number % 10 < 4 else 0, forked=number % 2)
    return folder


def test_several_processes_give_the_same_bytes(fleet, cli, tmp_path):
    """And the same words, as one process gives; and as profiles of parts, merged by their names."""
    one = cli("profile", fleet, "--jobs", 1)
    many = cli("profile", fleet, "--jobs", 5)
    assert (many.out, many.err) == (one.out, one.err)
    assert "without a named first touch" in many.err
    assert re.search(r"\t\d+(/\d)?@\d+-\d+\tnear$", one.out, re.M)  # a stretch
    assert re.search(r"\t32/2\tfar$", one.out, re.M)  # and none, but windows
    runs: dict[int, list[Path]] = {}
    for trace in fleet.glob("*.fltrace"):
        runs.setdefault(int(trace.name.split(".")[1]) // 2 % 4, []).append(trace)
    for number, part in runs.items():
        cli("profile", *part, "-o", tmp_path / f"part{number}")
    assert cli("profile", *(tmp_path / f"part{number}" for number in (3, 2, 1, 0))).out == one.out


def test_processes_of_one_run_are_merged_as_they_come(fleet, cli, tmp_path, monkeypatch):
    """A run of many processes gives what it gives when all are merged at its end, and no more than
    a few of them are kept at a time."""
    kept = []
    build, symbols = fleet / "-O1/app", Image(fleet / "-O1/app").symbols
    for number in range(40):
        writer = TraceWriter().module(1, str(build), build_id(build))
        for name in random.Random(number).sample(NAMES, 3):
            writer.event(symbols[name].address)
        writer.event(symbols["near"].address + 16 * number, kind=DATA)
        writer.write(tmp_path / f"app.{number}.fltrace", minor=3, pid=number, run=1, forked=1)

    def together(processes):
        kept.append(len(processes))
        return touched_together(processes)

    monkeypatch.setattr(merge, "together", together)
    at_the_end = cli("profile", tmp_path, "--jobs", 1).out
    assert max(kept) == 40
    kept.clear()
    monkeypatch.setattr(merge, "_PART", 8)
    assert cli("profile", tmp_path, "--jobs", 1).out == at_the_end
    assert max(kept) <= 9  # with the sum of those before


def test_a_list_names_inputs(fleet, cli, tmp_path, monkeypatch):
    """From a file and from stdin; a list may name folders, and has a weight as any input has."""
    expected = cli("profile", fleet).out
    listed = tmp_path / "list"
    for end in (b"\n", b"\0"):
        listed.write_bytes(b"".join(os.fsencode(path) + end for path in fleet.glob("*.fltrace")))
        assert cli("profile", f"@{listed}").out == expected
    with listed.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert cli("profile", "@-").out == expected
    listed.write_bytes(os.fsencode(fleet) + b"\n")
    cli("profile", "--weighted-input", f"3,@{listed}", "-o", tmp_path / "p")
    assert profile.read(tmp_path / "p").runs == 3 * profile.parse(expected.encode(), "q").runs
    # An empty list is a mistake of whoever made it.
    listed.write_bytes(b"\n")
    assert "lists no inputs" in cli("profile", f"@{listed}", code=65).err
    assert "./@" in cli("profile", f"@{tmp_path / 'missing'}", code=2).err
    os.mkfifo(tmp_path / "pipe")
    assert "read twice" in cli("profile", tmp_path / "pipe", code=2).err


def test_a_few_bad_traces_among_many(fleet, cli, tmp_path):
    """Of those that several processes read, one is named; or each, if they may be left out."""
    some = shutil.copytree(fleet, tmp_path / "some", ignore=shutil.ignore_patterns("-O?"))
    bad = [some / f"app.{number}.fltrace" for number in (123, 200, 250)]
    for path in bad:
        path.write_bytes(path.read_bytes()[:-8])
    arguments = ("profile", some, "--jobs", 3, "-o", tmp_path / "p")
    assert f"error: {bad[0]}: truncated" in cli(*arguments, code=65).err
    assert not (tmp_path / "p").exists()
    said = cli(*arguments, "--allow-partial").err
    assert f"3 of {COUNT} inputs left out" in said
    assert [said.count(f"{path}: ") for path in bad] == [1, 1, 1]
    for path in bad:
        path.unlink()
    assert cli("profile", some).out == (tmp_path / "p").read_text()


def test_a_full_disk_leaves_the_old_profile(fleet, cli, tmp_path):
    """A limit of file size stands for the disk: the old output stays, nothing lies beside it."""
    output = tmp_path / "p"
    output.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        said = cli("profile", fleet, "-o", output, code=2).err
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(output.parent) in said and output.read_bytes() == b"old"
    assert list(output.parent.iterdir()) == [output]


def test_results_come_in_order_and_failures_as_they_are():
    """Whoever is done first; a Failure keeps its code and its note. The part of a process that was
    killed is lost, so there is no result; what to do is said."""
    def fail(item):
        if item == 7:
            raise workers.Failure("seven", code=65, note="leave it out")
        return item

    found = []
    with pytest.raises(workers.Failure, match="seven") as caught:
        for item in workers.in_order(fail, range(50), 3):
            found.append(item)
    assert (caught.value.code, caught.value.note, found) == (65, "leave it out", [*range(7)])
    with pytest.raises(workers.Failure, match="was killed") as caught:
        list(workers.in_order(lambda item: os.kill(os.getpid(), 9), [1, 2, 3], 2))
    assert "--jobs 1" in caught.value.note


def test_the_processes_end_with_their_parent():
    """A merge that is killed leaves nobody behind, who would keep the pipe open."""
    script = """
import os, signal
from frontload.base import workers
def work(item):
    os.write(1, b"x")
    signal.pause()
list(workers.in_order(work, [1, 2], 2))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout.read(2) == b"xx"
        parent.kill()
        assert parent.stdout.read() == b""


def test_sums_grow_with_their_numbers():
    """Names that were not seen before, in runs that are longer than those before."""
    made = Sum()
    for end in (3, 70_000, 10):
        made.add(TouchedNumbers(array(range(end, 0, -1), int64)))
    touches = made.touches([Name("function", "text", b"%d" % n) for n in made.numbers()],
                           [Touched()] * len(made.numbers()))
    assert len(touches) == 70_000
    assert touches[Name("function", "text", b"1")].spread == ((2, 1, 2), (4, 1, 9), (17, 1, 69_999))
