"""Finds a function of a program by the user's name for it: the symbol, or its demangled form."""

import os
import re

from frontload.base.demangle import demangled
from frontload.base.errors import Failure
from frontload.elf import constants
from frontload.elf.file import Elf

# Follows a demangled function's own name: parameters, or Rust's hash.
_AFTER_NAME = re.compile(r"(?<!operator)\((?!anonymous namespace\)).*|::h[0-9a-f]{16}$", re.DOTALL)
_MAX_SHOWN = 5


def find(file: Elf, program: str, name: str) -> int:
    """The address of the function `name` in the file `program`. Fails if there is none, or more
    than one."""
    address = address_of(file, os.fsencode(name))
    if address is not None:
        return address
    found = _readable(file, name)
    if not found:
        raise Failure(f"--until: {name}: {program} has no function of this name",
                      note="give the name as it is in the symbol table (nm lists them), or as "
                      "people read it (nm --demangle)")
    if len(found) > 1:
        shown = sorted(found.values())
        more = f" and {len(shown) - _MAX_SHOWN} more" if len(shown) > _MAX_SHOWN else ""
        raise Failure(f"--until: {name}: {len(shown)} functions of {program} have this name",
                      note=f"give one of {', '.join(shown[:_MAX_SHOWN])}{more}")
    return next(iter(found))


def address_of(file: Elf, symbol: bytes) -> int | None:
    """The address of the function with this symbol."""
    for symbols in (file.symbols, file.dynamic_symbols):
        if symbols is None:
            continue
        for index in symbols.names.find([symbol])[0]:
            if symbols.type[index] in (constants.STT_FUNC, constants.STT_NOTYPE) \
                    and symbols.section[index] > 0:
                return int(symbols.value[index])
    return None


def is_called(shown: str, name: str) -> bool:
    """Whether `name` means the function that is shown as `shown`: with or without its parameters,
    namespaces and classes."""
    return any(called == name or called.endswith((f"::{name}", f" {name}"))
               for called in (shown, _AFTER_NAME.sub("", shown)))


def _readable(file: Elf, name: str) -> dict[int, str]:
    """The symbols, by address, of the C++ or Rust functions that `name` means (see is_called)."""
    last = re.split(r"[<(]", name.rpartition("::")[2].removeprefix("~"))[0].strip()
    symbols = file.symbols or file.dynamic_symbols
    if not last or symbols is None:
        return {}
    rows = symbols.names.having(os.fsencode(last))
    places = {symbol: index for index, symbol in
              zip(rows.tolist(), symbols.names.some(rows), strict=True)
              if symbol.startswith((b"_Z", b"_R"))
              and symbols.type[index] == constants.STT_FUNC and symbols.section[index] > 0}
    found: dict[int, str] = {}
    for symbol, shown in demangled(places).items():
        if is_called(shown, name):
            found.setdefault(int(symbols.value[places[symbol]]), os.fsdecode(symbol))
    return found
