"""Looks up the names of a startup profile in files that are not ELF: COFF and Mach-O.

objdump.py reads the files; frontload-resolve then looks the symbols up, by the rules for ELF.
"""

import os
import tempfile
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path

from frontload.base import files
from frontload.base.errors import BadData
from frontload.order.objdump import OTHERS, Symbol, SymbolParser, symbols
from frontload.order.request import Request
from frontload.profile import resolver as names

# Names can overlap in a string table, so a small file may have any amount of them; a list of real
# names is a few times as large as their files.
_LIST_PER_BYTE, _MIN_LIST = 64, 64 << 20


def find(profile_path: str, paths: list[str], parsers: type[SymbolParser], linked: bool,
         undecorated: Callable[[Symbol], Iterable[bytes]]) -> dict[int, list[Symbol]]:
    """Looks up the entries of a profile in files of a format; returns the symbols by entry number.

    linked: whether it is a linked file, not objects
    undecorated: the possible names of a symbol on another system
    """
    for path in paths:
        files.open_input(path).close()
    limit = _MIN_LIST + _LIST_PER_BYTE * sum(map(os.path.getsize, paths))
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        # There may be millions of symbols, of which few are found: their data waits in the list,
        # behind what frontload-resolve reads.
        listed = Path(folder, "symbols")
        with open(listed, "wb") as stream:
            for symbol in symbols(paths, parsers, linked):
                for name in filter(None, undecorated(symbol)):
                    stream.write(b"\0".join((symbol.object, b"local" if symbol.local else b"global",
                                             name, symbol.name, b"x"[:symbol.x86], symbol.leader))
                                 + b"\0\n")
                if stream.tell() > limit:
                    raise BadData(os.fsdecode(symbol.object), "the names of its symbols take more "
                                  f"than {limit >> 20} MiB", note=OTHERS)
        entries: dict[int, list[int]] = {}
        for place in names.resolve_listed(profile_path, str(listed)).places:
            entries.setdefault(place.value, []).append(place.entry)
        places: dict[int, list[Symbol]] = {}
        with open(listed, "rb") as stream:
            for number, line in enumerate(stream):
                for entry in entries.get(number, ()):
                    base, binding, _, name, x86, leader, _ = line.split(b"\0")
                    places.setdefault(entry, []).append(
                        Symbol(base, name, binding == b"local", bool(x86), leader))
    return places


def in_link(request: Request, found: Container[int] | None) -> Sequence[bool]:
    """For each entry of a profile, whether it is in files of a format, if these were looked at."""
    if found is None:
        return request.in_link
    return [number in found for number in range(len(request.entries))]
