"""The program whole.cpp, with a front and without, for tests of tools and of link options."""

from pathlib import Path

from elftools.elf.elffile import ELFFile
from linking import CXX, LD_LLD, Image, check_run, compile_source, link, write_profile

PROGRAMS = Path(__file__).parent / "programs"
SOURCE = PROGRAMS / "whole.cpp"
# In the order of the profile.
HOT = ("main", "hot_1_step", "hot_2_catch", "hot_3_leaf", "hot_4_pages")
COLD = ("cold_1_catch", "cold_2_leaf", "cold_3_step", "cold_4_pages")
PAGE = 4096


def compile_whole(folder: Path, *flags, compiler: str = "gcc") -> list[Path]:
    return [compile_source(folder, PROGRAMS / name, "-fPIE", *flags, compiler=compiler)
            for name in ("whole.cpp", "whole_table.c")]


def check_whole(folder: Path, *flags, compile_flags=(), compiler: str = "gcc",
                page: int = PAGE) -> tuple[Path, Path]:
    """Links with ld.frontload and, alike but for the front, with ld.lld; returns the two. They do
    the same, and the first has its front."""
    front, plain = folder / "front", folder / "plain"
    objects = compile_whole(folder, *compile_flags, compiler=compiler)
    driver = CXX
    link(front, *objects, "-pie", *flags, driver=driver, profile=write_profile(folder, *HOT))
    link(plain, *objects, "-pie", "-Wl,-z,pack-relative-relocs", *flags, driver=driver,
         linker=LD_LLD)
    assert check_run(front) == check_run(plain)
    check_front(front, page)
    return front, plain


def load_segments(path: Path) -> list:
    with path.open("rb") as stream:
        return [s.header for s in ELFFile(stream).iter_segments("PT_LOAD")]


def file_offset(path: Path, address: int) -> int:
    """Where in the file the byte is that is loaded to `address`."""
    (segment,) = [s for s in load_segments(path)
                  if s.p_vaddr <= address < s.p_vaddr + s.p_filesz]
    return address - segment.p_vaddr + segment.p_offset


def check_front(path: Path, page: int = PAGE) -> Image:
    """Checks that the file begins with a front: in order, without a hole, nothing cold in it."""
    image = Image(path)
    end = file_offset(path, image.code_end - 1) + 1
    assert image.is_ordered(*HOT)
    addresses = {image.symbols[name].address for name in HOT}
    assert all(file_offset(path, a) < end for a in addresses)
    cold = {image.symbols[name].address for name in COLD} - addresses  # --icf folds two
    assert cold and all(file_offset(path, address) >= end for address in cold)
    position = 0
    for header in sorted((h for h in image.sections.values()
                          if h["sh_flags"] & 2 and h["sh_type"] != "SHT_NOBITS"),
                         key=lambda h: h["sh_offset"]):
        if header["sh_offset"] <= end and position:
            assert header["sh_offset"] - position < page, "a hole in the front"
        position = header["sh_offset"] + header["sh_size"]
    for segment in load_segments(path):
        assert segment.p_align >= page
        assert (segment.p_vaddr - segment.p_offset) % segment.p_align == 0
    return image
