"""Finds the file that has the symbols of a stripped program: its debug file.

objcopy --only-keep-debug, eu-strip -f and llvm-objcopy write it, and strip leaves it out of the
program. All loaded sections are there, but without contents (SHT_NOBITS), so it cannot stand for
the program. Debuggers look for it in the same places, in this order; native programs, too
(instrument/format/frontload_debug_file.h):

    /usr/lib/debug/.build-id/ab/cdef.debug       by the build-id, as packages install it
    FOLDER/NAME, FOLDER/.debug/NAME, and         beside the program in FOLDER, by the name in its
    /usr/lib/debug/FOLDER/NAME                   section .gnu_debuglink
    CACHE/abcdef/debuginfo                       what debuginfod's clients have fetched before

The build-id decides whether a file is the right one. For a program without a build-id, the checksum
in .gnu_debuglink does.
"""

import os
import zlib
from collections.abc import Iterator

from elftools.elf.notes import iter_notes

from frontload.base import files
from frontload.base.arrays import np
from frontload.base.errors import Failure
from frontload.elf import constants
from frontload.elf.contents import Contents

_ROOT = "/usr/lib/debug"
_PIECE = 1 << 20


def is_debug_file(contents: Contents) -> bool:
    """Whether the constants of a linked file have no contents, or its code, if there are none."""
    kind, flags = contents.sections["type"], contents.sections["flags"]
    loaded = (flags & constants.SHF_ALLOC != 0) & (kind != constants.SHT_NOTE)
    is_code = loaded & (flags & constants.SHF_EXECINSTR != 0)
    constant = loaded & ~is_code & (flags & constants.SHF_WRITE == 0)
    sought = constant if constant.any() else is_code
    return bool(sought.any() and (kind[sought] == constants.SHT_NOBITS).all())


def build_id_of(contents: Contents) -> bytes:
    """The build-id of a debug file, in which only section headers say where it is."""
    for number in np.flatnonzero(contents.sections["type"] == constants.SHT_NOTE).tolist():
        contents.section(number, "a note")  # checks its place
        section = contents.sections[number]
        for note in iter_notes(contents.headers, int(section["offset"]), int(section["size"])):
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return bytes.fromhex(note["n_desc"])
    return b""


def candidates(path: str, build_id: bytes, link: bytes) -> Iterator[str]:
    """The files, which are there, that may have the symbols of the program at `path`; `link` is the
    contents of its .gnu_debuglink."""
    found = []
    if len(build_id) > 1:
        digits = build_id.hex()
        found.append(f"{_ROOT}/.build-id/{digits[:2]}/{digits[2:]}.debug")
    folder, name = os.path.dirname(os.path.realpath(path)), os.fsdecode(link.partition(b"\0")[0])
    if name and "/" not in name:
        found += [f"{folder}/{name}", f"{folder}/.debug/{name}", f"{_ROOT}{folder}/{name}"]
    if build_id:
        found += [f"{cache}/{build_id.hex()}/debuginfo" for cache in _caches()]
    for each in found:
        if os.path.isfile(each) and (build_id or _has_checksum(each, link)):
            yield each


def _caches() -> Iterator[str]:
    if given := os.environ.get("DEBUGINFOD_CACHE_PATH"):
        yield given
        return
    home = os.path.expanduser("~")
    yield f"{home}/.debuginfod_client_cache"  # of older clients
    yield (os.environ.get("XDG_CACHE_HOME") or f"{home}/.cache") + "/debuginfod_client"


def _has_checksum(path: str, link: bytes) -> bool:
    checksum = 0
    try:
        with files.open_input(path) as stream:
            while piece := stream.read(_PIECE):
                checksum = zlib.crc32(piece, checksum)
    except Failure:
        return False
    return checksum in (int.from_bytes(link[-4:], "little"), int.from_bytes(link[-4:], "big"))
