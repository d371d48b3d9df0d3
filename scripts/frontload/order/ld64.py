"""Order files for linkers of Mach-O, with -order_file FILE: ld64, its successor, and ld64.lld.

A line is `[ARCHITECTURE:][OBJECT:]SYMBOL`. We write no architecture, which means all. OBJECT is
`name.o` or `archive.a(name.o)`; it tells local symbols of one name apart. A `#` begins a comment,
and white space around a line is stripped: names with any of these, and names that would read as one
with an object, cannot be written.

A symbol is the C name, or the mangled one of C++ or Rust, with `_` before it, on all architectures;
methods of Objective-C, `-[Class method]`, have no `_`. Even without -ffunction-sections, the linker
can move each symbol (.subsections_via_symbols).
"""

import re

from frontload.order import foreign
from frontload.order.foreign import Symbol, SymbolParser
from frontload.order.request import Format, Order, Request
from frontload.order.symbols import WHITE_SPACE, list_symbols, unversioned
from frontload.profile.startup_profile import Name

_OBJECT_ENDS = b".o", b".o)"
_SYMBOL = re.compile(rb"[0-9a-f]{8,16} (.{7}) (\S+,\S+) (.+)")


def _make(request: Request) -> Order:
    """The names of a profile; local ones with their object, where that is known."""
    found = foreign.find(request.path, request.files, _MachoParser, bool(request.binary),
                         _undecorated) if request.looked_up else None

    def lines(number: int, entry: Name) -> list[bytes | None]:
        if found is None:
            return [spell(symbol_of(entry.name), entry.file)]
        return [spell(symbol.name, symbol.object if symbol.local and not request.binary else b"")
                for symbol in found.get(number, ())]

    return list_symbols(request, "ld64", lines, foreign.in_link(request, found),
                        "a #, a newline, a space at an end, or what reads as an object (.o:)")


def symbol_of(name: bytes) -> bytes:
    """The Mach-O symbol for a name of a profile."""
    return name if name.startswith((b"-[", b"+[")) else b"_" + unversioned(name)


def _undecorated(symbol: Symbol) -> tuple[bytes]:
    return (symbol.name.removeprefix(b"_"),)


def spell(symbol: bytes, file: bytes = b"") -> bytes | None:
    """The line for a symbol, in one object if `file` is one; None if it cannot be written."""
    if not _plain(symbol):
        return None
    return file + b":" + symbol if file.endswith(_OBJECT_ENDS) and _plain(file) else symbol


def _plain(part: bytes) -> bool:
    return (part == part.strip(WHITE_SPACE)
            and not any(other in part for other in (b"#", b"\n", b".o:", b".o):")))


class _MachoParser(SymbolParser):
    """Parses lines such as `0000000000000090 l     F __TEXT,__text _helper`."""

    FORMAT = "mach-o"

    def parse(self, line: bytes) -> Symbol | None:
        match = _SYMBOL.fullmatch(line)
        if match is None:
            return None
        self.found_any = True
        return Symbol(self._object, match[3], match[1].startswith(b"l"), False, match[3])


LD64 = Format("-order_file FILE", _make)
