"""Order files for BOLT: llvm-bolt --reorder-functions=user --function-order=FILE, a name a line.

BOLT works on a linked program that keeps its relocations (-Wl,--emit-relocs), and orders only
functions. It numbers local symbols of one name by their addresses, `name/1`, `name/2` and so on,
and local functions also within a source file (STT_FILE), `name/file/1`. We write the latter,
because it changes least from build to build. Without a program to look names up in, we write just
`name`: all local functions of that name, one after the other.
"""

from collections import Counter
from collections.abc import Iterator

from frontload.base.arrays import np
from frontload.base.errors import Failure
from frontload.base.intervals import are_among
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.elf.symbols import Symbols
from frontload.order.request import Format, Order, Request
from frontload.order.symbols import FUNCTIONS, list_symbols
from frontload.profile.startup_profile import Name


def _make(request: Request) -> Order:
    """The names of a profile's functions; with the program, as BOLT tells them apart."""
    if request.objects:
        raise Failure("BOLT works on the linked program, not on objects",
                      note="give that program with --binary")
    called = {}
    if request.binary:
        called = _called(elf.read(request.binary).linked_symbols(), request.resolved.places.value)

    def spell(number: int, entry: Name) -> list[bytes | None]:
        names = [entry.name]
        if request.binary:
            names = [called.get((place.symbol, place.value), place.symbol)
                     for place in request.places[number]]
        return [None if b"\n" in name else name for name in names]

    return list_symbols(request, "BOLT", spell, request.in_link, "a newline", FUNCTIONS)


def _called(symbols: Symbols, places: np.ndarray) -> dict[tuple[bytes, int], bytes]:
    """BOLT's names of local symbols at some addresses, by name and address. Others have no
    number."""
    is_local = (symbols.bind == constants.STB_LOCAL) & (symbols.section > 0) & ~np.isin(
        symbols.type, (constants.STT_SECTION, constants.STT_FILE))
    local = np.flatnonzero(is_local)
    wanted = local[are_among(symbols.value[local], np.sort(places))]
    # Only symbols that may get the same name count in a number.
    names = set(symbols.names.some(wanted))
    names |= set(map(b"/".join, zip(symbols.names.some(wanted), symbols.files_before(wanted),
                                    strict=True)))
    names |= {begin for name in names for begin in _before_slashes(name)}
    rows, spelled = symbols.names.find(names, local)
    order = np.argsort(symbols.value[rows], kind="stable")
    sources = symbols.files_before(rows)
    called: dict[tuple[bytes, int], bytes] = {}
    used: Counter[bytes] = Counter()

    def numbered(name: bytes) -> bytes:
        used[name] += 1
        return b"%s/%d" % (name, used[name])

    for index in order.tolist():
        name, source, row = spelled[index], sources[index], rows[index]
        bolts_name = numbered(name)
        if source and symbols.type[row] == constants.STT_FUNC:
            bolts_name = numbered(name + b"/" + source)
        called.setdefault((name, int(symbols.value[row])), bolts_name)
    return called


def _before_slashes(name: bytes) -> Iterator[bytes]:
    end = name.find(b"/")
    while end >= 0:
        yield name[:end]
        end = name.find(b"/", end + 1)


BOLT = Format("llvm-bolt --reorder-functions=user --function-order=FILE", _make)
