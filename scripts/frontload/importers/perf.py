"""Text of `perf script` (tracing/perf_script.py): samples, and hits of uprobes, with or without
callchains.

    app 20441 22316.193636:     10000 cycles:u:
                6d1 helper+0x11 (/usr/bin/app)
                7f0 main+0x20 (/usr/bin/app)

    app 20441 22316.193636:     10000 cycles:u:     6d1 helper+0x11 (/usr/bin/app)
    app 20441 [001] 22729.122040: probe_app:main: (55731e8881d5)

test/python/test_importers.py has more shapes, which --fields, versions and processors make. Without
times, the order of the lines is that of time: perf sorts before it prints.

Samples show what was running now and then, and miss most of a start; probes record every entry.

A callchain lists its innermost function first. All of its functions were entered before the sample,
the outer ones before the inner ones, so new ones are added from the outside in. That is not the
order of first touch, which is unknown: an inner function may have run before the outer one was
entered, and functions that had returned are missing.

Frames outside the program's functions are skipped: other files, inlined frames (their code belongs
to the function that follows), and callers at offset 0. Such an address is where the call would
return to, one behind the end of a function whose last call never returns.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator

from frontload.base import errors, files
from frontload.base.errors import BadData
from frontload.importers.interface import Importer, Mention, NamedRun, Source, add_symbol
from frontload.importers.text_lines import lines
from frontload.tracing import perf_script
from frontload.tracing.perf_script import DATA_MAGIC, Frame, Head

_OFFSET_IN_FILE = re.compile(rb"\+0x[0-9a-f]{1,16}$")
_PROBE = re.compile(rb"\([0-9a-f]+(?: <- [0-9a-f]+)?\)(?: .*)?")
_NUMBERED = re.compile(rb"_\d+$")
_RECORD = b"PERF_RECORD_"  # --show-mmap-events and the like
_SOURCE_LINE = re.compile(rb" {2}\S.*(?::\d+|\[[0-9a-f]+\])")  # --fields +srcline
_PERIOD_ALONE = re.compile(rb" *\d*")  # --fields without the event
_MAX_LISTED = 5


class _Reader:
    def __init__(self, source: Source):
        self._source = source
        self._ours: dict[bytes, bool] = {}
        self._others: Counter[bytes] = Counter()
        self._chain: list[Frame] = []
        self._run = NamedRun()
        self._runs: dict[int | None, NamedRun] = {}
        self._probe_group = b"probe_" + re.split(b"[-._]", os.fsencode(source.program))[0]

    def runs(self) -> list[NamedRun]:
        with files.open_input(self._source.path, PERF.note) as stream:
            if stream.peek(len(DATA_MAGIC)).startswith(DATA_MAGIC):
                raise BadData(self._source.path, "the data of perf record, not text",
                              note=PERF.note)
            for number, line in lines(stream, self._source.path, PERF.note, all_end=True):
                self._line(number, line)
        self._end_of_chain()
        self._refuse_other_programs()
        return list(self._runs.values())

    def _line(self, number: int, line: bytes) -> None:
        if not line or line.isspace():
            self._end_of_chain()
            return
        if line.startswith(b"#"):
            return
        if sample := _sample(line):
            self._end_of_chain()
            if sample.rest.startswith(_RECORD):
                return
            # Threads look like processes, unless both numbers are there.
            self._run = self._runs.setdefault(sample.process, NamedRun())
            self._rest_of_sample(sample.rest)
        elif frame := perf_script.frame(line):
            if not self._runs:  # --fields without the beginning of samples
                self._runs[None] = self._run
            self._chain.append(frame)
        elif not (self._chain and _SOURCE_LINE.fullmatch(line)):
            raise BadData(self._source.path, "neither a sample nor a frame of one", line=number,
                          note=PERF.note)

    def _rest_of_sample(self, text: bytes) -> None:
        event, rest = perf_script.event(text) or (b"", text)
        if frame := perf_script.frame(rest):
            self._chain.append(frame)
        elif _PROBE.fullmatch(rest) and b":" in event:
            self._probe(*event.split(b":", 1))

    def _probe(self, group: bytes, name: bytes) -> None:
        if group.startswith(b"probe_") and group != self._probe_group:
            self._others[group] += 1
        elif not name.endswith(b"__return"):
            plain = _NUMBERED.sub(b"", name)  # a second probe of a name is numbered
            readings = (("text", name), ("text", plain)) if plain != name else ()
            self._run.mentions[Mention(name, "text", readings=readings)] = None

    def _end_of_chain(self) -> None:
        for outwards in range(len(self._chain) - 1, -1, -1):
            self._touch(self._chain[outwards], is_caller=outwards > 0)
        self._chain.clear()

    def _touch(self, frame: Frame, is_caller: bool) -> None:
        if frame.file == b"inlined":
            return
        if not self._is_ours(frame.file):
            self._others[frame.file] += 1
        elif frame.symbol in (b"", b"[unknown]"):
            self._source.left_out.add("an address of the program without a symbol")
        elif frame.offset != 0 or not is_caller:
            start = None if frame.offset is None else frame.address - frame.offset
            add_symbol(self._source, self._run, frame.symbol, start)

    def _is_ours(self, file: bytes) -> bool:
        if file not in self._ours:
            path = _OFFSET_IN_FILE.sub(b"", file)
            self._ours[file] = self._source.is_program(path)
        return self._ours[file]

    def _refuse_other_programs(self) -> None:
        if any(run.mentions for run in self._runs.values()) or not self._others:
            return
        listed = ", ".join(f"{os.fsdecode(name)} ({count})"
                           for name, count in self._others.most_common(_MAX_LISTED))
        raise BadData(self._source.path, f"no sample is in a function of {self._source.program}, "
                      f"but {errors.count(self._others.total(), 'frame')} of others: {listed}",
                      note="choose one with --program NAME" if not self._source.has_binary else
                      "sample more often, or set a uprobe on each function; if it ran under "
                      "another name, say which with --program NAME")


def _sample(line: bytes) -> Head | None:
    """The head of a sample or record; None for other lines."""
    if line.startswith(b"\t"):
        return None
    head = perf_script.head(line, has_name=True)
    if head and (perf_script.event(head.rest) or perf_script.frame(head.rest)
                 or head.rest.startswith(_RECORD) or _PERIOD_ALONE.fullmatch(head.rest)):
        return head
    # Frames have no time either.
    return (None if perf_script.frame(line)
            else perf_script.head(line, has_name=True, has_time=False))


def _read(source: Source) -> Iterator[NamedRun]:
    yield from _Reader(source).runs()


def _recognizes(head: bytes) -> bool:
    if head.startswith(DATA_MAGIC):
        return True
    first = next((line for line in head.splitlines() if line and not line.startswith(b"#")), b"")
    return bool(_sample(first) or perf_script.frame(first))


PERF = Importer("perf", "perf script --no-demangle -F +pid -i perf.data > FILE", _recognizes, _read)
