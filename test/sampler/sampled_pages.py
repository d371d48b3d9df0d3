"""What a sample tells of a program of which each function has pages of its own."""

from pathlib import Path

from elftools.elf.elffile import ELFFile
from frontload.profile import sample


def touched(found: sample.PageSample, program: Path) -> set[str]:
    """The functions of a program, or of a library of it, whose first page is in a sample."""
    pages = set(touched_of(found, program).pages.tolist())
    with program.open("rb") as stream:
        elf = ELFFile(stream)
        loads = list(elf.iter_segments("PT_LOAD"))
        return {symbol.name for symbol in elf.get_section_by_name(".symtab").iter_symbols()
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]
                and not symbol.name.startswith("_")
                for load in loads
                if load["p_vaddr"] <= symbol["st_value"] < load["p_vaddr"] + load["p_filesz"]
                and (symbol["st_value"] - load["p_vaddr"] + load["p_offset"]) // found.page_size
                in pages and symbol["st_value"] % found.page_size == 0}


def touched_of(found: sample.PageSample, file: Path) -> sample.TouchedPages:
    """Of a file by its name: a program may have another path where it was sampled."""
    (touched,) = (touched for module, touched in zip(found.modules, found.touched, strict=True)
                  if module.name == file.name)
    return touched


def main_is_exact(found: sample.PageSample) -> bool:
    return found.touched[found.modules.index(found.main)].exact
