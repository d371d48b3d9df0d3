"""The segments of a program or library: which parts of the file are loaded, and where."""

from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from frontload.base.errors import BadData

_REMEDY = "give a program that is linked dynamically, as the linker wrote it"


def load(path: str) -> list[dict]:
    """The PT_LOADs of a file, with pyelftools' names; none if it is not readable as ELF."""
    try:
        with open(path, "rb") as stream:
            return [dict(segment.header) for segment in ELFFile(stream).iter_segments("PT_LOAD")]
    except Exception:  # pyelftools raises many errors on damaged files (see elf/contents.py)
        return []


def interpreter(path: str) -> str:
    """The loader that a program asks for."""
    try:
        with open(path, "rb") as stream:
            for segment in ELFFile(stream).iter_segments("PT_INTERP"):
                if isinstance(segment, InterpSegment):
                    return segment.get_interp_name()
    except Exception as problem:
        raise BadData(path, f"not a readable ELF file: {problem}", note=_REMEDY) from problem
    raise BadData(path, "has no loader", note=_REMEDY)


def offset_of(address: int, segments: list[dict]) -> int | None:
    """The offset in the file of an address of the program."""
    for segment in segments:
        if segment["p_vaddr"] <= address < segment["p_vaddr"] + segment["p_filesz"]:
            return segment["p_offset"] + address - segment["p_vaddr"]
    return None
