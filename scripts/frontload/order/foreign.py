"""Looks up the names of a startup profile in files that are not ELF: COFF and Mach-O.

llvm-objdump handles all variants of the formats and of their archives. A parser of the format
(coff.py, ld64.py) reads its output for each file: `PATH:<TAB>file format ...` and a line for each
symbol. A name with a newline reads as one that ends there; order files of these formats cannot hold
it either. frontload-resolve then looks the symbols up, by the rules for ELF.
"""

import os
import re
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from frontload.base import errors, files, tools
from frontload.base.errors import BadData, Failure
from frontload.order.request import Request
from frontload.profile import resolver as names

_OTHERS = "give the objects of the link that is to be ordered; those for LTO have no symbols yet"
_FILE = re.compile(rb"(.+):\tfile format (.+)")
# Names can overlap in a string table, so a small file may have any amount of them; a list of real
# names is a few times as large as their files.
_LIST_PER_BYTE, _MIN_LIST = 64, 64 << 20


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


def find(profile_path: str, paths: list[str], parsers: type[SymbolParser], linked: bool,
         undecorated: Callable[[Symbol], Iterable[bytes]]) -> dict[int, list[Symbol]]:
    """Looks up the entries of a profile in files of a format; returns the symbols by entry number.

    linked: whether it is a linked file, not objects
    undecorated: the possible names of a symbol on another system
    """
    for path in paths:
        files.open_input(path).close()
    limit = _MIN_LIST + _LIST_PER_BYTE * sum(map(os.path.getsize, paths))
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        # There may be millions of symbols, of which few are found: their data waits in the list,
        # behind what frontload-resolve reads.
        listed = Path(folder, "symbols")
        with open(listed, "wb") as stream:
            for symbol in _symbols(paths, parsers, linked):
                for name in filter(None, undecorated(symbol)):
                    stream.write(b"\0".join((symbol.object, b"local" if symbol.local else b"global",
                                             name, symbol.name, b"x"[:symbol.x86], symbol.leader))
                                 + b"\0\n")
                if stream.tell() > limit:
                    raise BadData(os.fsdecode(symbol.object), "the names of its symbols take more "
                                  f"than {limit >> 20} MiB", note=_OTHERS)
        entries: dict[int, list[int]] = {}  # by line of the list (tools/resolve/listed_symbols.h)
        for place in names.resolve(profile_path, [str(listed)], "--listed").places:
            entries.setdefault(place.value, []).append(place.entry)
        places: dict[int, list[Symbol]] = {}
        with open(listed, "rb") as stream:
            for number, line in enumerate(stream):
                for entry in entries.get(number, ()):
                    base, binding, _, name, x86, leader, _ = line.split(b"\0")
                    places.setdefault(entry, []).append(
                        Symbol(base, name, binding == b"local", bool(x86), leader))
    return places


def in_link(request: Request, found: Container[int] | None) -> Sequence[bool]:
    """For each entry of a profile, whether it is in files of a format, if these were looked at."""
    if found is None:
        return request.in_link
    return [number in found for number in range(len(request.entries))]


def _symbols(paths: list[str], parsers: type[SymbolParser], linked: bool) -> Iterator[Symbol]:
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
                    raise BadData(header, f"is {form}, not {parsers.FORMAT}", note=_OTHERS)
                parser = parsers(_base_name(header, paths), form, linked)
                suspect = header if header in paths else ""
            elif parser and (symbol := parser.parse(line)):
                yield symbol
        process.wait()
        messages.seek(0)
        complaint = messages.read().decode("utf-8", "replace").partition("\n")[0]
    if process.returncode:
        raise Failure(complaint.partition(": error: ")[2] or complaint, code=errors.EXIT_DATA,
                      note=_OTHERS)
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
