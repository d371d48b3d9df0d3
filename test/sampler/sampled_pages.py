"""What a sample tells of a program of which each function has pages of its own."""

from pathlib import Path

from elftools.elf.elffile import ELFFile
from frontload.profile import sample


def touched(found: sample.PageSample, program: Path) -> set[str]:
    """The functions of the program's own whose first page is in a sample."""
    pages = set(found.touched[found.modules.index(found.main)].pages.tolist())
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


def main_is_exact(found: sample.PageSample) -> bool:
    return found.touched[found.modules.index(found.main)].exact
