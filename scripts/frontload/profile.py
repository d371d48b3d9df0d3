"""The startup profile: what a program touches while it starts, by name, in first-touch order.

This is the declaration of the format. A startup profile is a text file, made to be checked in, read
in a diff and merged:

    frontload-startup-profile 1
    program cc1
    runs 3
    # kind class runs step name [file]
    function<TAB>text<TAB>3<TAB>+1<TAB>_start
    function<TAB>text<TAB>3<TAB>+1<TAB>helper<TAB>main.c
    data<TAB>rodata<TAB>1<TAB>+0<TAB>_ZTV3Foo

Line 1 is the magic and the major version; a reader refuses any other major version. Every line ends
in a newline, the last one too, so that a file that was cut in a line is noticed. Empty lines and
lines that start with `#` mean nothing. What else has no TAB is a header line `key value`, with one
space between; all of them stand before the first entry, and a reader passes over keys it does not
know.

    program  the base name of the linked file: of the program, or of the shared library
    runs     how many runs (recorded processes) the profile was made from, 1 or more

What has TABs is an entry, one for each name, of five fields or six:

    kind   function or data
    class  the section class it was found in: text rodata relro data bss
    runs   how many runs touched it, from 1 to the header's `runs`
    step   `+` and its rank minus the rank of the entry before; before the first entry the rank is
           -1, so that the entries of a single run read +1 +1 +1
    name   the symbol's name
    file   only for local symbols: the source file (STT_FILE) that the symbol table names for it

The rank of a name is the lowest position, from 0, at which it stood in any run, where a run is the
sequence of the names it touched, each at its first touch. Entries are sorted by rank, then by runs
(most first), kind, class, name and file. Ranks are written as steps so that one new function
changes one line and not all that follow.

Names are bytes. Backslash, TAB, newline, the other control bytes (below 0x20, and 0x7f) and bytes
that are not valid UTF-8 are written as `\\\\`, `\\t`, `\\n` and `\\xNN`, in `program` as well.

Merging adds the runs and takes the lowest rank of each name. That is associative and commutative:
the same traces in any order, and in any partition into partial profiles, give the same bytes.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from frontload import files
from frontload.errors import BadData

MAGIC = b"frontload-startup-profile"
MAJOR = 1
KINDS = ("function", "data")
CLASSES = ("text", "rodata", "relro", "data", "bss")

_MAKE_ONE = "make one with: frontload profile TRACE... -o FILE"
_NUMBER = re.compile(rb"0|[1-9][0-9]{0,18}")
_ESCAPE = re.compile(rb"\\(\\|t|n|x[0-9a-fA-F]{2}|)")
_UNSAFE = re.compile("[\\\\\x00-\x1f\x7f\udc80-\udcff]")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class Name(NamedTuple):
    """What an entry stands for; `file` is empty unless the symbol is local."""

    kind: str
    section_class: str
    name: bytes
    file: bytes = b""


class Touch(NamedTuple):
    """How many runs touched a name, and its rank."""

    runs: int
    rank: int


@dataclass
class Profile:
    program: bytes
    runs: int
    touches: dict[Name, Touch] = field(default_factory=dict)

    def in_order(self) -> list[tuple[Name, Touch]]:
        """The entries as they stand in the file."""
        return sorted(self.touches.items(),
                      key=lambda entry: (entry[1].rank, -entry[1].runs, *entry[0]))

    def add(self, other: "Profile") -> None:
        """Merges `other`, a profile of the same program, into this one."""
        self.runs += other.runs
        for name, touch in other.touches.items():
            mine = self.touches.get(name)
            self.touches[name] = touch if mine is None else Touch(mine.runs + touch.runs,
                                                                  min(mine.rank, touch.rank))


def from_run(program: bytes, names: Iterable[Name]) -> Profile:
    """The profile of one run, from the names it touched in order; repetitions do not count."""
    touches: dict[Name, Touch] = {}
    for name in names:
        if name not in touches:
            touches[name] = Touch(1, len(touches))
    return Profile(program, 1, touches)


def escape(name: bytes) -> bytes:
    def code(match: re.Match) -> str:
        byte = ord(match[0]) & 0xff  # a surrogate stands for a byte that is not UTF-8
        return {0x5c: "\\\\", 0x09: "\\t", 0x0a: "\\n"}.get(byte, f"\\x{byte:02x}")
    return _UNSAFE.sub(code, name.decode("utf-8", "surrogateescape")).encode("utf-8")


def unescape(text: bytes) -> bytes:
    """Undoes `escape`; raises ValueError for what it never writes."""
    def byte(match: re.Match) -> bytes:
        code = match[1]
        if not code:
            raise ValueError("a backslash that starts no escape")
        return {b"\\": b"\\", b"t": b"\t", b"n": b"\n"}.get(code) or bytes([int(code[1:], 16)])
    if _CONTROL.search(text):
        raise ValueError("a control byte, perhaps from a change of line ends")
    text.decode("utf-8")
    return _ESCAPE.sub(byte, text)


def to_bytes(profile: Profile) -> bytes:
    lines = [b"%s %d" % (MAGIC, MAJOR),
             b"program " + escape(profile.program),
             b"runs %d" % profile.runs,
             b"# kind class runs step name [file]"]
    rank = -1
    for name, touch in profile.in_order():
        fields = [name.kind.encode(), name.section_class.encode(), b"%d" % touch.runs,
                  b"+%d" % (touch.rank - rank), escape(name.name)]
        if name.file:
            fields.append(escape(name.file))
        lines.append(b"\t".join(fields))
        rank = touch.rank
    return b"\n".join(lines) + b"\n"


def read(path: os.PathLike | str) -> Profile:
    """Reads a profile; bad contents raise BadData with the line."""
    with files.open_input(path, note=_MAKE_ONE) as stream:
        data = stream.read()
    profile = parse(data, path)
    if not profile.touches:
        raise BadData(path, "the startup profile has no entries", note=_MAKE_ONE)
    return profile


def parse(data: bytes, path: os.PathLike | str) -> Profile:
    """The profile in `data`; `path` is for the messages."""
    _check_first_line(data, path)
    lines = data.split(b"\n")
    if lines.pop():
        raise BadData(path, "cut: the last line does not end", line=len(lines) + 1,
                      note="copy or make it again")
    header: dict[bytes, bytes | int] = {}
    profile = None
    rank, number = -1, 1
    try:
        for line in lines[1:]:
            number += 1
            if not line or line.startswith(b"#"):
                continue
            if profile is None and b"\t" in line:
                profile = _from_header(header)
            if profile is None:
                _parse_header_line(line, header)
                continue
            name, runs, step = _parse_entry(line)
            rank += step
            if rank < 0:
                raise ValueError("the first step is at least +1")
            if not 1 <= runs <= profile.runs:
                raise ValueError(f"touched by {runs} of {profile.runs} runs")
            if name in profile.touches:
                raise ValueError("a second entry for the same name")
            profile.touches[name] = Touch(runs, rank)
        return profile or _from_header(header)
    except ValueError as problem:
        what = "not UTF-8" if isinstance(problem, UnicodeDecodeError) else str(problem)
        raise BadData(path, what, line=number, note=_MAKE_ONE) from problem


def _check_first_line(data: bytes, path) -> None:
    first = data[:len(MAGIC) + 32].split(b"\n", 1)[0]
    magic, _, version = first.partition(b" ")
    if magic != MAGIC:
        raise BadData(path, "not a startup profile", line=1, note=_MAKE_ONE)
    if version != b"%d" % MAJOR:
        shown = escape(version).decode("utf-8")
        raise BadData(path, f"profile version `{shown}` is not {MAJOR}, which this frontload reads",
                      line=1, note="read it with the frontload that made it, or a newer one")


def _parse_header_line(line: bytes, header: dict[bytes, bytes | int]) -> None:
    key, _, value = line.partition(b" ")
    if key in header:
        raise ValueError("a second header line of this key")
    header[key] = {b"program": unescape, b"runs": _parse_number}.get(key, bytes)(value)


def _from_header(header: dict[bytes, bytes | int]) -> Profile:
    if not header.get(b"program") or not header.get(b"runs"):
        raise ValueError("no header line `program` or `runs` before the entries")
    return Profile(header[b"program"], header[b"runs"])


def _parse_entry(line: bytes) -> tuple[Name, int, int]:
    fields = line.split(b"\t")
    if len(fields) not in (5, 6):
        raise ValueError(f"an entry has 5 or 6 fields, not {len(fields)}")
    kind, section_class, _, step = (part.decode("utf-8") for part in fields[:4])
    if kind not in KINDS:
        raise ValueError(f"unknown kind `{kind}`")
    if section_class not in CLASSES:
        raise ValueError(f"unknown section class `{section_class}`")
    if not step.startswith("+"):
        raise ValueError(f"the step `{step}` does not start with +")
    names = [unescape(part) for part in fields[4:]]
    if not all(names):
        raise ValueError("an empty name")
    return Name(kind, section_class, *names), _parse_number(fields[2]), _parse_number(fields[3][1:])


def _parse_number(text: bytes) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"`{escape(text).decode('utf-8')}` is not a number")
    return int(text)
