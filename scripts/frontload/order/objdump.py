"""The symbols of files that are not ELF, as llvm-objdump prints them.

It handles all variants of the formats and of their archives. A parser of the format
(coff_symbols.py, macho_symbols.py) reads its output for each file: `PATH:<TAB>file format ...` and
a line for each symbol. A name with a newline reads as one that ends there; order files of these
formats cannot hold it either.
"""

import os
import re
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from frontload.base import errors, tools
from frontload.base.errors import BadData, Failure

OTHERS = "give the objects of the link that is to be ordered; those for LTO have no symbols yet"
_FILE = re.compile(rb"(.+):\tfile format (.+)")


class Symbol(NamedTuple):
    """A symbol that is defined in a section."""

    object: bytes  # the base name of its file, or `archive(member)`
    name: bytes
    local: bool
    x86: bool  # COFF for 32 bits, where names have more decorations
    # The leading symbol of its COFF section: the first one of a COMDAT section; empty for other
    # sections, which linkers do not order. In a linked file, and in Mach-O, the symbol itself.
    leader: bytes


class SymbolParser(ABC):
    """Parses llvm-objdump's output for one object, or for a linked file if `linked`."""

    FORMAT: ClassVar[str]  # the beginning of llvm-objdump's name for it

    def __init__(self, object_name: bytes, form: str, linked: bool):
        self._object = object_name
        self._form = form
        self._linked = linked
        self.found_any = False

    @abstractmethod
    def parse(self, line: bytes) -> Symbol | None:
        """The symbol of a line, if it is defined in a section."""


def symbols(paths: list[str], parsers: type[SymbolParser], linked: bool) -> Iterator[Symbol]:
    """The symbols that files of a format define, in their order."""
    # llvm-objdump has no `--`: no path may begin like an option.
    paths = [os.path.join(".", path) if path.startswith(("-", "@")) else path for path in paths]
    command = [str(tools.llvm_tool("llvm-objdump")), "--syms", *paths]
    parser, suspect = None, ""
    with (tempfile.TemporaryFile() as messages,
          subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages) as process):
        for line in process.stdout or ():
            line = line.removesuffix(b"\n")
            if file := _FILE.fullmatch(line):
                _check(parser, suspect)
                header, form = os.fsdecode(file[1]), file[2].decode()
                if not form.startswith(parsers.FORMAT):
                    raise BadData(header, f"is {form}, not {parsers.FORMAT}", note=OTHERS)
                parser = parsers(_base_name(header, paths), form, linked)
                suspect = header if header in paths else ""
            elif parser and (symbol := parser.parse(line)):
                yield symbol
        process.wait()
        messages.seek(0)
        complaint = messages.read().decode("utf-8", "replace").partition("\n")[0]
    if process.returncode:
        raise Failure(complaint.partition(": error: ")[2] or complaint, code=errors.EXIT_DATA,
                      note=OTHERS)
    _check(parser, suspect)


def _check(parser: SymbolParser | None, path: str) -> None:
    """Refuses a file without symbols: LLVM reports nothing if a file ends before them."""
    if parser and path and not parser.found_any:
        raise BadData(path, "has no symbols", note="it is truncated, stripped, or empty: give the "
                                                   "objects of the link that is to be ordered")


def _base_name(path: str, paths: list[str]) -> bytes:
    """The path before the colon is one of `paths`, for a member with `(member)` behind it."""
    known = set(paths)
    end = len(path)
    while path[:end] not in known and "(" in path[:end]:
        end = path.rindex("(", 0, end)
    return os.fsencode(os.path.basename(path[:end]) + path[end:])
