"""Advice on what the dynamic loader does: relocations, symbols, and many small libraries."""

import re
from collections.abc import Iterator

from frontload.base.errors import count
from frontload.elf import relocations
from frontload.elf.relocations import Change
from frontload.elf.relocations_report import size_text
from frontload.report.events import CAUSES, MAJOR, is_loader
from frontload.report.sentence import Gain, Sentence, majors_in, own_files, read_of
from frontload.report.start import Start

_PAGE = 4096
_PACKED = "-z pack-relative-relocs"
_TABLES = (".rela.dyn", ".rel.dyn")
_SMALL_LIBRARY = 1 << 20
_LOOKUPS = 100  # fewer are not worth a flag
_SYMBOL_SECTIONS = (".dynsym", ".dynstr", ".gnu.hash", ".hash", ".gnu.version")
# The C library, its parts and what Frontload itself adds.
_STAYS = re.compile(r"(libc|libm|libdl|librt|libpthread|libc\.musl.*|libfrontload.*)[-.0-9a-z_]*")


def saved_by_packing(start: Start, number: int) -> int:
    """How many bytes less of a file would have been read with packed relative relocations."""
    change = _change(start, number, _PACKED)
    if change is None:
        return 0
    table = start.places[number].sections(*_TABLES)
    read = (read_of(start, number) & table).size
    return read * (change.now - change.then) // max(table.size, change.now)


def packing(start: Start) -> Iterator[Sentence]:
    """The loader reads the whole table of relative relocations that are not packed."""
    for number in own_files(start):
        change, saved = _change(start, number, _PACKED), saved_by_packing(start, number)
        if change is None or saved < _PAGE:
            continue
        table = start.places[number].sections(*_TABLES)
        read = (read_of(start, number) & table).size
        faults = len(majors_in(start, number, table))
        fewer = faults * (change.now - change.then) // max(table.size, change.now)
        yield Sentence(
            "relr",
            f"{start.recording.files[number].name} has {size_text(change.now)} of relative "
            f"relocations. This start read {size_text(read)} of their table in "
            f"{count(faults, 'major fault')}. Packed, they take {size_text(change.then)}.",
            "link with -Wl,-z,pack-relative-relocs (needs glibc 2.36 or musl 1.2.4, or newer)",
            Gain(fewer, saved))


def fixed_addresses(start: Start) -> Iterator[Sentence]:
    """A program that is not position-independent needs no relative relocations: the file holds the
    final values, and a start reads only those it uses."""
    if start.main is None or start.places[start.main].elf is None:
        return
    change = _change(start, start.main, "-no-pie", "pages written")
    if change is None:
        return
    seen = start.events
    relocating = (seen.file == start.main) & (seen.cause == CAUSES.index("relocation"))
    faults, read = int((relocating & seen.of(MAJOR)).sum()), int(seen.bytes[relocating].sum())
    if not faults and not read:
        return
    # The tables are read whole, and lose relative relocations; some of the pages are still written.
    tables = start.places[start.main].sections(*_TABLES, ".relr.dyn")
    listed = (read_of(start, start.main) & tables).size
    waited = int((relocating & seen.of(MAJOR) & tables.holds(seen.offset)).sum())
    relative = _change(start, start.main, "-no-pie", "relative relocations")
    share = min(relative.now / tables.size, 1) if relative and tables.size else 0
    unwritten = (change.now - change.then) / change.now
    yield Sentence(
        "no-pie",
        f"Relocation writes {change.now:,} pages of {start.recording.files[start.main].name}. "
        f"These pages and the tables of relocations took {count(faults, 'major fault')} and "
        f"{size_text(read)} of reads. At fixed addresses, relocation would write {change.then:,} "
        f"pages, from tables of {size_text(tables.size - int(tables.size * share))} instead of "
        f"{size_text(tables.size)}. That saves at most the rest: whatever `main` uses of these "
        "pages is read all the same.",
        "compile with -fno-pie and link with -no-pie, if the program can do without random "
        "addresses",
        Gain(int(waited * share + (faults - waited) * unwritten),
             int(listed * share + max(read - listed, 0) * unwritten)))


def symbolic(start: Start) -> Iterator[Sentence]:
    """The linker could bind a library to its own symbols, which it now looks up by name."""
    for number in own_files(start):
        change = _change(start, number, "-Bsymbolic-functions", "symbols looked up")
        if change is None or change.now - change.then < _LOOKUPS:
            continue
        tables = start.places[number].sections(*_SYMBOL_SECTIONS)
        faults = len(majors_in(start, number, tables))
        read = (read_of(start, number) & tables).size
        gone = change.now - change.then
        yield Sentence(
            "bsymbolic",
            f"{gone:,} of the {change.now:,} symbols that {start.recording.files[number].name} "
            f"looks up are its own functions. Its tables of symbols took "
            f"{count(faults, 'major fault')} and {size_text(read)}. Binding these symbols saves at "
            "most their share of that, and the time of the lookups.",
            "link the library with -Wl,-Bsymbolic-functions, if nobody replaces its functions",
            Gain(faults * gone // change.now, read * gone // change.now))


def small_libraries(start: Start) -> Iterator[Sentence]:
    """The loader maps, relocates and faults in each shared library by itself, however small."""
    found = []
    for number, file in enumerate(start.recording.files):
        is_library = (number != start.main and ".dynamic" in {s.name for s in file.sections}
                      and ".so" in file.name)
        if (is_library and file.size <= _SMALL_LIBRARY and not is_loader(file.path)
                and not _STAYS.fullmatch(file.name)):
            faults = len(majors_in(start, number))
            if faults:
                found.append((faults, read_of(start, number).size, file.name))
    if not found:
        return
    found.sort(key=lambda each: (-each[0], each[2]))
    faults, read = sum(each[0] for each in found), sum(each[1] for each in found)
    names = [name for _, _, name in found]
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    yield Sentence(
        "static-libs",
        f"{count(len(found), 'small shared library', 'small shared libraries')} ({shown}) took "
        f"{count(faults, 'major fault')} and {size_text(read)}. Linked into the program, the parts "
        "it uses would be read together with it, which saves at most that much.",
        "link them statically (-Wl,-Bstatic -lNAME -Wl,-Bdynamic), if their archives are "
        "installed", Gain(faults, read))


def _change(start: Start, number: int, option: str, what: str | None = None) -> Change | None:
    place = start.places[number]
    if place.elf is None or place.loading is None:
        return None
    report = relocations.examine(place.elf, place.loading)
    return next((change for change in report.changes if change.option == option
                 and what in (None, change.what)), None) if report else None
