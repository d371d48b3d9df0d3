"""What a start reads that nobody has recorded, but a startup profile describes: its names are
looked up in a linked file, as a link looks them up, and frontload-predict is asked what it costs to
touch them there in their order.

A profile says less than a trace. Such a start touches the names that at least half of the runs
touch. Of a name it touches as many bytes as the profile tells, from the first on or in their
stretch, and only the first where it tells none. Sections and strings cannot be found, and of names
that stand for several symbols the first is taken. So two such starts in one file can be compared
with each other; a prediction from a trace (prediction.py) is nearer to the kernel's counts.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from frontload.base.errors import BadData
from frontload.elf import file as elf
from frontload.elf.file import Elf
from frontload.measure import prediction
from frontload.profile import format as profile
from frontload.profile import made_trace, resolver
from frontload.profile.startup_profile import Name, Touched
from frontload.profile.summary import text

FIGURES = ("major_faults", "read_bytes", "requests")
_PAGE = 4096
_MOST_PAGES = 1 << 20  # 4 GiB, which no start touches
_LAST = 1 << 56  # of the addresses that a trace can have, one further
# The counts are the same for all devices with the same readahead.
_DEVICE = "ssd"
_MOST_FILES = 15  # that are predicted by themselves


class Bytes(NamedTuple):
    """Those that are touched of a name, by address, and one behind them."""

    first: int
    end: int

    def pages(self) -> range:
        return range(self.first // _PAGE, -(-self.end // _PAGE))

    def addresses(self) -> list[int]:
        """One in each page, the first at the name itself."""
        return [self.first, *(page * _PAGE for page in self.pages()[1:])]


@dataclass(frozen=True)
class Start:
    """What a start touches of each name, in its order, and how many of the names that it should
    touch are not in the file, or have no symbol to look for; and where all names of the profile
    are."""

    touched: dict[Name, Bytes]
    places: dict[Name, int]
    missing: int
    not_sought: int

    def addresses(self) -> list[int]:
        return [address for touched in self.touched.values() for address in touched.addresses()]

    def pages(self) -> set[int]:
        return {page for touched in self.touched.values() for page in touched.pages()}


def read(profile_path: str, binary: str) -> Start:
    """The start that a profile describes, in a linked file."""
    startup = profile.read(profile_path)
    entries = list(startup.touches)
    places: dict[Name, int] = {}
    for place in resolver.resolve(profile_path, [binary]).places:
        places.setdefault(entries[place.entry], place.value)
    usual = [(name, touch) for name, touch in startup.in_order()
             if 2 * touch.runs >= startup.limit(name.kind)]
    touched = {name: _touched(places[name], touch.touched) for name, touch in usual
               if places.get(name, _LAST) < _LAST}
    if sum(len(each.pages()) for each in touched.values()) > _MOST_PAGES:
        raise BadData(profile_path, "names more bytes than a start touches",
                      note="make it again from its traces")
    not_sought = sum(not name.has_symbol for name, _ in usual)
    return Start(touched, places, len(usual) - len(touched) - not_sought, not_sought)


def compare(binary: str, old: Start, new: Start, file_of: Callable[[Name], bytes]) -> dict:
    """What both starts read of a file, and which source files or objects have the names by which
    the new one touches more pages. `added` is what the start would read more
    if it were the old one with the new names of this file alone; files share readahead, so these do
    not add up."""
    linked = elf.read(binary)
    known = old.pages()
    names: dict[bytes, list[Bytes]] = {}
    for name, touched in new.touched.items():
        if not known.issuperset(touched.pages()):
            names.setdefault(file_of(name), []).append(touched)
    pages = {file: {page for touched in each for page in touched.pages()} - known
             for file, each in names.items()}
    files = sorted(names, key=lambda file: (-len(pages[file]), file))
    shown = files[:_MOST_FILES]
    before, after, *each = _predict(linked, [
        old.addresses(), new.addresses(),
        *(old.addresses() + [address for touched in names[file] for address in touched.addresses()]
          for file in shown)])
    return {"binary": binary,
            **{label: {"names": len(start.touched), "missing": start.missing,
                       "not_sought": start.not_sought, **figures}
               for label, start, figures in (("old", old, before), ("new", new, after))},
            "files": [{"file": text(file) or None, "names": len(names[file]),
                       "pages": len(pages[file]),
                       "added": {key: figures[key] - before[key] for key in FIGURES}}
                      for file, figures in zip(shown, each, strict=True)],
            "other_files": len(files) - len(shown)}


def _touched(address: int, touched: Touched) -> Bytes:
    if touched.stretch is not None:
        first, last = touched.stretch
        return Bytes(min(address + first, _LAST - 1), min(address + last + 1, _LAST))
    return Bytes(address, min(address + max(touched.size, 1), _LAST))


def _predict(binary: Elf, starts: Sequence[Sequence[int]]) -> list[dict]:
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        traces = []
        for number, addresses in enumerate(starts):
            traces.append(Path(folder, str(number)))
            traces[-1].write_bytes(made_trace.to_bytes(binary, addresses))
        answer = prediction.ask(binary.path, traces, binary.path, [f"--device={_DEVICE}"])
    return [{key: each["devices"][_DEVICE][key] for key in FIGURES}
            for each in answer["predictions"]]
