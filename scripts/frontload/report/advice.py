"""Advice: what would make a start read less, each piece a sentence with its evidence and its gain.

A rule looks at one start and returns advice or nothing. It uses only what was seen in this start: a
table of relocations that was in memory costs nothing, so no rule mentions it. The advice that would
save the most major faults comes first, then the most bytes.

A gain is a saving that the data shows, never a guess. If it is an upper limit, the sentence says
"at most". An unknown gain is None. A negative gain of bytes means that more is read.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from frontload.base.demangle import demangled
from frontload.base.errors import count
from frontload.elf import relocations
from frontload.faults.waits import DISK
from frontload.report.events import READ
from frontload.report.start import Start

_MAX_FAULTS = 3  # major faults, as even good layouts have
_USUAL_READ_AHEAD_KIB = 128
_MIN_WAIT = 0.05  # of the time of the start; less is not worth advice
_MIN_WAIT_NS = 1_000_000
_PAGE = 4096
_SYSTEM_FOLDERS = ("/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/")


@dataclass(frozen=True)
class Gain:
    major_faults: int | None = None
    read_bytes: int | None = None


@dataclass(frozen=True)
class Sentence:
    id: str
    text: str
    how: str
    gain: Gain = field(default_factory=Gain)


def advice(start: Start) -> list[Sentence]:
    """The advice of all rules, most gain first."""
    found = [sentence for rule in RULES for sentence in rule(start)]
    return sorted(found, key=lambda each: (-(each.gain.major_faults or 0),
                                           -(each.gain.read_bytes or 0)))


def front(start: Start) -> Iterator[Sentence]:
    """A program whose reads are scattered over its file gets a front."""
    if start.main is None or start.places[start.main].front:
        return
    file, read = start.recording.files[start.main], start.read_of(start.main)
    faults = len(start.majors_in(start.main))
    if faults <= _MAX_FAULTS or len(read) <= 1:
        return
    seen = start.events
    mine = (seen.file == start.main) & seen.of(READ)
    reads, backward = int(mine.sum()), int((mine & seen.backward).sum())
    evidence = (f"{file.name} was read in {len(read):,} separate extents by {faults:,} major "
                f"faults" + (f", and {backward:,} of {reads:,} reads went backwards" if reads
                             else ""))
    how = "make a startup profile (frontload record, frontload profile) and link with ld.frontload"
    touched = start.touched[start.main]
    if touched is None:
        yield Sentence("front", f"{evidence}. A front makes it one stretch. Traces of the start "
                       "would tell how much that saves.", how)
        return
    wasted, relr = (read - touched).size, _packed(start, start.main)
    packed = relr.gain.read_bytes or 0 if relr else 0
    window = (file.read_ahead_kib or _USUAL_READ_AHEAD_KIB) * 1024
    least = math.ceil((touched.size - packed) / window)
    yield Sentence(
        "front",
        f"{evidence}. It read {_size_text(read.size)} and used {_size_text(read.size - wasted)}"
        + (f", {_size_text(packed)} of which are relocations that ld.frontload packs" if packed
           else "")
        + f". In one stretch, the rest takes {count(least, 'read')} of {window >> 10} KiB, so a "
        "front saves at most all other reads. With a prefetch, the program does not wait for each "
        "of these reads.", how,
        Gain(max(faults - least, 0), wasted + packed))


def with_front(start: Start) -> Iterator[Sentence]:
    """A prefetch would ask at once for a front that is faulted in piece by piece; the parts outside
    of it that are read, no training run touched."""
    if start.main is None:
        return
    file, place = start.recording.files[start.main], start.places[start.main]
    where, rows, read = place.front, start.majors_in(start.main), start.read_of(start.main)
    if where is None:
        return
    is_inside = where.holds(start.events.offset[rows])
    inside, outside = int(is_inside.sum()), rows[~is_inside]
    asks = place.front_name
    if inside > _MAX_FAULTS:
        more = (where - read).size
        yield Sentence(
            "prefetch",
            f"{inside:,} major faults read what the {asks} of {file.name} has, piece by piece. A "
            "prefetch saves all but at least one of them, and reads "
            f"{_size_text(more)} more of it.",
            f"link with {'-Wl,--front' if asks == 'front' else '-lfrontload'}-prefetch, or start "
            "the program with frontload-run",
            Gain(inside - 1, -more))
    if len(outside) > _MAX_FAULTS:
        size = (read - where).size
        names = dict.fromkeys(place.symbol_at(start.events.offset[outside]))
        shown = list(demangled(name for name in names if name).values())
        yield Sentence(
            "untrained",
            f"{len(outside):,} major faults read {_size_text(size)} of {file.name} outside its "
            + asks + (f", first in {_in_words(shown)}" if shown else "")
            + ". A profile that knows what they touch saves at most these faults.",
            "record this start too, merge the profiles (frontload profile) and link again",
            Gain(len(outside), size))


def waits(start: Start) -> Iterator[Sentence]:
    """No layout makes waits for other things than files shorter, so users should not expect that of
    a front."""
    by_phase: Counter[str] = Counter()
    by_call: Counter[str] = Counter()
    for phase in start.recording.phases:
        for reason, time in (phase.waits_ns or {}).items():
            if reason != DISK:
                by_phase[phase.name] += time
                by_call[reason] += time
    total, whole = by_call.total(), start.recording.wall_ns or 0
    if total < max(_MIN_WAIT_NS, _MIN_WAIT * whole):
        return
    where, why = ([f"{time / 1e6:.0f} ms in {name}" for name, time in times.most_common()]
                  for times in (by_phase, by_call))
    yield Sentence(
        "waits",
        f"For {total / 1e6:.0f} ms of this start's {whole / 1e6:.0f} ms, none of its threads ran, "
        f"and none waited for a file: {_in_words(where)}; by system call, {_in_words(why)}. No "
        "layout makes these times shorter.",
        "strace -f -T shows what these system calls wait for")


def packing(start: Start) -> Iterator[Sentence]:
    """The loader reads the whole table of relative relocations that are not packed."""
    for number, place in enumerate(start.places):
        # Users do not relink the files of the distribution.
        is_ours = number == start.main or not place.file.path.startswith(_SYSTEM_FOLDERS)
        packed = _packed(start, number) if is_ours else None
        if packed and (packed.gain.read_bytes or 0) >= _PAGE:
            yield packed


def _packed(start: Start, number: int) -> Sentence | None:
    """What less would have been read of the table of a file's relative relocations."""
    place = start.places[number]
    if place.elf is None or place.loading is None:
        return None
    now, then = relocations.packing(place.loading)
    if then >= now:
        return None
    table = place.sections(".rela.dyn", ".rel.dyn")
    read = (start.read_of(number) & table).size
    faults = len(start.majors_in(number, table))
    saved, whole = now - then, max(table.size, now)
    return Sentence(
        "relr",
        f"{place.file.name} has {_size_text(now)} of relative relocations. This start read "
        f"{_size_text(read)} of their table in {count(faults, 'major fault')}. Packed, they take "
        f"{_size_text(then)}.",
        "link with -Wl,-z,pack-relative-relocs (needs glibc 2.36 or musl 1.2.4, or newer)",
        Gain(faults * saved // whole, read * saved // whole))


def _size_text(size: int) -> str:
    if size < 1000:
        return count(size, "byte")
    return f"{size / 1e3:.1f} kB" if size < 100_000 else f"{size / 1e6:.2f} MB"


def _in_words(names: list[str], most: int = 3) -> str:
    """`a, b and 2 more`."""
    shown = names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


RULES = front, with_front, packing, waits
