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

_FEW = 3  # major faults that a good layout has, too
_LARGE_TABLE = 64 << 10
_SPARSE = 0.05
_USUAL_READ_AHEAD_KIB = 128


def front(start: Start) -> Iterator[Sentence]:
    """A program that is read here and there gets a front."""
    if start.main is None or start.places[start.main].front:
        return
    file, read = start.recording.files[start.main], read_of(start, start.main)
    faults = len(majors_in(start, start.main))
    if faults <= _FEW or len(read) <= 1:
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
        yield Sentence("front", f"{evidence}; a front makes it one. How much that saves, traces of "
                       "the start would tell.", how)
        return
    wasted, packed = (read - touched.spans).size, saved_by_packing(start, start.main)
    window = (file.read_ahead_kib or _USUAL_READ_AHEAD_KIB) * 1024
    least = math.ceil((touched.spans.size - packed) / window)
    yield Sentence(
        "front",
        f"{evidence}. Of the {size_text(read.size)} that were read it uses "
        f"{size_text(read.size - wasted)}"
        + (f", {size_text(packed)} of which are relocations that ld.frontload packs" if packed
           else "")
        + f". The rest in one stretch is {count(least, 'read')} of {window >> 10} KiB, so a front "
        "saves at most all else; prefetched, nothing waits for these reads one by one.", how,
        Gain(max(faults - least, 0), wasted + packed))


def prefetch(start: Start) -> Iterator[Sentence]:
    """A front that is faulted in piece by piece could be asked for at once."""
    if start.main is None:
        return
    file, where = start.recording.files[start.main], start.places[start.main].front
    if where is None:
        return
    faults = len(majors_in(start, start.main, where))
    if faults <= _FEW:
        return
    more = (where - read_of(start, start.main)).size
    yield Sentence(
        "prefetch",
        f"{faults:,} major faults read the front of {file.name} piece by piece; asked for at once, "
        f"all but at least one of them are saved, and {size_text(more)} more of it are read.",
        "link with -Wl,--front-prefetch, or start it by frontload-run",
        Gain(faults - 1, -more))


def untrained(start: Start) -> Iterator[Sentence]:
    """What a program with a front reads outside of it, no training run has touched."""
    if start.main is None:
        return
    file, place = start.recording.files[start.main], start.places[start.main]
    where = place.front
    if where is None:
        return
    rows = majors_in(start, start.main)
    rows = rows[~where.holds(start.events.offset[rows])]
    outside = (read_of(start, start.main) - where).size
    if len(rows) <= _FEW:
        return
    names = [name for name in dict.fromkeys(place.symbol_at(start.events.offset[rows])) if name]
    shown = list(demangled(names).values())
    yield Sentence(
        "untrained",
        f"{len(rows):,} major faults read {size_text(outside)} of {file.name} outside of its front"
        + (f", first in {in_words(shown)}" if shown else "")
        + "; a profile that knows what they touch saves at most these.",
        "record what this start does, too, merge the profiles (frontload profile) and link again",
        Gain(len(rows), outside))


def sparse_tables(start: Start) -> Iterator[Sentence]:
    """Large data of which little is used is read nearly for nothing."""
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
            f"{size_text(read)} of {count(len(found), 'large table')} of "
            f"{start.recording.files[number].name} were read "
            f"({in_words([names[each.name] for each in found])}) and {size_text(used)} of them "
            "used; at most the rest is saved.",
            "put the entries that startup uses into a table of their own, or look them up by a "
            "small index", Gain(None, read - used))
