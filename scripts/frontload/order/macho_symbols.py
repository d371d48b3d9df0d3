"""The symbols of Mach-O files, of lines such as

    0000000000000090 l     F __TEXT,__text _helper
"""

import re

from frontload.order.objdump import Symbol, SymbolParser

_SYMBOL = re.compile(rb"[0-9a-f]{8,16} (.{7}) (\S+,\S+) (.+)")


class MachoParser(SymbolParser):
    """Parses one object."""

    FORMAT = "mach-o"

    def parse(self, line: bytes) -> Symbol | None:
        match = _SYMBOL.fullmatch(line)
        if match is None:
            return None
        self.found_any = True
        return Symbol(self._object, match[3], match[1].startswith(b"l"), False, match[3])
