"""Temporal profiles of LLVM, from programs built with -fprofile-generate (or -fprofile-instr-...)
and -mllvm -pgo-temporal-instrumentation: the order in which functions were first called.

    .profraw, .profdata                   read by llvm-profdata, if there is one
    llvm-profdata merge --text            the format that LLVM also reads
    llvm-profdata show --temporal-profile-traces

Each of its traces is a run, with a weight. A local function is called `file.c;name`, by LLVM 17
`file.c:name`. The profile has functions as they were before inlining, so it names some that no
linked program has, and it has no data.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from io import BufferedReader
from typing import BinaryIO, cast

from frontload.base import files, tools
from frontload.base.errors import BadData
from frontload.importers.interface import Importer, Mention, NamedRun, Source
from frontload.importers.text_lines import lines

_INDEXED = b"\xfflprofi\x81"
_RAW = (b"\xfflprofr\x81", b"\xfflprofR\x81", b"\x81rforpl\xff", b"\x81Rforpl\xff")
_SECTION = b":temporal_prof_traces"
_FLAG = re.compile(rb":[a-z_]+")
_SHOWN = re.compile(rb"Temporal Profile Traces \(samples=(\d{1,18}) seen=\d+\):")
_SHOWN_TRACE = re.compile(rb"  Temporal Profile Trace \d+ \(weight=(\d{1,18}) count=(\d{1,18})\):")
_NUMBER = re.compile(rb"\d{1,18}")
_OF_LLVM_17 = re.compile(rb"([^:]*\.[A-Za-z+]+|<unknown>)(:)(\w[^:]*)")
_NO_LIMIT = 1 << 62  # llvm-profdata keeps 10,000 names of 100 traces unless told otherwise
_MAX_LINE = 1 << 28
_HEAVIEST = 999999999
_NO_TRACES = "it has no temporal traces"
_BUILD = ("build with -fprofile-generate -mllvm -pgo-temporal-instrumentation, and run the program "
          "once for each trace")


def _read(source: Source) -> Iterator[NamedRun]:
    with files.open_input(source.path, TEMPORAL.note) as stream:
        start = stream.peek(len(_INDEXED))[:len(_INDEXED)]
        if start == _INDEXED or start in _RAW:
            yield from _read_by_llvm(source)
        else:
            yield from _read_text(source, stream)


def _read_by_llvm(source: Source) -> Iterator[NamedRun]:
    program = tools.llvm_tool("llvm-profdata",
                              "give the text that llvm-profdata merge --text makes")
    command = [str(program), "merge", "--text", f"--temporal-profile-max-trace-length={_NO_LIMIT}",
               f"--temporal-profile-trace-reservoir-size={_NO_LIMIT}", "-o", "-", source.path]
    with tempfile.TemporaryFile() as messages, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages) as process:
        try:
            # llvm-profdata has read all of its input before it writes the first byte.
            stream = cast(BufferedReader, process.stdout)
            if not stream.peek(1):
                messages.seek(0)
                said = messages.readline().decode("utf-8", "replace").strip()
                raise BadData(source.path, f"llvm-profdata: {said}", note=TEMPORAL.note)
            yield from _read_text(source, stream)
        finally:
            process.kill()  # the traces come first; the counters that follow are not needed


def _read_text(source: Source, stream: BinaryIO) -> Iterator[NamedRun]:
    # All names of a trace are in one line.
    numbered = lines(stream, source.path, TEMPORAL.note, all_end=True, longest=_MAX_LINE)
    for number, line in numbered:
        if line == _SECTION:
            yield from _read_traces(source, number, numbered)
            return
        if found := _SHOWN.fullmatch(line):
            yield from _read_shown(source, number, int(found[1]), numbered)
            return
        # In the text for LLVM all flags come before the first function.
        if number == 1 and not line.startswith((b"#", b":", b"Instrumentation level")):
            raise BadData(source.path, "not a profile of LLVM", line=number, note=TEMPORAL.note)
        if line and not line.startswith(b"#") and not _FLAG.fullmatch(line) and (
                b": " not in line):
            break
    raise BadData(source.path, _NO_TRACES, note=_BUILD)


def _read_traces(source: Source, number: int,
                 numbered: Iterator[tuple[int, bytes]]) -> Iterator[NamedRun]:
    """The lines behind the flag in text for LLVM: numbers, and weight and names of each trace."""
    def following() -> bytes:
        nonlocal number
        for number, line in numbered:  # noqa: B007 - for messages
            if line and not line.startswith(b"#"):
                return line
        raise BadData(source.path, "truncated inside the temporal traces", line=number,
                      note="copy or make it again")

    def next_number() -> int:
        line = following()
        if not _NUMBER.fullmatch(line):
            raise BadData(source.path, "expected a number", line=number, note=TEMPORAL.note)
        return int(line)

    count, _ = next_number(), next_number()
    if not count:
        raise BadData(source.path, _NO_TRACES, note=_BUILD)
    for _ in range(count):
        weight = next_number()
        names = following().removesuffix(b",").split(b",")
        yield _run(source, number, weight, (name.strip() for name in names))


def _read_shown(source: Source, number: int, count: int,
                numbered: Iterator[tuple[int, bytes]]) -> Iterator[NamedRun]:
    """The lines behind the heading in text for people."""
    if not count:
        raise BadData(source.path, _NO_TRACES, note=_BUILD)
    for _ in range(count):
        number, line = next(numbered, (number, b""))
        trace = _SHOWN_TRACE.fullmatch(line)
        if not trace:
            raise BadData(source.path, "expected the heading of a trace", line=number,
                          note=TEMPORAL.note)
        names: list[bytes] = []
        for _ in range(int(trace[2])):
            number, line = next(numbered, (number, b""))
            if not line.startswith(b"    "):
                raise BadData(source.path, f"the trace has {len(names)} of {int(trace[2])} names",
                              line=number, note=TEMPORAL.note)
            names.append(line[4:])
        yield _run(source, number, int(trace[1]), names)


def _run(source: Source, number: int, weight: int, names: Iterable[bytes]) -> NamedRun:
    if not 1 <= weight <= _HEAVIEST:
        raise BadData(source.path, f"a weight of {weight} is not from 1 to {_HEAVIEST}",
                      line=number, note=TEMPORAL.note)
    run = NamedRun(weight=weight)
    for name in names:
        path, separator, local = name.rpartition(b";")
        if not separator and (old := _OF_LLVM_17.fullmatch(name)):
            path, separator, local = old.groups()
        if not local:
            raise BadData(source.path, "an empty name", line=number, note=TEMPORAL.note)
        if separator and path != b"<unknown>":
            run.mentions[Mention(local, "text", path.rsplit(b"/", 1)[-1])] = None
        else:
            run.mentions[Mention(local, "text")] = None
    return run


def _recognizes(head: bytes) -> bool:
    if head.startswith((_INDEXED, *_RAW)):
        return True
    found = head.splitlines()
    return any(line == _SECTION or _SHOWN.fullmatch(line) for line in found[:64]) or (
        found[:1] in ([b"# IR level Instrumentation Flag"], [b":ir"], [b":fe"]))


TEMPORAL = Importer("llvm-temporal", "llvm-profdata merge --text default.profraw -o FILE",
                    _recognizes, _read)
