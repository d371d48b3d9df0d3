"""The startup profile: what a program touches while it starts, by name, in first-touch order.

This declares the format. A startup profile is a text file. You can check it in, read it in a diff
and merge it:

    frontload-startup-profile 3
    program cc1
    runs 4
    data-runs 1
    # kind class runs step touched name [file]
    function<TAB>text<TAB>4<TAB>+1<TAB>-<TAB>_start
    function<TAB>text<TAB>4<TAB>+1<TAB>224<TAB>helper<TAB>main.c
    data<TAB>rodata<TAB>1<TAB>+0<TAB>720/3<TAB>_ZN4llvm8X86DescsE
    data<TAB>rodata<TAB>1<TAB>+1<TAB>112@656-799<TAB>keywords
    section<TAB>rodata<TAB>1<TAB>+1<TAB>48<TAB>.rodata._ZN3foo3barEv<TAB>libFoo.a(Bar.cpp.o)
    string<TAB>rodata<TAB>1<TAB>+1<TAB>6<TAB>hello

Line 1 is the magic and the major version: 4 if an entry has a spread (see `step`), otherwise 3 if
one has a stretch (see `touched`), otherwise 2. Each version has what those before it have, so older
profiles are read as they are. A reader refuses any other major version. Every line,
including the last, ends in a newline, so a reader notices a file that was cut in the middle of a
line. Empty lines and lines that start with `#` mean nothing.

Any other line without a TAB is a header line, `key value` with one space between. All header lines
stand before the first entry, and a reader ignores keys it does not know.

    program    the base name of the linked file: of the program, or of the shared library
    runs       how many runs (recorded processes) the profile was made from, 1 or more; a run with a
               weight counts as that many
    data-runs  how many of them also recorded touches of data; left out if none did
    cold-parts `unknown` if a run was of an instrumented PGO build: only the build that is made with
               its counts knows which cold parts (f.cold) are entered. Otherwise left out: then a
               cold part without an entry was not entered

A line with TABs is an entry. Each name has one, of six or seven fields:

    kind     function, data, section or string
    class    the section class it was found in: text rodata relro data bss
    runs     how many runs touched it: from 1 to the header's `runs`, or to its `data-runs` for
             data, sections and strings
    step     `+` and its rank minus the rank of the entry before. The rank before the first entry is
             -1, so the entries of a single run read +1 +1 +1. If its runs have it at positions of
             several octaves, `@` follows, and its spread: for each octave its number, how many runs
             have it there, and its lowest position in these, such as `+3@5:40:17,9:2:300`
    touched  how many bytes of it were touched, in granules of 16 bytes cut to its size. If they do
             not fit into one window of 64 KiB, `/` follows, and the least number of such windows,
             anywhere, that cover them. (By default Linux reads 128 KiB around a fault, half of it
             behind the fault.) If the name is larger than a window, and they lie within 16 KiB, `@`
             follows, and their stretch: the offsets of the first and the last of them, with `-`
             between. Of several runs, the most bytes and the most windows count. `-` if no run
             knows: breakpoints record only entries.
    name     depends on the kind, see below
    file     for functions and data, only of local symbols: the object if the map of the link was
             given, otherwise the source file (STT_FILE) that the symbol table names for it. For
             sections: the object

The kinds and their names:

    function, data  a symbol, by its name
    section         an input section that no symbol names (a jump table, a constant), by its name
                    and object
    string          a string that linkers merge (SHF_MERGE and SHF_STRINGS, characters of one byte),
                    by its contents without the terminating zero

The name of an object is the base name of its file, or `archive(member)` with the base name of the
archive.

A run is the sequence of the names it touched, each at its first touch. Octave 0 is position 0, and
octave n the positions from 2^(n-1) to 2^n - 1. The rank of a name is its lowest position in the
first octave that, with those before it, has a twentieth of its runs. So a few runs that went astray
among many move nothing; and of few runs, the one that is soonest over finds what it needs together.
(With the median run in place of the twentieth, one in eight generated programs had a short run that
started more than 5% more slowly than without a front.) Positions by powers of two are what a front
can tell apart: late names are in large company. Entries are sorted by rank, then by runs (most
first), kind, class, name and file. Ranks are written as steps, so one new function changes one line
and not all lines after it.

Names are bytes, and never empty. Backslash, TAB, newline, the other control bytes (below 0x20, and
0x7f) and bytes that are not valid UTF-8 are written as `\\\\`, `\\t`, `\\n` and `\\xNN`. The same
holds for `program`.

Merging adds the runs, also those of each octave, and takes the lowest position in each octave, the
most bytes and the most windows touched. The stretch of several runs is the shortest that holds
theirs. There is none if a run knows how many bytes it touched and has none, or if it would be
longer than 16 KiB: then the name was touched in other places, too. So a stretch that is lost does
not come back. Merging is associative and commutative: the same traces give the same bytes in any
order, and in any partition into partial profiles.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from frontload.base import files
from frontload.base.errors import BadData
from frontload.elf.section_names import CLASSES

MAGIC = b"frontload-startup-profile"
MAJOR = 4
_WITHOUT_SPREADS, _WITHOUT_STRETCHES = 3, 2  # the versions that are enough for profiles without any
_VERSIONS = (_WITHOUT_STRETCHES, _WITHOUT_SPREADS, MAJOR)
LONGEST_STRETCH = 16 * 1024
_SHARE = 20  # one of so many runs of a name decides how early it is
KINDS = ("function", "data", "section", "string")

_MAKE_ONE = "make one with: frontload profile TRACE... -o FILE"
_AGAIN = "make it again from its traces with: frontload profile TRACE... -o FILE"
_NUMBER = re.compile(rb"0|[1-9][0-9]{0,18}")
_ESCAPE = re.compile(rb"\\(\\|t|n|x[0-9a-fA-F]{2}|)")
_UNSAFE = re.compile("[\\\\\x00-\x1f\x7f\udc80-\udcff]")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class Name(NamedTuple):
    """What an entry stands for; `file` is empty where the format has none."""

    kind: str
    section_class: str
    name: bytes
    file: bytes = b""

    @property
    def has_symbol(self) -> bool:
        """Whether it is the name of a symbol, which linked files and order files know."""
        return self.kind in ("function", "data")


class Stretch(NamedTuple):
    """The offsets of the first and the last touched byte, within a name."""

    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class Touched(NamedTuple):
    """How many bytes of a name were touched, the windows that cover them, and, where a large name
    was touched in one place only, that place. 0 bytes: nobody says."""

    size: int = 0
    windows: int = 0
    stretch: Stretch | None = None

    def merged(self, other: "Touched") -> "Touched":
        """What two runs touched: the most bytes and windows, and a stretch if that holds both."""
        if not self.size or not other.size:
            return self if self.size else other
        return Touched(max(self.size, other.size), max(self.windows, other.windows),
                       _united(self.stretch, other.stretch))


def _united(a: Stretch | None, b: Stretch | None) -> Stretch | None:
    if a is None or b is None:
        return None
    both = Stretch(min(a.first, b.first), max(a.last, b.last))
    return both if both.size <= LONGEST_STRETCH else None


class Octave(NamedTuple):
    """Positions of a name whose binary numbers have `number` digits (0 has none): how many runs
    have it there, and the lowest of these positions."""

    number: int
    runs: int
    lowest: int


class Touch(NamedTuple):
    """How many runs touched a name, its rank, how much of it was touched, and the octaves of its
    positions if there are several."""

    runs: int
    rank: int
    touched: Touched = Touched()
    spread: tuple[Octave, ...] = ()

    def octaves(self) -> tuple[Octave, ...]:
        return self.spread or (Octave(self.rank.bit_length(), self.runs, self.rank),)

    def times(self, weight: int) -> "Touch":
        """The same of so many times as many runs."""
        return self._replace(runs=weight * self.runs, spread=tuple(
            octave._replace(runs=weight * octave.runs) for octave in self.spread))

    def merged(self, other: "Touch", weight: int = 1) -> "Touch":
        """What two sets of runs touched; each run of the other counts as `weight` runs."""
        touched = self.touched.merged(other.touched)
        if not self.spread and not other.spread and \
                self.rank.bit_length() == other.rank.bit_length():  # nearly always
            return Touch(self.runs + weight * other.runs, min(self.rank, other.rank), touched)
        octaves = {octave.number: octave for octave in self.octaves()}
        for number, runs, lowest in other.octaves():
            mine = octaves.get(number, Octave(number, 0, lowest))
            octaves[number] = Octave(number, mine.runs + weight * runs, min(mine.lowest, lowest))
        return ranked(tuple(octaves[number] for number in sorted(octaves)), touched)


def ranked(octaves: tuple[Octave, ...], touched: Touched) -> Touch:
    """The touch that has these octaves, from the lowest on."""
    runs, up_to = sum(octave.runs for octave in octaves), 0
    for octave in octaves:
        up_to += octave.runs
        if _SHARE * up_to >= runs:
            break
    return Touch(runs, octave.lowest, touched, octaves if len(octaves) > 1 else ())


@dataclass
class Profile:
    program: bytes
    runs: int
    touches: dict[Name, Touch] = field(default_factory=dict)
    data_runs: int = 0
    knows_cold_parts: bool = True

    def in_order(self) -> list[tuple[Name, Touch]]:
        """The entries as they stand in the file."""
        return sorted(self.touches.items(),
                      key=lambda entry: (entry[1].rank, -entry[1].runs, *entry[0]))

    def add(self, other: "Profile", weight: int = 1) -> None:
        """Merges `other`, a profile of the same program, into this one; each of its runs counts as
        `weight` runs."""
        self.runs += weight * other.runs
        self.data_runs += weight * other.data_runs
        self.knows_cold_parts &= other.knows_cold_parts
        for name, touch in other.touches.items():
            mine = self.touches.get(name)
            if mine is not None:
                self.touches[name] = mine.merged(touch, weight)
            else:
                self.touches[name] = touch if weight == 1 else touch.times(weight)

    def leave_out_rare(self, share: float) -> int:
        """Removes names that less than this share of the runs touched that could have; returns how
        many. To be done when all runs are merged, or a part would lose what others have."""
        kept = {name: touch for name, touch in self.touches.items()
                if touch.runs >= share * self.limit(name.kind)}
        left_out = len(self.touches) - len(kept)
        self.touches = kept
        return left_out

    def limit(self, kind: str) -> int:
        """How many runs could have touched a name of this kind."""
        return self.runs if kind == "function" else self.data_runs


def from_run(program: bytes, names: Iterable[Name] | Mapping[Name, Touched],
             data: bool = False) -> Profile:
    """The profile of one run, from the names it touched in order; repetitions do not count.

    names: may map them to how much of each was touched
    data: whether the run recorded data, even if it touched none that has a name
    """
    known = names if isinstance(names, Mapping) else {}
    touches: dict[Name, Touch] = {}
    for name in names:
        if name not in touches:
            touches[name] = Touch(1, len(touches), known.get(name, Touched()))
    data = data or any(name.kind != "function" for name in touches)
    return Profile(program, 1, touches, int(data))


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
        raise ValueError("a control byte, perhaps from converted line ends")
    text.decode("utf-8")
    return _ESCAPE.sub(byte, text)


def to_bytes(profile: Profile) -> bytes:
    version = _WITHOUT_STRETCHES
    if any(touch.touched.stretch for touch in profile.touches.values()):
        version = _WITHOUT_SPREADS
    if any(touch.spread for touch in profile.touches.values()):
        version = MAJOR
    lines = [b"%s %d" % (MAGIC, version),
             b"program " + escape(profile.program),
             b"runs %d" % profile.runs]
    if profile.data_runs:
        lines.append(b"data-runs %d" % profile.data_runs)
    if not profile.knows_cold_parts:
        lines.append(b"cold-parts unknown")
    lines.append(b"# kind class runs step touched name [file]")
    rank = -1
    for name, touch in profile.in_order():
        fields = [name.kind.encode(), name.section_class.encode(), b"%d" % touch.runs,
                  b"+%d" % (touch.rank - rank) + _show_spread(touch.spread),
                  _show_touched(touch.touched), escape(name.name)]
        if name.file:
            fields.append(escape(name.file))
        lines.append(b"\t".join(fields))
        rank = touch.rank
    return b"\n".join(lines) + b"\n"


def _show_spread(spread: tuple[Octave, ...]) -> bytes:
    return b"@" * bool(spread) + b",".join(b"%d:%d:%d" % octave for octave in spread)


def _show_touched(touched: Touched) -> bytes:
    if not touched.size:
        return b"-"
    shown = b"%d" % touched.size
    if touched.windows > 1:
        shown += b"/%d" % touched.windows
    if touched.stretch:
        shown += b"@%d-%d" % touched.stretch
    return shown


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
        raise BadData(path, "truncated: the last line has no newline", line=len(lines) + 1,
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
            name, touch = _parse_entry(line, rank)
            rank = touch.rank
            if rank < 0:
                raise ValueError("the first step is at least +1")
            if not 1 <= touch.runs <= profile.limit(name.kind):
                with_data = "" if name.kind == "function" else " with data"
                raise ValueError(f"touched by {touch.runs} of {profile.limit(name.kind)} runs"
                                 + with_data)
            if name in profile.touches:
                raise ValueError("a second entry for the same name")
            profile.touches[name] = touch
        return profile or _from_header(header)
    except ValueError as problem:
        what = "not UTF-8" if isinstance(problem, UnicodeDecodeError) else str(problem)
        raise BadData(path, what, line=number, note=_MAKE_ONE) from problem


def _check_first_line(data: bytes, path) -> None:
    first = data[:len(MAGIC) + 32].split(b"\n", 1)[0]
    magic, _, version = first.partition(b" ")
    if magic != MAGIC:
        raise BadData(path, "not a startup profile", line=1, note=_MAKE_ONE)
    if version not in [b"%d" % each for each in _VERSIONS]:
        shown = escape(version).decode("utf-8")
        raise BadData(path, f"profile version `{shown}` is not 2, 3 or 4, which this frontload "
                      "reads",
                      line=1, note=_AGAIN if version == b"1" else
                      "read it with the frontload that made it, or a newer one")


def _parse_header_line(line: bytes, header: dict[bytes, bytes | int]) -> None:
    key, _, value = line.partition(b" ")
    if key in header:
        raise ValueError("a second header line of this key")
    parse = {b"program": unescape, b"runs": _parse_number, b"data-runs": _parse_number}
    header[key] = parse.get(key, bytes)(value)


def _from_header(header: dict[bytes, bytes | int]) -> Profile:
    if not header.get(b"program") or not header.get(b"runs"):
        raise ValueError("no header line `program` or `runs` before the entries")
    made = Profile(header[b"program"], header[b"runs"], data_runs=header.get(b"data-runs", 0),
                   knows_cold_parts=header.get(b"cold-parts") != b"unknown")
    if made.data_runs > made.runs:
        raise ValueError(f"{made.data_runs} of {made.runs} runs have data")
    return made


def _parse_entry(line: bytes, rank: int) -> tuple[Name, Touch]:
    """An entry, behind one of this rank."""
    fields = line.split(b"\t", 7)
    if len(fields) not in (6, 7):
        raise ValueError(f"an entry has 6 or 7 fields, not {len(fields)}")
    kind, section_class, _, step = (part.decode("utf-8") for part in fields[:4])
    if kind not in KINDS:
        raise ValueError(f"unknown kind `{kind}`")
    if section_class not in CLASSES:
        raise ValueError(f"unknown section class `{section_class}`")
    if not step.startswith("+"):
        raise ValueError(f"the step `{step}` does not start with +")
    names = [unescape(part) for part in fields[5:]]
    if not all(names):
        raise ValueError("an empty name")
    more, at, spread = fields[3][1:].partition(b"@")
    touch = Touch(_parse_number(fields[2]), rank + _parse_number(more), _parse_touched(fields[4]))
    if at:
        touch = _with_spread(touch, spread)
    return Name(kind, section_class, *names), touch


def _with_spread(touch: Touch, text: bytes) -> Touch:
    octaves = tuple(Octave(*map(_parse_number, octave.split(b":", 3)))
                    for octave in text.split(b",") if octave.count(b":") == 2)
    numbers = [octave.number for octave in octaves]
    if len(octaves) != text.count(b",") + 1 or len(octaves) < 2 or \
            any(octave.lowest.bit_length() != octave.number or not octave.runs
                for octave in octaves) or numbers != sorted(set(numbers)):
        raise ValueError(f"`{text.decode()}` is not a spread over octaves")
    spread = ranked(octaves, touch.touched)
    if spread[:2] != touch[:2]:
        raise ValueError(f"the spread `{text.decode()}` is that of {spread.runs} runs and rank "
                         f"{spread.rank}, not of {touch.runs} and {touch.rank}")
    return spread


def _parse_touched(text: bytes) -> Touched:
    if text == b"-":
        return Touched()
    amount, at, stretch = text.partition(b"@")
    size, slash, windows = amount.partition(b"/")
    touched = Touched(_parse_number(size), _parse_number(windows) if slash else 1,
                      _parse_stretch(stretch) if at else None)
    if not touched.size or (slash and touched.windows < 2):
        raise ValueError(f"`{text.decode()}` is not a number of touched bytes and windows")
    if touched.stretch and (slash or not touched.size <= touched.stretch.size <= LONGEST_STRETCH):
        raise ValueError(f"`{text.decode()}` is not a number of touched bytes and their stretch")
    return touched


def _parse_stretch(text: bytes) -> Stretch:
    first, _, last = text.partition(b"-")
    return Stretch(_parse_number(first), _parse_number(last))


def _parse_number(text: bytes) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"`{escape(text).decode('utf-8')}` is not a number")
    return int(text)
