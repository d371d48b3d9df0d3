"""Advice on how the file is laid out: a front, what is in it, and what is read beside it."""

import math
from collections.abc import Iterator

from frontload.base.demangle import demangled
from frontload.base.errors import count
from frontload.elf.relocations_report import size_text
from frontload.report.advice_loader import saved_by_packing
from frontload.report.events import READ
from frontload.report.sentence import Gain, Sentence, in_words, majors_in, read_of
from frontload.report.start import Start

_MAX_FAULTS = 3  # major faults, as even good layouts have
_LARGE_TABLE = 64 << 10
_SPARSE = 0.05
_USUAL_READ_AHEAD_KIB = 128


def front(start: Start) -> Iterator[Sentence]:
    """A program whose reads are scattered over its file gets a front."""
    if start.main is None or start.places[start.main].front:
        return
    file, read = start.recording.files[start.main], read_of(start, start.main)
    faults = len(majors_in(start, start.main))
    if faults <= _MAX_FAULTS or len(read) <= 1:
        return
    seen = start.events
    mine = (seen.file == start.main) & seen.of(READ)
    reads, backward = int(mine.sum()), int((mine & seen.backward).sum())
    evidence = (f"{file.name} was read in {len(read):,} separate stretches by {faults:,} major "
                f"faults" + (f", and {backward:,} of {reads:,} reads went backwards" if reads
                             else ""))
    how = "make a startup profile (frontload record, frontload profile) and link with ld.frontload"
    touched = start.touched[start.main]
    if touched is None:
        yield Sentence("front", f"{evidence}. A front makes it one stretch. Traces of the start "
                       "would tell how much that saves.", how)
        return
    wasted, packed = (read - touched.spans).size, saved_by_packing(start, start.main)
    window = (file.read_ahead_kib or _USUAL_READ_AHEAD_KIB) * 1024
    least = math.ceil((touched.spans.size - packed) / window)
    yield Sentence(
        "front",
        f"{evidence}. It read {size_text(read.size)} and used {size_text(read.size - wasted)}"
        + (f", {size_text(packed)} of which are relocations that ld.frontload packs" if packed
           else "")
        + f". In one stretch, the rest takes {count(least, 'read')} of {window >> 10} KiB, so a "
        "front saves at most all other reads. With a prefetch, the program does not wait for each "
        "of these reads.", how,
        Gain(max(faults - least, 0), wasted + packed))


def prefetch(start: Start) -> Iterator[Sentence]:
    """A prefetch would ask at once for a front that is faulted in piece by piece."""
    if start.main is None:
        return
    file, where = start.recording.files[start.main], start.places[start.main].front
    if where is None:
        return
    faults = len(majors_in(start, start.main, where))
    if faults <= _MAX_FAULTS:
        return
    more = (where - read_of(start, start.main)).size
    yield Sentence(
        "prefetch",
        f"{faults:,} major faults read the front of {file.name} piece by piece. A prefetch saves "
        f"all but at least one of them, and reads {size_text(more)} more of the front.",
        "link with -Wl,--front-prefetch, or start the program with frontload-run",
        Gain(faults - 1, -more))


def untrained(start: Start) -> Iterator[Sentence]:
    """A program with a front reads parts outside of it that no training run touched."""
    if start.main is None:
        return
    file, place = start.recording.files[start.main], start.places[start.main]
    where = place.front
    if where is None:
        return
    rows = majors_in(start, start.main)
    rows = rows[~where.holds(start.events.offset[rows])]
    outside = (read_of(start, start.main) - where).size
    if len(rows) <= _MAX_FAULTS:
        return
    names = [name for name in dict.fromkeys(place.symbol_at(start.events.offset[rows])) if name]
    shown = list(demangled(names).values())
    yield Sentence(
        "untrained",
        f"{len(rows):,} major faults read {size_text(outside)} of {file.name} outside its front"
        + (f", first in {in_words(shown)}" if shown else "")
        + ". A profile that knows what they touch saves at most these faults.",
        "record this start too, merge the profiles (frontload profile) and link again",
        Gain(len(rows), outside))


def sparse_tables(start: Start) -> Iterator[Sentence]:
    """Reading a large table is nearly a waste if the start uses little of it."""
    for number, waste in enumerate(start.waste):
        if waste is None:
            continue
        found = [each for each in waste.data
                 if each.size >= _LARGE_TABLE and each.read >= _LARGE_TABLE
                 and each.touched <= _SPARSE * each.read]
        if not found:
            continue
        names = demangled([each.name for each in found])
        read, used = (sum(getattr(each, what) for each in found) for what in ("read", "touched"))
        yield Sentence(
            "sparse-tables",
            f"This start read {size_text(read)} of {count(len(found), 'large table')} of "
            f"{start.recording.files[number].name} "
            f"({in_words([names[each.name] for each in found])}) and used {size_text(used)}. At "
            "most the rest can be saved.",
            "move the entries that startup uses into a table of their own, or look them up in a "
            "small index", Gain(None, read - used))
