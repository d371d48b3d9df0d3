"""What the kernel and the dynamic loader work from: where a program begins to run, its dynamic
table, and its relocations.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

from frontload.base import files
from frontload.base.arrays import np
from frontload.elf.constants import SHF_ALLOC, SHT_DYNAMIC, SHT_REL, SHT_RELA, SHT_RELR
from frontload.elf.contents import REMEDY, Contents, Parsed, damaged


class Relocations:
    """The loader's relocations that are not packed: one array per field. Sections that are not
    loaded hold relocations for other tools, and are left out."""

    def __init__(self, tables: list[np.ndarray], word: int):
        def all_of(kind: str, column: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
            return np.concatenate([np.empty(0, kind), *(column(table).astype(kind)
                                                        for table in tables)])

        # Behind the symbol in a field of both: its lower 32 bits or, in 32-bit files, 8.
        self.offset = all_of("u8", lambda table: table["offset"])
        self.type = all_of("u4", lambda table: table["info"] & (1 << (32 if word == 8 else 8)) - 1)
        self.size = all_of("u1", lambda table: np.full(len(table), table.dtype.itemsize))


@dataclass(frozen=True)
class Loading:
    """What the loader of a program or shared library works from."""

    machine: str  # as pyelftools names it, EM_X86_64
    word: int  # bytes of an address
    fixed: bool  # a program with fixed addresses
    dynamic: dict[int, int]  # by tag; empty in a static program
    relocations: Relocations
    packed: np.ndarray  # the words of DT_RELR


@dataclass(frozen=True)
class EntryPoint:
    """Where a program begins to run."""

    entry: int  # 0 if it is a shared library that cannot be run
    has_interpreter: bool  # the loader runs before it


def read_loading(path: os.PathLike[str] | str) -> Loading:
    """Reads the loader's tables; raises BadData if they are damaged."""
    return _read(path, _loading)


def read_start(path: os.PathLike[str] | str) -> EntryPoint:
    """Reads where a program begins; raises BadData if that is damaged."""
    return _read(path, lambda contents: EntryPoint(
        int(contents.headers.header["e_entry"]),
        contents.checked(lambda: any(segment["p_type"] == "PT_INTERP"
                                     for segment in contents.headers.iter_segments()))))


def _read(path: os.PathLike[str] | str, parse: Callable[[Contents], Parsed]) -> Parsed:
    with files.open_input(path, REMEDY) as stream:
        return parse(Contents(os.fspath(path), stream))


def _loading(contents: Contents) -> Loading:
    sections = contents.sections
    loaded = (sections["flags"] & SHF_ALLOC) != 0

    def tables(section_type: int, *fields: str) -> list[np.ndarray]:
        kind = np.dtype([(field, contents.word) for field in fields])
        return [contents.table(index, kind, "a table of the loader")
                for index in np.flatnonzero(loaded & (sections["type"] == section_type)).tolist()]

    # Overlapping tables can together be many times as large as the file.
    ours = loaded & np.isin(sections["type"], (SHT_RELA, SHT_REL, SHT_RELR, SHT_DYNAMIC))
    total = sum(sections["size"][ours].tolist())
    if total > contents.size:
        raise damaged(contents.path, f"{total} bytes of tables of the loader in a file of "
                      f"{contents.size} bytes")
    dynamic = {tag: value for table in tables(SHT_DYNAMIC, "tag", "value")
               for tag, value in table.tolist()}
    word = np.dtype(contents.word).itemsize
    return Loading(
        machine=str(contents.headers.header["e_machine"]), word=word,
        fixed=contents.headers.header["e_type"] == "ET_EXEC", dynamic=dynamic,
        relocations=Relocations([*tables(SHT_RELA, "offset", "info", "addend"),
                                 *tables(SHT_REL, "offset", "info")], word),
        packed=np.concatenate([np.empty(0, "u8"), *(table["word"].astype("u8") for table
                                                    in tables(SHT_RELR, "word"))]))
