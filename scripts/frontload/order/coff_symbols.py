"""The symbols of COFF files, of lines such as

    [ 8](sec  4)(fl 0x00)(ty  20)(scl   2) (nx 0) 0x00000000 _start
    AUX scnlen 0xb nreloc 1 nlnno 0 checksum 0x3c91f701 assoc 4 comdat 1
"""

import re

from frontload.order.objdump import Symbol, SymbolParser

_SYMBOL = re.compile(rb"\[ *\d+\]\(sec +(-?\d+)\)\(fl 0x[0-9a-f]+\)\(ty +[0-9a-f]+\)\(scl +(\d+)\) "
                     rb"\(nx (\d+)\) 0x[0-9a-f]+ (.+)")
_COMDAT = re.compile(rb"AUX scnlen .* comdat (\d+)")
_STATIC = b"3"  # the storage class


class CoffParser(SymbolParser):
    """Parses one object."""

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
