"""Order files for lld's --symbol-ordering-file.

lld reads one name a line, strips white space from both ends, and passes over empty lines and lines
that start with `#`; so a name with any of that in it cannot be written. It orders whole input
sections, of functions and of data alike, but knows them by symbols: the sections and strings of a
profile have none. Of a name with a version (`name@@VERSION`, by .symver) it knows only what is
before the @.

It warns about a name that stands twice, that it does not know, or that it cannot order because the
symbol is undefined, absolute, made by itself, or in a shared library; so such names are left out.
What cannot be seen here are namesakes: for a static function that another object has too, in a
section that --gc-sections drops, lld orders the one and warns about the other.
"""

import numpy as np

from frontload import elf, errors
from frontload.order_format import Order, Request, lines

USE = "-Wl,--symbol-ordering-file=FILE"
_WHITE_SPACE = b" \t\n\v\f\r"  # what lld strips
# Other linkers give these a type, as if they were data of the program.
_MADE_BY_LLD = {b"_DYNAMIC", b"_GLOBAL_OFFSET_TABLE_", b"_PROCEDURE_LINKAGE_TABLE_"}


def make(request: Request) -> Order:
    """The names of a profile in first-touch order; with a binary or objects, as they have them."""
    in_link = request.resolved.found() if request.looked_up else set()
    shared = _shared_names(request.binary) if request.binary else set()
    found: dict[bytes, bool] = {}  # of each different name of a symbol
    written: dict[bytes, None] = {}
    refused: set[bytes] = set()
    left_to_library: set[bytes] = set()
    others = 0
    for number, entry in enumerate(request.entries):
        if not entry.has_symbol:
            others += 1
            continue
        name = _known_to_lld(entry.name)
        symbols, is_found = [name], True
        if request.looked_up:
            symbols = [_known_to_lld(place.symbol) for place in request.places.get(number, ())]
            is_found = number in in_link
        found[name] = found.get(name, False) or is_found
        for symbol in symbols:
            if not _writable(symbol):
                refused.add(symbol)
            elif symbol in shared:
                left_to_library.add(symbol)
            elif symbol not in _MADE_BY_LLD:
                written[symbol] = None
    warnings, notes = [], []
    if refused:
        warnings.append(f"{errors.count(len(refused), 'name')} left out, which lld cannot read "
                        "from a file: a # at the start, a space at an end, or a newline")
    if left_to_library:
        notes.append(f"{errors.count(len(left_to_library), 'name')} left out, which the program "
                     "exports: a shared library may define them as well, which lld warns about")
    if others:
        what = errors.count(others, "section or string", "sections and strings")
        notes.append(f"{what} left out: lld orders symbols only")
    if not request.looked_up:
        notes.append("lld will warn about names that do not exist: give --binary or --objects to "
                     "leave them out")
    return Order(lines(written), sum(found.values()),
                 [name for name, good in found.items() if not good], warnings, notes)


def _known_to_lld(name: bytes) -> bytes:
    return name.partition(b"@")[0] or name


def _writable(name: bytes) -> bool:
    return name == name.strip(_WHITE_SPACE) and not name.startswith(b"#") and b"\n" not in name


def _shared_names(path: str) -> set[bytes]:
    """The names that a linked file exports, and a shared library with it may define as well.

    A program exports what a shared library defines too, or refers to, which nothing here tells
    apart. One that exports even `_start` was linked to export everything, which says nothing.
    """
    linked = elf.read(path, note="give the program as it was linked last")
    names = _defined(linked.linked_symbols())
    exported = _defined(linked.dynamic_symbols)
    return set() if b"_start" in exported or b"_start" not in names else exported


def _defined(symbols: elf.Symbols | None) -> set[bytes]:
    if symbols is None:
        return set()
    in_section = (symbols.section > 0) | (symbols.section == elf.COMMON)
    defined = in_section & ~np.isin(symbols.type, (elf.STT_SECTION, elf.STT_FILE))
    return {_known_to_lld(name) for name in symbols.names.some(np.flatnonzero(defined))}
