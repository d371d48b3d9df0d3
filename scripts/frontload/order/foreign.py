"""What the names of a startup profile are in files that are not ELF: COFF and Mach-O.

llvm-objdump reads the files: it knows all variants of both formats and of their archives. What it
prints of each, `PATH:<TAB>file format ...` and a line for each symbol, is taken apart here:

    [ 8](sec  4)(fl 0x00)(ty  20)(scl   2) (nx 0) 0x00000000 _start            COFF
    AUX scnlen 0xb nreloc 1 nlnno 0 checksum 0x3c91f701 assoc 4 comdat 1
    0000000000000090 l     F __TEXT,__text _helper                             Mach-O

A name with a newline reads as one that ends there; order files of these formats hold none either.
frontload-resolve then looks the symbols up, by the rules that it has for ELF.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from frontload.base import errors, files, tools
from frontload.base.errors import BadData, Failure
from frontload.profile import resolver as names

COFF, MACHO = "coff", "mach-o"

_FILE = re.compile(rb"(.+):\tfile format (.+)")
_COFF = re.compile(rb"\[ *\d+\]\(sec +(-?\d+)\)\(fl 0x[0-9a-f]+\)\(ty +[0-9a-f]+\)\(scl +(\d+)\) "
                   rb"\(nx (\d+)\) 0x[0-9a-f]+ (.+)")
_COMDAT = re.compile(rb"AUX scnlen .* comdat (\d+)")
_MACHO = re.compile(rb"[0-9a-f]{8,16} (.{7}) (\S+,\S+) (.+)")
_STATIC = b"3"  # the storage class
_OTHERS = "give the objects of the link that is to be ordered; those for LTO have no symbols yet"
# Names can overlap in a string table, so that a small file may have any amount of them; a list of
# real ones is a few times as large as their files.
_LIST_PER_BYTE, _LEAST_LIST = 64, 64 << 20


class Symbol(NamedTuple):
    """A symbol that is defined in a section."""

    object: bytes  # the base name of its file, or `archive(member)`
    name: bytes
    local: bool
    x86: bool  # COFF for 32 bits, where names have more decorations
    # What its section goes by in COFF: the first symbol of a COMDAT section; empty if it is none,
    # which linkers do not order. In a linked file, and in Mach-O, the symbol itself.
    leader: bytes


@dataclass(frozen=True)
class Found:
    places: dict[int, list[Symbol]]  # by the number of the entry in the profile
    microsoft: bool  # whether there are C++ names of Microsoft's ABI


def find(profile_path: str, paths: list[str], family: str, linked: bool,
         undecorated: Callable[[Symbol], Iterable[bytes]]) -> Found:
    """Looks the entries of a profile up in files of a family, COFF or MACHO.

    linked: whether it is a linked file, not objects
    undecorated: what another system may call a symbol
    """
    microsoft = False
    for path in paths:
        files.open_input(path).close()
    limit = _LEAST_LIST + _LIST_PER_BYTE * sum(map(os.path.getsize, paths))
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        # There may be millions of symbols, of which few are found: what is known of them waits in
        # the list, behind what frontload-resolve reads.
        path = Path(folder, "symbols")
        with open(path, "wb") as stream:
            for symbol in symbols(paths, family, linked):
                microsoft = microsoft or symbol.name.startswith(b"?")
                for name in filter(None, undecorated(symbol)):
                    stream.write(b"\0".join((symbol.object, b"local" if symbol.local else b"global",
                                             name, symbol.name, b"x"[:symbol.x86], symbol.leader))
                                 + b"\0\n")
                if stream.tell() > limit:
                    raise BadData(os.fsdecode(symbol.object), "the names of its symbols take more "
                                  f"than {limit >> 20} MiB", note=_OTHERS)
        entries: dict[int, list[int]] = {}
        for place in names.resolve_listed(profile_path, str(path)).places:
            entries.setdefault(place.value, []).append(place.entry)
        places: dict[int, list[Symbol]] = {}
        with open(path, "rb") as stream:
            for number, line in enumerate(stream):
                for entry in entries.get(number, ()):
                    base, binding, _, name, x86, leader, _ = line.split(b"\0")
                    places.setdefault(entry, []).append(
                        Symbol(base, name, binding == b"local", bool(x86), leader))
    return Found(places, microsoft)


def symbols(paths: list[str], family: str, linked: bool) -> Iterator[Symbol]:
    """The symbols that files of a family define, in their order."""
    # What is no path at its start: it knows no `--`.
    paths = [os.path.join(".", path) if path.startswith(("-", "@")) else path for path in paths]
    command = [tools.llvm_tool("llvm-objdump"), "--syms", *paths]
    parser = None
    with (tempfile.TemporaryFile() as messages,
          subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages) as process):
        for line in process.stdout:
            line = line.removesuffix(b"\n")
            if file := _FILE.fullmatch(line):
                if parser:
                    parser.end()
                parser = _Parser(file[1], file[2].decode(), paths, family, linked)
            elif parser and (symbol := parser.parse(line)):
                yield symbol
        process.wait()
        messages.seek(0)
        complaint = messages.read().decode("utf-8", "replace").partition("\n")[0]
    if process.returncode:
        raise Failure(complaint.partition(": error: ")[2] or complaint, code=errors.EXIT_DATA,
                      note=_OTHERS)
    if parser:
        parser.end()


class _Parser:
    """Takes apart what llvm-objdump prints of one object."""

    def __init__(self, header: bytes, form: str, paths: list[str], family: str, linked: bool):
        if not form.startswith(family):
            raise BadData(os.fsdecode(header), f"is {form}, not {family}", note=_OTHERS)
        self._object = _base_name(header, paths)
        self._x86 = form == "coff-i386"
        self._linked = linked
        self.parse = self._coff if family == COFF else self._macho
        self._leaders: dict[bytes, bytes] = {}  # of COMDAT sections, empty until it is seen
        self._section = b""
        # LLVM says nothing of a file that ends before its symbols do.
        self._suspect = os.fsdecode(header) if header in map(os.fsencode, paths) else None

    def end(self) -> None:
        if self._suspect:
            raise BadData(self._suspect, "has no symbols", note="it is cut or stripped, or holds "
                          "nothing: give the objects of the link that is to be ordered")

    def _macho(self, line: bytes) -> Symbol | None:
        match = _MACHO.fullmatch(line)
        if match is None:
            return None
        self._suspect = None
        return Symbol(self._object, match[3], match[1].startswith(b"l"), False, match[3])

    def _coff(self, line: bytes) -> Symbol | None:
        if comdat := _COMDAT.fullmatch(line):
            if comdat[1] != b"0":
                self._leaders[self._section] = b""
            return None
        match = _COFF.fullmatch(line)
        if match is None:
            return None
        self._suspect = None
        section, storage, auxiliary, name = match.groups()
        self._section = section
        local = storage == _STATIC
        if section.startswith(b"-") or section == b"0" or (local and auxiliary != b"0"):
            return None  # undefined, absolute, or a section's own symbol
        if self._leaders.get(section) == b"":
            self._leaders[section] = name
        leader = name if self._linked else self._leaders.get(section, b"")
        return Symbol(self._object, name, local, self._x86, leader)


def _base_name(header: bytes, paths: list[str]) -> bytes:
    """What is before the colon is one of the paths, for a member with `(member)` behind it."""
    path = os.fsdecode(header)
    known = set(paths)
    end = len(path)
    while path[:end] not in known and "(" in path[:end]:
        end = path.rindex("(", 0, end)
    return os.fsencode(os.path.basename(path[:end]) + path[end:])
