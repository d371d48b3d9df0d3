"""The guarantee, measured: some generated programs really start, from cold, on a device of their
own."""

import json
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from abilities import needs
from elftools.elf.elffile import ELFFile
from generated import TASTES, Program, make
from judged import Case, Pair, link_pair
from reading import Reading, excess

pytestmark = needs("loop-devices")
# Of each taste one that the dynamic linker starts: only then something asks for the front.
SAMPLE = [Case(taste, 50_000) for taste in TASTES if taste != "large model"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> list[Pair]:
    linked = [link_pair(case, _dynamic(case), tmp_path_factory.mktemp("measured"))
              for case in SAMPLE]
    for pair in linked:
        _forget_tail(pair.front.path)
    return linked


def _forget_tail(path: Path) -> None:
    """Makes the note end with the front: whether a process asks for the tail, and when that is
    done, depends on the machine."""
    with path.open("r+b") as stream:
        note = ELFFile(stream).get_section_by_name(".note.frontload")
        if note is None:  # linked without a front
            return
        count, tail = struct.unpack_from("<HH", note.data(), 28)
        stream.seek(note["sh_offset"] + 28)
        stream.write(struct.pack("<I", count - tail))


def _dynamic(case: Case) -> Program:
    program = make(case.seed, TASTES[case.taste])
    return replace(program, kind="no-pie" if case.taste == "functions" else "pie")


@pytest.fixture(scope="module")
def measured(pairs, tmp_path_factory) -> dict[Path, list[Reading]]:
    """What each run of each program reads, with a front and without."""
    asked = {str(linked.path): list(range(len(linked.program.runs)))
             for pair in pairs for linked in (pair.plain, pair.front)}
    result = subprocess.run(
        [sys.executable, Path(__file__).parent / "cold_starts.py", tmp_path_factory.mktemp("cold")],
        input=json.dumps(asked), text=True, capture_output=True)
    assert result.returncode == 0, result.stderr
    return {Path(name): [Reading(*counts) for counts in runs]
            for name, runs in json.loads(result.stdout).items()}


def test_the_kernel_reads_no_more(pairs, measured):
    """Not of a program that prefetches its front, for no run that was trained."""
    problems = [f"{pair.plain.program.describe()}: run {run}: {problem}"
                for pair in pairs
                for run, (plain, front) in enumerate(
                    zip(measured[pair.plain.path], measured[pair.front.path], strict=True))
                for problem in excess(plain, front, pair.filled(pair.front))]
    assert not problems


def test_the_model_foretells_what_is_read(pairs, measured):
    """So that what is predicted of all the others holds."""
    for pair in pairs:
        for linked, option in ((pair.plain, "--prefetched=none"), (pair.front, pair.prefetch)):
            for told, counted in zip(pair.readings(linked, option), measured[linked.path],
                                     strict=True):
                described = (str(linked.path), linked.program.describe(), told, counted)
                assert told.faults == pytest.approx(counted.faults, rel=0.05, abs=1), described
                assert told.bytes == pytest.approx(counted.bytes, rel=0.05, abs=8192), described
