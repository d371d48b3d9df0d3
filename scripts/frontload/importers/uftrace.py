"""Text of `uftrace dump` and `uftrace replay`: the entries of instrumented functions.

    22316.193636619  20441: [entry] main(55ed32c10296) depth: 0            dump

       1.872 us [ 20441] |       helper();                                 replay
                [ 20441] | main() {
    main() {                                                               replay -f none

A dump has one task (thread) after the other, with times; a replay has all of them in order of time.
All tasks of a file are one run, each function at its earliest entry: the text does not tell which
tasks are threads of one process.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from frontload.base import files
from frontload.base.errors import BadData
from frontload.importers.interface import Importer, NamedRun, Source, add_symbol
from frontload.importers.text_lines import lines

_RECORD = re.compile(rb"(\d{1,18})\.(\d{9}) +\d+: \[(entry|exit |event|lost )\](?: (.*?))?"
                     rb"(?:\(([0-9a-f]{1,16})\))?(?: depth: \d+)?")
_DUMP_BEGINS = b"uftrace file header: "
_TASK_BEGINS = b"reading "
_DUMP_PASSES = (_DUMP_BEGINS, b" ")
_REMEMBERED = 1 << 18
_REPLAY_BEGINS = re.compile(rb"#.*\bFUNCTION\b.*")
_CALL_ALONE = re.compile(rb" *[^\s(][^(]*\(.*\)(?: = .*)?(?:;| \{)(?: /\*.*\*/)?")  # -f none
_REPLAY_ENDS = b"uftrace stopped tracing with remaining functions"
_WITHOUT_ORDER = re.compile(rb"#? *(?:Total time|Function Call Graph for)\b.*")
_OF_LIBRARIES = "a call of another file, by its library's name"


def _read(source: Source) -> Iterator[NamedRun]:
    with files.open_input(source.path, UFTRACE.note) as stream:
        numbered = lines(stream, source.path, UFTRACE.note, all_end=True)
        for number, line in numbered:
            if not line:
                continue
            if _WITHOUT_ORDER.fullmatch(line):
                raise BadData(source.path, "uftrace's report and graph have no order", line=number,
                              note=UFTRACE.note)
            everything = chain([(number, line)], numbered)
            if line.startswith(_DUMP_BEGINS) or _RECORD.fullmatch(line):
                yield _read_dump(source, everything)
            elif (_REPLAY_BEGINS.fullmatch(line) or b" | " in line
                  or _CALL_ALONE.fullmatch(line)):
                yield _read_replay(source, everything)
            else:
                raise BadData(source.path, "neither a dump nor a replay of uftrace", line=number,
                              note=UFTRACE.note)


def _read_dump(source: Source, numbered: Iterator[tuple[int, bytes]]) -> NamedRun:
    times: dict[tuple[bytes, int | None], int] = {}
    entered: set[bytes] = set()  # earlier by this task: the ends of lines, to save time
    for number, line in numbered:
        _, entry, end = line.partition(b": [entry] ")
        if end in entered or b": [exit ] " in line:
            continue
        record = _RECORD.fullmatch(line)
        if record and entry:
            time = int(record[1] + record[2])
            function = record[4] or b"", int(record[5], 16) if record[5] else None
            if not function[0]:
                raise BadData(source.path, "an entry without a name", line=number,
                              note=UFTRACE.note)
            times[function] = min(times.get(function, time), time)
            if len(entered) >= _REMEMBERED:
                entered.clear()
            entered.add(end)
        elif record and record[3] == b"lost ":
            source.left_out.add("records were lost while uftrace recorded")
        elif line.startswith(_TASK_BEGINS):
            entered.clear()
        elif not record and line and not line.startswith(_DUMP_PASSES):
            raise BadData(source.path, "not a record of a dump", line=number, note=UFTRACE.note)
    return _run(source, sorted(times, key=lambda function: (times[function], function[0])))


def _read_replay(source: Source, numbered: Iterator[tuple[int, bytes]]) -> NamedRun:
    names: dict[bytes, None] = {}
    for number, line in numbered:
        if line.startswith(_REPLAY_ENDS):
            break
        if not line or line.startswith(b"#"):
            continue
        _, bar, text = line.partition(b" |")
        text = (text if bar else line).strip()
        name, opened, rest = text.partition(b"(")
        if text.startswith((b"}", b"/*")) or (bar and not text):
            continue
        if not opened or not rest.endswith((b"{", b";", b"*/")):
            raise BadData(source.path, "not a line of a replay", line=number, note=UFTRACE.note)
        names[name or text] = None
    for _ in numbered:  # the list of functions still running when the program ended
        pass
    return _run(source, ((name, None) for name in names))


def _run(source: Source, functions: Iterable[tuple[bytes, int | None]]) -> NamedRun:
    run = NamedRun()
    for name, address in functions:
        if b"@" in name:
            source.left_out.add(_OF_LIBRARIES, name)
        else:
            add_symbol(source, run, name, address)
    return run


def _recognizes(head: bytes) -> bool:
    first = next((line for line in head.splitlines() if line), b"")
    return bool(first.startswith(_DUMP_BEGINS) or _RECORD.fullmatch(first)
                or _REPLAY_BEGINS.fullmatch(first) or _WITHOUT_ORDER.fullmatch(first))


UFTRACE = Importer("uftrace", "uftrace dump --demangle=no -d uftrace.data > FILE", _recognizes,
                   _read)
