"""Bad inputs of frontload import: a message with path and line, exit 65, and nothing
written."""

import os
from pathlib import Path

import pytest
from foreign_texts import SHAPES
from frontload import importers
from frontload.base.errors import Failure
from frontload.importers.interface import Source
from hypothesis import given
from hypothesis import strategies as st

DATA = Path(__file__).parent / "data"
SAMPLES = [*(path.read_bytes() for path in sorted(DATA.glob("*.txt"))),
           *(text.encode() for _, _, text in SHAPES)]
NOTES = "frontload: note: "


@pytest.mark.parametrize(("format", "contents", "what"), [
    ("lld", b"", "input: is empty"),
    ("lld", b"main\nf\0g\n", "input:2: not text: it has a byte 0x00"),
    ("lld", b"main\nf\rg\n", "input:2: a carriage return inside a line"),
    ("lld", b"f\n" * 70000 + b"g" * 70000, "input:70001: a line of more than 65536 bytes"),
    ("lld", b"This is a text\nof several words\n", "input:1: not a list of symbols"),
    ("perf", b"PERFILE2\x68\0\0", "input: the data of perf record, not text"),
    ("perf", b"app 5/5 1.5: 7 cycles:u: 12 f+0x1 (/bin/app)\nrubbish\n", "input:2: neither a"),
    ("perf", b"app 5/5 1.5: 7 cycles:u: 12 f+0x1 (/bin/app", "input:1: truncated"),
    ("perf", b"main\nf\n", "input:1: neither a sample nor a frame"),
    ("uftrace", b"5.000000001  6: [entry] main(55) depth: 0\nrubbish\n", "input:2: not a record"),
    ("uftrace", b"5.000000001  6: [entry] main(55) dep", "input:1: truncated"),
    ("uftrace", b"5.000000001  6: [entry] (55) depth: 0\n", "input:1: an entry without a name"),
    ("uftrace", b"5.000000001  6: [exit ] main(55) depth: 0\n", "input: names nothing"),
    ("uftrace", b"# DURATION     TID     FUNCTION\n  [ 5] | main() {\nrubbish\n", "input:3: not a"),
    ("uftrace", b"  Total time   Self time       Calls  Function\n", "input:1: uftrace's report"),
    ("uftrace", b"# Function Call Graph for 'app' (session: 1)\n", "input:1: uftrace's report"),
    ("uftrace", b"main\n", "input:1: neither a dump nor a replay"),
    ("llvm-temporal", b"main\n", "input:1: not a profile of LLVM"),
    ("llvm-temporal", b":ir\nmain\n# Func Hash:\n", "input: it has no temporal traces"),
    ("llvm-temporal", b":ir\n:temporal_prof_traces\n2\n2\n1\nmain\n", "input:6: truncated inside"),
    ("llvm-temporal", b":ir\n:temporal_prof_traces\n1\n1\nx\nmain\n", "input:5: expected a number"),
    ("llvm-temporal", b":ir\n:temporal_prof_traces\n1\n1\n0\nmain\n", "input:6: a weight of 0"),
    ("llvm-temporal", b":ir\n:temporal_prof_traces\n1\n1\n1\nmain,,f\n", "input:6: an empty name"),
    ("llvm-temporal", b":ir\n:temporal_prof_traces\n0\n0\n", "input: it has no temporal traces"),
    ("llvm-temporal", b":ir\n:temporal_prof_traces\n" + b"9" * 5000 + b"\n",
     "input:3: expected a number"),
    ("llvm-temporal", b"Temporal Profile Traces (samples=1 seen=1):\n",
     "input:1: expected the heading"),
    ("llvm-temporal", b"Temporal Profile Traces (samples=1 seen=1):\n"
     b"  Temporal Profile Trace 0 (weight=1 count=2):\n    main\n", "input:3: the trace has 1"),
    ("llvm-temporal", b"\xfflprofi\x81 and rubbish", "input: llvm-profdata: "),
    ("auto", b"Some text, which is no trace.\n", "input: its beginning fits no known format"),
])
def test_bad_contents_end_the_work(cli, tmp_path, format, contents, what):
    """What is wrong, where, and a note with the remedy; the previous output stays."""
    path, output = tmp_path / "input", tmp_path / "out"
    path.write_bytes(contents)
    output.write_text("before")
    said = cli("import", path, "--format", format, "--program", "app", "-o", output, code=65).err
    assert f"frontload: error: {tmp_path}/{what}" in said
    assert NOTES in said
    assert output.read_text() == "before"


@pytest.mark.parametrize(("format", "sample", "right"), [
    ("lld", "perf-chains.txt", "perf"), ("gold", "uftrace-dump.txt", "uftrace"),
    ("perf", "uftrace-replay.txt", "uftrace"), ("uftrace", "temporal.txt", "llvm-temporal"),
    ("llvm-temporal", "perf-samples.txt", "perf")])
def test_a_file_of_another_format_is_refused_by_its_name(cli, format, sample, right):
    said = cli("import", DATA / sample, "--format", format, "--program", "app", code=65).err
    assert f"not in the format {format}: looks like {right}" in said
    assert f"{NOTES}--format {right}\n" in said


def test_what_cannot_be_opened_is_named(cli, tmp_path):
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDWR)  # so that opening it does not wait
    for name, what in {"missing": "No such file", "dir": "is a directory",
                       "pipe": "is not a file but a stream"}.items():
        said = cli("import", tmp_path / name, "--program", "app", code=2).err
        assert f"{tmp_path / name}: {what}" in said
    os.close(descriptor)


def test_one_bad_input_among_many(cli, tmp_path):
    """It ends the work, unless --allow-partial leaves it out and says so."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("main\nf\n")
    bad.write_bytes(b"main\n\0\n")
    arguments = ("import", good, bad, "--format=lld", "--program=app", "-o", tmp_path / "out")
    assert "bad:2: " in cli(*arguments, code=65).err
    assert not (tmp_path / "out").exists()
    said = cli(*arguments, "--allow-partial").err
    assert "bad:2: not text: it has a byte 0x00: this input is left out" in said
    assert "1 of 2 inputs left out" in said
    assert "runs 1\n" in (tmp_path / "out").read_text()
    said = cli("import", bad, "--program", "app", "--allow-partial", code=65).err
    assert "bad: its beginning fits no known format" in said
    assert "none of the inputs can be used" in said


def damaged(sample: bytes, place: int, put: bytes) -> bytes:
    """A sample, some bytes of which were overwritten."""
    data = bytearray(sample)
    place %= len(data)
    data[place:place + len(put)] = put
    return bytes(data)


@given(data=st.binary(max_size=300) | st.builds(
    damaged, st.sampled_from(SAMPLES), st.integers(0, 4000), st.binary(min_size=1, max_size=8)))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    """In every format; of a damaged sample, as well."""
    path = tmp_path_factory.mktemp("bytes") / "input"
    path.write_bytes(data)
    for format in (None, *importers.FORMATS):
        try:
            list(importers.choose(str(path), format).read(Source(str(path), "app", False)))
        except Failure as problem:
            assert str(path) in str(problem)
