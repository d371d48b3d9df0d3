"""Order files for linkers of COFF: Microsoft's link and lld-link, with /ORDER:@FILE.

They order COMDAT sections (/Gy and /Gw, or -ffunction-sections and -fdata-sections), each by its
leading symbol, and read a name a line. For x86, where the compiler puts `_` before a C name, they
also put it before a name in the file, unless it is decorated otherwise:

                   x86 symbol    in the file: for link    for lld-link
    cdecl          _f            f                        f
    stdcall        _f@8          f@8                      _f@8
    fastcall       @f@8          @f@8                     @f@8
    vectorcall     f@@8          cannot be written        f@@8
    Microsoft C++  ?f@@YAXXZ     ?f@@YAXXZ                ?f@@YAXXZ

So a C name is written the same for all machines, as are names of the Itanium C++ ABI, which MinGW
uses, and Rust's. Only the objects tell which functions are stdcall, fastcall or vectorcall. Names
of the Itanium ABI cannot be turned into Microsoft's: to order those, the profile must have them.

lld-link strips white space from the ends of a line and passes over empty ones and those that start
with `#`. link reads a file in the machine's code page and takes `;` for a comment, and it cannot
order static functions, as its documentation says.
"""

import re
from dataclasses import dataclass

from frontload.base import errors
from frontload.order import foreign
from frontload.order.foreign import Symbol, SymbolParser
from frontload.order.request import Format, Order, Request
from frontload.order.symbols import WHITE_SPACE, list_symbols, unversioned
from frontload.profile.startup_profile import Name

_VECTORCALL = re.compile(rb"([^?@].*)@@\d+", re.DOTALL)
_FASTCALL = re.compile(rb"@(.+)@\d+", re.DOTALL)
_STDCALL = re.compile(rb"_(.+)@\d+", re.DOTALL)
_DECORATED = re.compile(rb"\?.*|.*@\d+", re.DOTALL)  # on any machine
_ONE_WORD = re.compile(rb"[!-:<-~]+")
_ITANIUM = b"_Z"
_SYMBOL = re.compile(rb"\[ *\d+\]\(sec +(-?\d+)\)\(fl 0x[0-9a-f]+\)\(ty +[0-9a-f]+\)\(scl +(\d+)\) "
                     rb"\(nx (\d+)\) 0x[0-9a-f]+ (.+)")
_COMDAT = re.compile(rb"AUX scnlen .* comdat (\d+)")
_STATIC = b"3"  # the storage class


@dataclass(frozen=True)
class _Linker:
    """One of the linkers, and why it cannot take some names."""

    linker: str
    reason: str
    microsoft: bool

    def make(self, request: Request) -> Order:
        """The names of a profile; with objects, the leading symbols of their sections."""
        found, has_microsoft = _look_up(request) if request.looked_up else (None, False)
        statics: set[bytes] = set()
        shared: set[bytes] = set()

        def spell(number: int, entry: Name) -> list[bytes | None]:
            if found is None:
                if self.microsoft and entry.file:
                    statics.add(entry.name)
                    return []
                return [self.spell(_in_coff(entry.name))]
            spelled = []
            for symbol in found.get(number, ()):
                if self.microsoft and symbol.local:
                    statics.add(entry.name)
                elif not symbol.leader:
                    shared.add(entry.name)
                else:
                    spelled.append(self.spell(symbol.leader, symbol.x86))
            return spelled

        order = list_symbols(request, self.linker, spell, foreign.in_link(request, found),
                             self.reason)
        if statics:
            order.warnings.append(f"{errors.count(len(statics), 'static name')} left out, which "
                                  f"{self.linker} cannot order")
        if shared:
            order.warnings.append(f"{errors.count(len(shared), 'name')} left out: their sections "
                                  "are not COMDAT; compile with /Gy /Gw, or -ffunction-sections "
                                  "-fdata-sections")
        doubtful = order.missing if found is not None else [name.name for name in request.entries]
        itanium = sum(name.startswith(_ITANIUM) for name in doubtful)
        if itanium and (found is None or has_microsoft):
            what = errors.count(itanium, "name") + (" is" if itanium == 1 else " are")
            order.notes.append(f"{what} of the Itanium C++ ABI, as MinGW has them: C++ by "
                               "Microsoft's ABI needs a profile with the names of that ABI")
        return order

    def spell(self, symbol: bytes, x86: bool = False) -> bytes | None:
        """The line for a symbol; None if it cannot be written."""
        line = self._before_underscore(symbol) if x86 else symbol
        if not line:
            return None
        if self.microsoft:
            return line if _ONE_WORD.fullmatch(line) else None
        strange = line != line.strip(WHITE_SPACE) or line.startswith(b"#") or b"\n" in line
        return None if strange else line

    def _before_underscore(self, symbol: bytes) -> bytes | None:
        """The name that the linker makes this symbol of, for x86."""
        if self._is_decorated(symbol):
            return symbol
        rest = symbol.removeprefix(b"_")
        return None if rest == symbol or self._is_decorated(rest) else rest

    def _is_decorated(self, name: bytes) -> bool:
        return name.startswith((b"?", b"@")) or (not self.microsoft and b"@" in name)


_USE = "/ORDER:@FILE"
LLD_LINK = Format(_USE, _Linker(
    "lld-link", "a # at the start, a space at an end, a newline, or for x86 no underscore",
    microsoft=False).make)
LINK = Format(_USE, _Linker(
    "link", "a space, a semicolon, a byte that is not ASCII, or for x86 no underscore",
    microsoft=True).make)


def undecorated(symbol: Symbol) -> set[bytes]:
    """A profile's possible names of a COFF symbol: its name on another system, and, where a
    decoration tells it from any such name, its own."""
    own = {symbol.name} if _DECORATED.fullmatch(symbol.name) else set()
    for form in (_VECTORCALL, _FASTCALL, _STDCALL) if symbol.x86 else (_VECTORCALL,):
        if match := form.fullmatch(symbol.name):
            return own | {match[1]}
    return own or {symbol.name.removeprefix(b"_") if symbol.x86 else symbol.name}


def _look_up(request: Request) -> tuple[dict[int, list[Symbol]], bool]:
    """Each entry's symbols in the files, and whether the files have Microsoft's C++ names."""
    has_microsoft = False

    def noted(symbol: Symbol) -> set[bytes]:
        nonlocal has_microsoft
        has_microsoft = has_microsoft or symbol.name.startswith(b"?")
        return undecorated(symbol)

    found = foreign.find(request.path, request.files, _CoffParser, bool(request.binary), noted)
    return found, has_microsoft


def _in_coff(name: bytes) -> bytes:
    return name if _DECORATED.fullmatch(name) else unversioned(name)


class _CoffParser(SymbolParser):
    """Parses lines such as

        [ 8](sec  4)(fl 0x00)(ty  20)(scl   2) (nx 0) 0x00000000 _start
        AUX scnlen 0xb nreloc 1 nlnno 0 checksum 0x3c91f701 assoc 4 comdat 1
    """

    FORMAT = "coff"

    def __init__(self, object_name: bytes, form: str, linked: bool):
        super().__init__(object_name, form, linked)
        self._leaders: dict[bytes, bytes] = {}  # of COMDAT sections, empty until the leader is seen
        self._section = b""

    def parse(self, line: bytes) -> Symbol | None:
        if comdat := _COMDAT.fullmatch(line):
            if comdat[1] != b"0":
                self._leaders[self._section] = b""
            return None
        match = _SYMBOL.fullmatch(line)
        if match is None:
            return None
        self.found_any = True
        section, storage, auxiliary, name = match.groups()
        self._section = section
        local = storage == _STATIC
        if section.startswith(b"-") or section == b"0" or (local and auxiliary != b"0"):
            return None  # undefined, absolute, or a section's own symbol
        if self._leaders.get(section) == b"":
            self._leaders[section] = name
        leader = name if self._linked else self._leaders.get(section, b"")
        return Symbol(self._object, name, local, self._form == "coff-i386", leader)
