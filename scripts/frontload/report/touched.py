"""The touched bytes of a file: those that startup really used, and that any layout has to read.

Recordings of faults do not show them: a fault maps whole pages, and pages around it. Traces do
(`frontload record`, and `record --data`), in granules of 16 bytes. If no trace has touches of code
by the granule, a function whose entry was touched counts as a whole. A trace belongs to a file with
the same build-id.

For the program itself, traces of *another build* also serve: frontload-predict finds the touched
places by name, or by references to them. The report says what it cannot find; the touched bytes are
then a lower limit.

No trace sees the dynamic loader. We add its certain touches: the tables of relocations, and every
place that they name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from frontload.base.arrays import np
from frontload.base.errors import BadData
from frontload.base.intervals import distinct
from frontload.base.spans import Spans
from frontload.elf import constants, relocations
from frontload.elf import file as elves
from frontload.elf.file import Elf
from frontload.measure import prediction
from frontload.profile import trace as traces
from frontload.profile.symbol_names import SymbolNames
from frontload.profile.trace import GRANULE
from frontload.report.places import Places

_TABLES = (constants.SHT_RELA, constants.SHT_REL, constants.SHT_RELR)


@dataclass
class _Module:
    """The traces' touches of one linked file, as addresses."""

    path: str
    build_id: str
    main: bool
    traces: list[str]
    granules: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    entries: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    has_code: bool = False


class Touches:
    """The traces' touches, file by file."""

    def __init__(self, paths: Iterable[str]):
        self._modules: dict[str, _Module] = {}
        for path in paths:
            trace = traces.read(path)
            for number, module in enumerate(trace.modules):
                build_id = module.build_id.hex()
                mine = self._modules.setdefault(build_id or module.path, _Module(
                    module.path, build_id, module.main, []))
                mine.traces.append(path)
                here = trace.owners == number
                kinds, addresses = trace.kinds[here], trace.addresses[here]
                by_granule = np.isin(kinds, (traces.DATA, traces.CODE))
                mine.granules = distinct(mine.granules, _granules(addresses[by_granule]))
                mine.entries = distinct(mine.entries, addresses[~by_granule])
                mine.has_code |= bool((kinds == traces.CODE).any())

    def of(self, place: Places, is_main: bool) -> tuple[Spans | None, int]:
        """The touched bytes of a file (None if no trace has them), and the number of touched bytes
        whose places are unknown."""
        if place.elf is None:
            return None, 0
        build_id, lost = place.elf.build_id.hex(), 0
        module = self._modules.get(build_id) if build_id else None
        if module is None:
            # The recorded program, if the traces are of only one.
            programs = [module for module in self._modules.values() if module.main]
            if not is_main or len(programs) != 1:
                return None, 0
            module, lost = _moved(programs[0], place.elf)
        spans = _in_file(place, *_ranges(module, place.symbols))
        return spans | loader_touches(place), lost


def _in_file(place: Places, start: np.ndarray, end: np.ndarray) -> Spans:
    """Ranges of addresses as granules of the file."""
    spans = Spans(*place.ranges_in_file(start, end))
    start, end = spans.start // GRANULE * GRANULE, -(-spans.end // GRANULE) * GRANULE
    return Spans(start, np.minimum(end, place.file.size))


def _ranges(module: _Module, symbols: SymbolNames | None) -> tuple[np.ndarray, np.ndarray]:
    """The touches, as ranges of addresses."""
    start = module.granules * np.uint64(GRANULE)
    end = start + np.uint64(GRANULE)
    if module.has_code or symbols is None:
        # An entry is touched at least in its first granule.
        return (np.concatenate([start, module.entries]),
                np.concatenate([end, module.entries + np.uint64(1)]))
    groups = symbols.ranges.innermost(module.entries)
    groups = distinct(groups[groups >= 0])
    return (np.concatenate([start, symbols.ranges.start[groups]]),
            np.concatenate([end, symbols.ranges.end[groups]]))


def _moved(module: _Module, elf: Elf) -> tuple[_Module, int]:
    """The touches of another build, in this one; and the bytes that were not found."""
    recorded = elves.read(module.path, note="the recorded build is needed to know what was "
                                            "touched; or give traces of this one")
    if recorded.build_id.hex() != module.build_id:
        raise BadData(module.traces[0], f"comes from another build of {module.path} than the one "
                                        "that is there",
                      note="give traces of the one that is there, or put the recorded build back")
    here = _Module(elf.path, elf.build_id.hex(), True, [], has_code=module.has_code)
    found = np.empty(0, np.uint64)
    for touched, places in prediction.touches(elf.path, module.path, module.traces):
        by_granule = np.isin(touched // np.uint64(GRANULE), module.granules)
        here.granules = distinct(here.granules, _granules(places[by_granule]))
        here.entries = distinct(here.entries, places[~by_granule])
        found = distinct(found, _granules(touched))
    lost = np.setdiff1d(distinct(module.granules, _granules(module.entries)), found,
                        assume_unique=True)
    return here, len(lost) * GRANULE


def _granules(addresses: np.ndarray) -> np.ndarray:
    return distinct(addresses // np.uint64(GRANULE))


def loader_touches(place: Places) -> Spans:
    """The dynamic loader's touches of a file, whatever the program does: tables of relocations, and
    the places that they name."""
    if place.elf is None or place.loading is None:
        return Spans.none()
    sections, loading = place.elf.sections, place.loading
    tables = ((sections["flags"] & constants.SHF_ALLOC) != 0) & np.isin(sections["type"], _TABLES)
    start = sections["addr"][tables].astype(np.uint64)
    found = _in_file(place, start, start + sections["size"][tables].astype(np.uint64))
    for written in (loading.relocations.offset,
                    *relocations.unpacked(loading.packed, loading.word)):
        found |= _in_file(place, written, written + np.uint64(loading.word))
    return found
