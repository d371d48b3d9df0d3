"""Order files for lld's --symbol-ordering-file.

lld reads one name a line, strips white space from both ends, and skips empty lines and lines that
start with `#`; so a name with any of these cannot be written. It orders whole input sections, of
functions and data alike, but finds them by symbols: the sections and strings of a profile have
none. Of a versioned name (`name@@VERSION`, by .symver) lld only has the part before the @.

lld warns about names that come twice, that it does not have, or that it cannot order because the
symbol is undefined, absolute, made by lld, or in a shared library; so these are left out. Namesakes
cannot be seen here: for a static function that another object also has, in a section that
--gc-sections drops, lld orders one and warns about the other.
"""

from frontload.base import errors
from frontload.base.arrays import np
from frontload.elf import constants, functions
from frontload.elf import file as elf
from frontload.elf.symbols import COMMON
from frontload.order.request import Format, Order, Request
from frontload.order.symbols import WHITE_SPACE, list_symbols, unversioned
from frontload.profile.startup_profile import Name

# Other linkers give these a type, like data of the program.
_MADE_BY_LLD = {b"_DYNAMIC", b"_GLOBAL_OFFSET_TABLE_", b"_PROCEDURE_LINKAGE_TABLE_"}


def _make(request: Request) -> Order:
    """The names of a profile; with a binary or objects, as they have them."""
    shared = _shared_names(request.binary) if request.binary else set()
    left_to_library: set[bytes] = set()
    left_out = shared | _MADE_BY_LLD

    def spell(number: int, entry: Name) -> list[bytes | None]:
        symbols = [unversioned(entry.name)]
        if request.looked_up:
            symbols = [unversioned(place.symbol) for place in request.places[number]]
        left_to_library.update(shared.intersection(symbols))
        return [symbol if _writable(symbol) else None for symbol in symbols
                if symbol not in left_out]

    order = list_symbols(request, "lld", spell, request.in_link,
                         "a # at the start, a space at an end, or a newline")
    if left_to_library:
        order.notes.append(f"{errors.count(len(left_to_library), 'name')} left out, which the "
                           "program exports: lld warns if a shared library defines them as well")
    if not request.looked_up:
        order.notes.append("lld will warn about names that do not exist: give --binary or "
                           "--objects to leave them out")
    return order


def _writable(name: bytes) -> bool:
    return name == name.strip(WHITE_SPACE) and not name.startswith(b"#") and b"\n" not in name


def _shared_names(path: str) -> set[bytes]:
    """The exported names of a linked file that a shared library with it may also define.

    A program exports names that a shared library also defines, or refers to; nothing here tells
    these apart. One that exports even `_start` was linked to export everything, and a library has
    none: no information.
    """
    linked = elf.read(path, note="give the program of the last link")
    linked.linked_symbols()  # refuses a stripped file
    exported = linked.dynamic_symbols
    if exported is None or functions.address_of(linked, b"_start") is None:
        return set()
    is_defined = ((exported.section > 0) | (exported.section == COMMON)) & ~np.isin(
        exported.type, (constants.STT_SECTION, constants.STT_FILE))
    names = set(map(unversioned, exported.names.some(np.flatnonzero(is_defined))))
    return set() if b"_start" in names else names


LLD = Format("-Wl,--symbol-ordering-file=FILE", _make)
