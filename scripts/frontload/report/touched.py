"""The touched bytes of a file: what startup really used of it, which is the least that any layout
has to read.

Recordings of faults do not tell: a fault maps whole pages, and pages around it. Traces do
(`frontload record`, and `record --data`), in granules of 16 bytes. Where there is no trace that has
touches of code by the granule, a function whose entry was touched counts as a whole. Traces are
those of a file if they have its build-id.

Of the program itself, traces of *another build* serve as well: what they touched is found by its
name, at the same distance from its beginning. What has no name, as jump tables and merged strings,
is not found; how many bytes that are is told, and the touched bytes are then at least so many.

No trace sees the dynamic loader. What it must touch is added: the tables of relocations, and every
place that they name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from frontload import elf as elves
from frontload import relocations
from frontload import trace as traces
from frontload.elf import Elf
from frontload.errors import BadData, Failure
from frontload.report.places import Places, named
from frontload.report.spans import Spans
from frontload.resolve import GRANULE, SymbolNames

_TABLES = (elves.SHT_RELA, elves.SHT_REL, elves.SHT_RELR)


@dataclass(frozen=True)
class Touched:
    """The touched bytes of a file; of `nameless` more it is not known where they are in it."""

    spans: Spans
    nameless: int = 0


@dataclass
class _Module:
    """What the traces touched of one linked file, as addresses."""

    path: str
    build_id: str
    main: bool
    trace: str
    granules: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    entries: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    has_code: bool = False


class Touches:
    """What traces touched, file by file."""

    def __init__(self, paths: Iterable[str]):
        self._modules: dict[str, _Module] = {}
        for path in paths:
            self._add(path)

    def _add(self, path: str) -> None:
        trace = traces.read(path)
        for number, module in enumerate(trace.modules):
            build_id = module.build_id.hex()
            mine = self._modules.setdefault(build_id or module.path, _Module(
                module.path, build_id, module.main, path))
            here = trace.owners == number
            kinds, addresses = trace.kinds[here], trace.addresses[here]
            by_granule = np.isin(kinds, (traces.DATA, traces.CODE))
            mine.granules = np.union1d(mine.granules, addresses[by_granule] // np.uint64(GRANULE))
            mine.entries = np.union1d(mine.entries, addresses[~by_granule])
            mine.has_code |= bool((kinds == traces.CODE).any())

    def paths(self) -> dict[str, str]:
        """Where the files that were recorded lie, by build-id."""
        return {build_id: module.path for build_id, module in self._modules.items()}

    def of(self, place: Places, is_main: bool) -> Touched | None:
        """The touched bytes of a file; None if no trace tells."""
        if place.elf is None:
            return None
        build_id = place.elf.build_id.hex()
        if build_id and build_id in self._modules:
            start, end = _ranges(self._modules[build_id], place.symbols)
            nameless = 0
        elif is_main and (other := self._other_build()):
            start, end, nameless = _moved(other, place.elf)
        else:
            return None
        spans = _in_file(place, start, end)
        if place.loading is not None:
            spans |= loader_touches(place)
        return Touched(spans, nameless)

    def _other_build(self) -> _Module | None:
        """The program that was recorded, if the traces are of only one."""
        programs = [module for module in self._modules.values() if module.main]
        return programs[0] if len(programs) == 1 else None


def _in_file(place: Places, start: np.ndarray, end: np.ndarray) -> Spans:
    """Ranges of addresses as granules of the file."""
    spans = Spans(*place.ranges_in_file(start, end))
    start, end = spans.start // GRANULE * GRANULE, -(-spans.end // GRANULE) * GRANULE
    return Spans(start, np.minimum(end, place.file.size))


def _ranges(module: _Module, symbols: SymbolNames | None) -> tuple[np.ndarray, np.ndarray]:
    """What was touched, as ranges of addresses."""
    start = module.granules * np.uint64(GRANULE)
    end = start + np.uint64(GRANULE)
    if module.has_code or symbols is None:
        # An entry is touched at least in its first granule.
        return (np.concatenate([start, module.entries]),
                np.concatenate([end, module.entries + np.uint64(1)]))
    groups = symbols.ranges.innermost(module.entries)
    groups = np.unique(groups[groups >= 0])
    return (np.concatenate([start, symbols.ranges.start[groups]]),
            np.concatenate([end, symbols.ranges.end[groups]]))


def _moved(module: _Module, elf: Elf) -> tuple[np.ndarray, np.ndarray, int]:
    """What was touched of another build, as ranges of addresses of this one; and the bytes of which
    nobody knows where they are."""
    recorded = elves.read(module.path, note="the build that was recorded is needed to know its "
                          "names; give traces of this one instead")
    if recorded.build_id.hex() != module.build_id:
        raise BadData(module.trace, f"is of another build of {module.path} than what is there",
                      note="give traces of what is there, or put the build back")
    old, new = named(recorded), named(elf)
    start, end = _ranges(module, old)
    if old is None or new is None:
        raise Failure(f"{module.path if old is None else elf.path}: has no symbols, so that traces "
                      "of another build cannot be understood", note="record this build")
    query, group = old.ranges.overlapping(start, end)
    total = Spans(start, end).size
    first = np.maximum(start[query], old.ranges.start[group])
    last = np.minimum(end[query], old.ranges.end[group])
    places = _places(new)
    here = {number: places.get(_key(old, number)) for number in np.unique(group).tolist()}
    target = np.array([-1 if here[number] is None else here[number] for number in group.tolist()],
                      np.int64)
    found = target >= 0
    base = new.ranges.start[target[found]].astype(np.int64) - \
        old.ranges.start[group[found]].astype(np.int64)
    moved = [(edge[found].astype(np.int64) + base) for edge in (first, last)]
    limit = new.ranges.end[target[found]].astype(np.int64)  # it may be smaller now
    inside = Spans(first[found].astype(np.int64), last[found].astype(np.int64)).size
    return (np.minimum(moved[0], limit).astype(np.uint64),
            np.minimum(moved[1], limit).astype(np.uint64), total - inside)


def _places(symbols: SymbolNames) -> dict[tuple[bytes, bytes], int | None]:
    """The group of each name and source file; None for those of which there are several."""
    found: dict[tuple[bytes, bytes], int | None] = {}
    for group in range(len(symbols.ranges.start)):
        key = _key(symbols, group)
        found[key] = None if key in found else group
    return found


def _key(symbols: SymbolNames, group: int) -> tuple[bytes, bytes]:
    name = symbols.name(group)
    return name.name, name.file


def loader_touches(place: Places) -> Spans:
    """What the dynamic loader touches of a file whatever the program does: tables of relocations,
    and what these name."""
    sections, loading = place.elf.sections, place.loading
    tables = ((sections["flags"] & elves.SHF_ALLOC) != 0) & np.isin(sections["type"], _TABLES)
    start = sections["addr"][tables].astype(np.uint64)
    found = _in_file(place, start, start + sections["size"][tables].astype(np.uint64))
    for written in (loading.relocations.offset,
                    *relocations.unpacked(loading.packed, loading.word)):
        found |= _in_file(place, written, written + np.uint64(loading.word))
    return found
