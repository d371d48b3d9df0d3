"""The startup profile: what a program touches while it starts, by name, in first-touch order.

This declares the format. A startup profile is a text file. You can check it in, read it in a diff
and merge it:

    frontload-startup-profile 6
    program cc1
    runs 4
    data-runs 1
    kept-runs 51ce6ca6af43:1:data b6f2e650c416:3
    # kind class runs step touched name [file]
    function<TAB>text<TAB>4<TAB>+1<TAB>-<TAB>_start
    function<TAB>text<TAB>1=1<TAB>+1<TAB>224<TAB>helper<TAB>main.c
    function<TAB>text<TAB>3=2<TAB>+1<TAB>~<TAB>_ZN3box3getEv
    data<TAB>rodata<TAB>1<TAB>+0<TAB>720/3<TAB>_ZN4llvm8X86DescsE
    data<TAB>rodata<TAB>1<TAB>+1<TAB>112@656-799<TAB>keywords
    section<TAB>rodata<TAB>1<TAB>+1<TAB>48<TAB>.rodata._ZN3foo3barEv<TAB>libFoo.a(Bar.cpp.o)
    string<TAB>rodata<TAB>1<TAB>+1<TAB>6<TAB>hello

Line 1 is the magic and the major version, the lowest that has all that the profile needs. Version 3
added stretches (see `touched`), 4 spreads (see `step`), 5 generations (see below) and the kept runs
of an entry (see `runs`), 6 inlinable entries (see `touched`). Older profiles are read as they are.
A reader refuses any other major version. Every line, including the last, ends in a newline, so a
reader notices a file that was cut in the middle of a line. Empty lines and lines that start with
`#` mean nothing.

Any other line without a TAB is a header line, `key value` with one space between. All header lines
stand before the first entry, and a reader ignores keys it does not know.

    program    the base name of the linked file: of the program, or of the shared library
    runs       how many runs (recorded processes) the profile was made from, 1 or more; a run with a
               weight counts as that many
    data-runs  how many of them also recorded touches of data; left out if none did
    cold-parts `unknown` if a run was of an instrumented PGO build: only the build that is made with
               its counts knows which cold parts (f.cold) are entered. Otherwise left out: then a
               cold part without an entry was not entered
    generations only if some runs have the label of a generation: the generations, the newest first,
               each as LABEL:runs:data-runs, and `:cold-parts-unknown` behind it if a run of it was
               of an instrumented PGO build. The label `-` is that of runs without one, which are
               the oldest
    kept-runs  some of the runs, or all if they are no more than 64, with spaces between: each as
               `id:weight`, `:data` if it recorded touches of data, and, if there are several
               generations, `@` and the place of its own, from 0 on. The id is a hash of what the
               run did, in 12 hexadecimal digits; runs of a generation that did the very same are
               one, with their weights added. They are the 64 of the newest generations and, within
               one, with the smallest ids, in that order
    blocks:HASH:NAME[:FILE] only of functions whose basic blocks are known, a line for each: which
               of them how many runs touched (block_counts.py has the rule). A reader of any version
               that does not know these lines passes over them

A line with TABs is an entry. Each name has one, of six or seven fields:

    kind     function, data, section or string
    class    the section class it was found in: text rodata relro data bss
    runs     how many runs touched it: from 1 to the header's `runs`, or to its `data-runs` for
             data, sections and strings. If there are several generations, `@` follows, and how many
             runs of each touched it, such as `9@2,0,1`. If not all of the kept runs that could
             have touched it did, `=` follows, and which did: a hexadecimal number, whose lowest bit
             stands for the first of `kept-runs`
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
             knows: breakpoints record only entries. `~` if no run knows, and the function is
             *inlinable*: all runs were of programs with hooks (-finstrument-functions), where it is
             a weak, hidden or local symbol, or of namespace std. Such a program records functions
             that it inlines, and another build need not have them, so they do not count as missing
             there
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
first octave that, with those before it, has a twentieth of its runs. So a few odd runs among many
move nothing. Of few runs, the shortest finds what it needs together. (With the median run in place
of the twentieth, one in eight generated programs had a short run that started more than 5% more
slowly than without a front.) A front can only distinguish positions by powers of two, because late
names are in large company. Entries are sorted by rank, then by runs (most first), kind, class, name
and file. Ranks are written as steps, so one new function changes one line and not all lines after
it.

Names are bytes, and never empty. Backslash, TAB, newline, the other control bytes (below 0x20, and
0x7f) and bytes that are not valid UTF-8 are written as `\\\\`, `\\t`, `\\n` and `\\xNN`. The same
holds for `program`.

Counts do not say whether the runs that touched one name also touched another. Kept runs do: what
the same runs touch is laid out together, and a linker can tell what a run that was trained would
read. They are those with the smallest ids, which are hashes: a sample of all runs that does not
depend on the order of merges.

Merging adds the runs, also those of each octave, and takes the lowest position in each octave, the
most bytes and the most windows touched. A function is inlinable if it is in all. The stretch of
several runs is the shortest that holds theirs. There is none if a run knows how many bytes it
touched and has none, or if it would be longer than 16 KiB: then the name was touched in other
places. So a stretch that is lost does not come back. Of the kept runs, the first 64 remain.
Merging is associative and commutative: the same traces give the same bytes in any order, and in any
partition into partial profiles.

A *generation* is the runs of one build, or of one day, under its label (generations.py defines
labels, and which of two is newer). A run of each generation counts as two runs of the generation
before: of three generations, a run of the newest counts as four, and `9@2,0,1` are two such runs
and one of the oldest. The header's `runs` and `data-runs` also count in this way, and so do the
weights of kept runs. So a name that newer builds no longer touch fades. It may also have gone from
the program. How a name is touched, its rank, spread and bytes, comes from the newest generation
that touched it, alone. Leaving out the oldest generations, with the names that only they touched,
and merging may come in any order.
"""

import functools
import io
import itertools
import operator
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from frontload.base import files
from frontload.base.errors import BadData, Failure
from frontload.elf.section_names import CLASSES
from frontload.profile import block_counts, kept_runs
from frontload.profile import generations as ages
from frontload.profile.block_counts import Blocks
from frontload.profile.generations import Generation
from frontload.profile.startup_profile import (
    KINDS,
    LONGEST_STRETCH,
    Name,
    Octave,
    Profile,
    Stretch,
    Touch,
    Touched,
    ranked,
)

MAGIC = b"frontload-startup-profile"
MAJOR = 6
# The versions for profiles without inlinable functions, generations, spreads or stretches.
_WITHOUT_INLINABLE, _WITHOUT_GENERATIONS, _WITHOUT_SPREADS, _WITHOUT_STRETCHES = 5, 4, 3, 2
_MAX_FIRST_LINE = len(MAGIC) + 32  # bytes that it has at most

_MAKE_ONE = "make one with: frontload profile TRACE... -o FILE"
_AGAIN = "make it again from its traces with: frontload profile TRACE... -o FILE"
_NUMBER = re.compile(rb"0|[1-9][0-9]{0,18}")
_MAX_RUNS = 10 ** 18 - 1
_ESCAPE = re.compile(rb"\\(\\|t|n|x[0-9a-fA-F]{2}|)")
_UNSAFE = re.compile("[\\\\\x00-\x1f\x7f\udc80-\udcff]")
_PLAIN = bytes(byte for byte in range(0x20, 0x7f) if byte != 0x5c)
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


def escape(name: bytes) -> bytes:
    def code(match: re.Match[str]) -> str:
        byte = ord(match[0]) & 0xff  # a surrogate stands for a byte that is not UTF-8
        return {0x5c: "\\\\", 0x09: "\\t", 0x0a: "\\n"}.get(byte, f"\\x{byte:02x}")
    if _is_plain(name):
        return name
    return _UNSAFE.sub(code, name.decode("utf-8", "surrogateescape")).encode("utf-8")


def _is_plain(text: bytes) -> bool:
    """Whether a text is written unchanged, as its bytes alone show."""
    return not text.translate(None, _PLAIN)


def unescape(text: bytes) -> bytes:
    """Undoes `escape`; raises ValueError for what it never writes."""
    def byte(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if not code:
            raise ValueError("a backslash that starts no escape")
        return {b"\\": b"\\", b"t": b"\t", b"n": b"\n"}.get(code) or bytes([int(code[1:], 16)])
    if _is_plain(text):
        return text
    if _CONTROL.search(text):
        raise ValueError("a control byte, perhaps from converted line ends")
    text.decode("utf-8")
    return _ESCAPE.sub(byte, text)


def to_bytes(profile: Profile) -> bytes:
    if profile.runs > _MAX_RUNS:
        raise Failure(f"{os.fsdecode(profile.program)}: its runs count as {profile.runs}, of which "
                      f"a profile can tell {_MAX_RUNS}",
                      note="give smaller weights, or keep fewer generations")
    version = _WITHOUT_STRETCHES
    if any(map(operator.attrgetter("touched.stretch"), profile.touches.values())):
        version = _WITHOUT_SPREADS
    if any(map(operator.attrgetter("spread"), profile.touches.values())):
        version = _WITHOUT_GENERATIONS
    all_kept = {kind: profile.kept.of(kind != "function") for kind in KINDS}
    kept_by = {name: word for name, word in profile.kept.touches.items()
               if word != all_kept[name.kind]}
    if len(profile.kept.touches) < len(profile.touches):
        kept_by |= {name: 0 for name in profile.touches
                    if name not in profile.kept.touches and all_kept[name.kind]}
    if profile.generations or kept_by:
        version = _WITHOUT_INLINABLE
    if any(map(operator.attrgetter("touched.inlinable"), profile.touches.values())):
        version = MAJOR
    lines = [b"%s %d" % (MAGIC, version),
             b"program " + escape(profile.program),
             b"runs %d" % profile.runs]
    if profile.data_runs:
        lines.append(b"data-runs %d" % profile.data_runs)
    if not profile.knows_cold_parts:
        lines.append(b"cold-parts unknown")
    if profile.generations:
        lines.append(b"generations " + ages.to_bytes(profile.generations))
    if profile.kept.runs:
        lines.append(b"kept-runs " + profile.kept.to_bytes(len(profile.generations)))
    lines += block_counts.header_lines(profile.blocks, escape)
    lines.append(b"# kind class runs step touched name [file]")
    several = len(profile.generations) > 1
    return b"\n".join([*lines, *_entry_lines(profile.in_order(), several, kept_by)]) + b"\n"


def _entry_lines(entries: list[tuple[Name, Touch]], several: bool,
                 kept_by: Mapping[Name, int]) -> Iterator[bytes]:
    """The lines of the entries.

    several: whether there are several generations
    kept_by: the kept runs that touched a name, unless all did that could
    """
    show_start, show_touched = functools.cache(_show_start), functools.cache(_show_touched)
    rank = -1
    for name, touch in entries:
        start = show_start(name.kind, name.section_class, touch.runs,
                           touch.by_generation * several, kept_by.get(name))
        yield b"%b%d%b\t%b\t%b%b" % (
            start, touch.rank - rank, _show_spread(touch.spread), show_touched(touch.touched),
            escape(name.name), b"\t" + escape(name.file) if name.file else b"")
        rank = touch.rank


def _show_start(kind: str, section_class: str, runs: int, by_generation: tuple[int, ...],
                kept_by: int | None) -> bytes:
    shown = b"%b\t%b\t%d" % (kind.encode(), section_class.encode(), runs)
    if by_generation:
        shown += b"@" + b",".join(b"%d" % each for each in by_generation)
    if kept_by is not None:
        shown += b"=%x" % kept_by
    return shown + b"\t+"


def _show_spread(spread: tuple[Octave, ...]) -> bytes:
    return b"@" * bool(spread) + b",".join(b"%d:%d:%d" % octave for octave in spread)


def _show_touched(touched: Touched) -> bytes:
    if not touched.size:
        return b"~" if touched.inlinable else b"-"
    shown = b"%d" % touched.size
    if touched.windows > 1:
        shown += b"/%d" % touched.windows
    if touched.stretch:
        shown += b"@%d-%d" % touched.stretch
    return shown


def read(path: os.PathLike[str] | str) -> Profile:
    """Reads a profile; bad contents raise BadData with the line."""
    with files.open_input(path, note=_MAKE_ONE) as stream:
        profile = _parse(stream, path)
    if not profile.touches:
        raise BadData(path, "the startup profile has no entries", note=_MAKE_ONE)
    return profile


def parse(data: bytes, path: os.PathLike[str] | str) -> Profile:
    """The profile in `data`; `path` is for the messages."""
    return _parse(io.BytesIO(data), path)


def _parse(stream: IO[bytes], path: os.PathLike[str] | str) -> Profile:
    first = stream.readline(_MAX_FIRST_LINE)
    version = _check_first_line(first, path)
    header: dict[bytes, Any] = {}
    fields, number = None, 1
    try:
        for number, text in enumerate(itertools.chain([first], stream), 1):
            # A profile that was cut in a line must not pass for a shorter one.
            if not text.endswith(b"\n"):
                raise BadData(path, "truncated: the last line has no newline", line=number,
                              note="copy or make it again")
            line = text[:-1]
            if number == 1 or not line or line.startswith(b"#"):
                continue
            if fields is None and b"\t" in line:
                fields = _Fields(_from_header(header, version))
            if fields is None:
                _parse_header_line(line, header)
            else:
                fields.add(line)
        return fields.profile if fields is not None else _from_header(header, version)
    except ValueError as problem:
        what = "not UTF-8" if isinstance(problem, UnicodeDecodeError) else str(problem)
        raise BadData(path, what, line=number, note=_MAKE_ONE) from problem


def _check_first_line(line: bytes, path: os.PathLike[str] | str) -> int:
    """Returns the version."""
    magic, _, version = line.removesuffix(b"\n").partition(b" ")
    if magic != MAGIC:
        raise BadData(path, "not a startup profile", line=1, note=_MAKE_ONE)
    known = _NUMBER.fullmatch(version) and int(version)
    if known and known > MAJOR:
        raise BadData(path, f"profile version `{known}` is newer than this frontload, which reads "
                      f"versions {_WITHOUT_STRETCHES} to {MAJOR}", line=1, note="read it with the "
                      "frontload that made it, or a newer one")
    if not known or known < _WITHOUT_STRETCHES:
        shown = escape(version).decode("utf-8")
        raise BadData(path, f"profile version `{shown}` is none of those from "
                      f"{_WITHOUT_STRETCHES} to {MAJOR}, which this frontload reads",
                      line=1, note=_AGAIN if known else "copy or make it again")
    return known


def _parse_header_line(line: bytes, header: dict[bytes, Any]) -> None:
    key, _, value = line.partition(b" ")
    if key in header:
        raise ValueError("a second header line of this key")
    if key.startswith(block_counts.KEY):
        shape, counts = block_counts.parse(key, value, _parse_name)
        header.setdefault(block_counts.KEY, Blocks())[shape] = counts
    parse: dict[bytes, Callable[[bytes], object]] = {
        b"program": unescape, b"runs": _parse_number, b"data-runs": _parse_number,
        b"generations": ages.parse, b"kept-runs": kept_runs.parse}
    header[key] = parse.get(key, bytes)(value)


def _from_header(header: dict[bytes, Any], version: int) -> Profile:
    if not header.get(b"program") or not header.get(b"runs"):
        raise ValueError("no header line `program` or `runs` before the entries")
    made = Profile(header[b"program"], header[b"runs"], data_runs=header.get(b"data-runs", 0),
                   knows_cold_parts=header.get(b"cold-parts") != b"unknown")
    if made.data_runs > made.runs:
        raise ValueError(f"{made.data_runs} of {made.runs} runs have data")
    if b"generations" in header and version <= _WITHOUT_GENERATIONS:
        raise ValueError(f"profiles of version {version} have no generations")
    if b"generations" in header:
        _check_generations(made, header[b"generations"])
    made.kept = kept_runs.weighed(header.get(b"kept-runs", ()), len(made.generations))
    made.blocks = header.get(block_counts.KEY, made.blocks)
    for kind in ("function", "data"):
        kept = made.weight_of_kept(made.kept.of(kind != "function"))
        if kept > made.limit(kind):
            raise ValueError(f"keeps {kept} of {made.limit(kind)} runs"
                             + " with data" * (kind != "function"))
    return made


def _check_generations(made: Profile, generations: tuple[Generation, ...]) -> None:
    said = made.runs, made.data_runs, made.knows_cold_parts
    made._set_generations(generations)
    if said != (made.runs, made.data_runs, made.knows_cold_parts):
        raise ValueError(f"the generations have {made.runs} runs, {made.data_runs} with data, "
                         f"not {said[0]} and {said[1]}" if said[:2] != (made.runs, made.data_runs)
                         else "what the generations know of cold parts is not what the profile "
                         "knows")


def _parse_kept_by(text: bytes, kind: str, runs: int, profile: Profile) -> int:
    """Which of the kept runs touched a name that `runs` runs touched."""
    could = profile.kept.of(kind != "function")
    word = kept_runs.parse_word(text, could)
    weight = profile.weight_of_kept(word)
    others = profile.limit(kind) - profile.weight_of_kept(could)
    if not weight <= runs <= weight + others:
        raise ValueError(f"touched by {runs} runs, but {weight} of the kept ones and at most "
                         f"{others} others")
    return word


class _Fields:
    """Reads entries into a profile whose header has been read. Fields that many entries share are
    read once, and kept once."""

    def __init__(self, profile: Profile):
        self.profile = profile
        self._touches, self._kept = profile.touches, profile.kept.touches
        self._rank = -1  # of the last entry
        self._parse_start = functools.cache(_parse_start)
        self._parse_runs = functools.cache(lambda text, kind: _parse_runs(text, kind, profile))
        self._parse_step = functools.cache(_parse_step)
        self._parse_touched = functools.cache(_parse_touched)
        self._parse_file = functools.cache(_parse_name)

    def add(self, line: bytes) -> None:
        """Adds an entry; raises ValueError if it is none."""
        fields = line.split(b"\t", 7)
        if len(fields) not in (6, 7):
            raise ValueError(f"an entry has 6 or 7 fields, not {len(fields)}")
        first, second, runs, step, touched, name, *file = fields
        kind, section_class = self._parse_start(first, second)
        more, spread = self._parse_step(step)
        number, by_generation, kept = self._parse_runs(runs, kind)
        rank = self._rank + more
        entry = Name(kind, section_class, _parse_name(name),
                     self._parse_file(file[0]) if file else b"")
        touch = Touch(number, rank, self._parse_touched(touched), (), by_generation)
        if spread is not None:
            touch = _with_spread(touch, spread)
        if rank < 0:
            raise ValueError("the first step is at least +1")
        if entry in self._touches:
            raise ValueError("a second entry for the same name")
        self._rank = rank
        self._touches[entry] = touch
        if kept:
            self._kept[entry] = kept


def _parse_step(text: bytes) -> tuple[int, bytes | None]:
    """The step of the rank, and the spread if there is one."""
    if not text.startswith(b"+"):
        raise ValueError(f"the step `{text.decode()}` does not start with +")
    more, at, spread = text[1:].partition(b"@")
    return _parse_number(more), spread if at else None


def _parse_start(*fields: bytes) -> tuple[str, str]:
    kind, section_class = (part.decode("utf-8") for part in fields)
    if kind not in KINDS:
        raise ValueError(f"unknown kind `{kind}`")
    if section_class not in CLASSES:
        raise ValueError(f"unknown section class `{section_class}`")
    return kind, section_class


def _parse_name(text: bytes) -> bytes:
    name = unescape(text)
    if not name:
        raise ValueError("an empty name")
    return name


def _parse_runs(text: bytes, kind: str, profile: Profile) -> tuple[int, tuple[int, ...], int]:
    """How many runs touched an entry, in all and by generation; and which of the kept runs did."""
    runs, by_generation = _parse_counts(text.partition(b"=")[0], kind, profile)
    limit = profile.limit(kind)
    if not 1 <= runs <= limit:
        raise ValueError(f"touched by {runs} of {limit} runs"
                         + ("" if kind == "function" else " with data"))
    return runs, by_generation, _parse_kept_by(text, kind, runs, profile)


def _parse_counts(text: bytes, kind: str, profile: Profile) -> tuple[int, tuple[int, ...]]:
    number, at, listed = text.partition(b"@")
    runs = _parse_number(number)
    if len(profile.generations) < 2:
        if at:
            raise ValueError(f"`{escape(text).decode('utf-8')}` is not a number")
        return runs, (runs,) if profile.generations else ()
    by_generation = tuple(map(_parse_number, listed.split(b",", len(profile.generations))))
    if len(by_generation) != len(profile.generations):
        raise ValueError(f"runs of {len(by_generation)} generations, not of "
                         f"{len(profile.generations)}")
    for mine, each in zip(by_generation, profile.generations, strict=True):
        if mine > (each.runs if kind == "function" else each.data_runs):
            raise ValueError(f"touched by {mine} runs of the generation "
                             f"`{each.label.decode() or '-'}`, which has fewer")
    if not runs or ages.weighed(by_generation) != runs:
        raise ValueError(f"the runs of the generations are {ages.weighed(by_generation)} in all, "
                         f"not {runs}")
    return runs, by_generation


def _with_spread(touch: Touch, text: bytes) -> Touch:
    octaves = tuple(Octave(*map(_parse_number, octave.split(b":", 3)))
                    for octave in text.split(b",") if octave.count(b":") == 2)
    numbers = [octave.number for octave in octaves]
    if len(octaves) != text.count(b",") + 1 or len(octaves) < 2 or \
            any(octave.lowest.bit_length() != octave.number or not octave.runs
                for octave in octaves) or numbers != sorted(set(numbers)):
        raise ValueError(f"`{text.decode()}` is not a spread over octaves")
    spread = ranked(octaves, touch.touched)
    runs = touch.octaves()[0].runs
    if (spread.runs, spread.rank) != (runs, touch.rank):
        raise ValueError(f"the spread `{text.decode()}` is that of {spread.runs} runs and rank "
                         f"{spread.rank}, not of {runs} and {touch.rank}")
    return touch._replace(spread=spread.spread)


def _parse_touched(text: bytes) -> Touched:
    if text in (b"-", b"~"):
        return Touched(inlinable=text == b"~")
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
