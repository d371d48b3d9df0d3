"""Order files for BOLT: llvm-bolt --reorder-functions=user --function-order=FILE, a name a line.

BOLT works on a linked program that keeps its relocations (-Wl,--emit-relocs), and orders functions
only. It numbers local symbols of one name by their addresses, `name/1`, `name/2` and so on, and
local functions also within a source file (STT_FILE), `name/file/1`. We write the latter, because it
changes least from build to build. Just `name` stands for all local functions of that name, one
after the other. We write that if there is no program to look names up in.
"""

from collections import Counter

import numpy as np

from frontload.base.errors import Failure
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.elf.symbols import Symbols
from frontload.order.request import Order, Request
from frontload.order.symbols import FUNCTIONS, list_symbols
from frontload.profile.format import Name

USE = "llvm-bolt --reorder-functions=user --function-order=FILE"
ANY_ORDER = True


def make(request: Request) -> Order:
    """The names of a profile's functions; with the program, as BOLT tells them apart."""
    if request.objects:
        raise Failure("BOLT works on the linked program, not on objects",
                      note="give that program with --binary")
    called = _called(elf.read(request.binary).linked_symbols()) if request.binary else {}

    def spell(number: int, entry: Name) -> list[bytes | None]:
        names = [entry.name]
        if request.binary:
            names = [called[place.symbol, place.value] for place in request.places.get(number, ())]
        return [None if b"\n" in name else name for name in names]

    return list_symbols(request, "BOLT", spell, request.in_link, "a newline", FUNCTIONS)


def _called(symbols: Symbols) -> dict[tuple[bytes, int], bytes]:
    """What BOLT calls each symbol, by name and address."""
    called: dict[tuple[bytes, int], bytes] = {}
    used: Counter[bytes] = Counter()

    def numbered(name: bytes) -> bytes:
        used[name] += 1
        return b"%s/%d" % (name, used[name])

    sources = np.flatnonzero(symbols.type == constants.STT_FILE)
    defined = np.flatnonzero((symbols.section > 0)
                             & ~np.isin(symbols.type, (constants.STT_SECTION, constants.STT_FILE)))
    for index in defined[np.argsort(symbols.value[defined], kind="stable")].tolist():
        name = symbols.names[index]
        bolts_name = name
        if symbols.bind[index] == constants.STB_LOCAL:
            bolts_name = numbered(name)
            before = int(np.searchsorted(sources, index)) - 1
            source = symbols.names[sources[before]] if before >= 0 else b""
            if source and symbols.type[index] == constants.STT_FUNC:
                bolts_name = numbered(name + b"/" + source)
        called.setdefault((name, int(symbols.value[index])), bolts_name)
    return called
