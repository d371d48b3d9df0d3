"""Frontload built for another processor, without LLVM: what lives in a program or starts it."""

import crossed
from elftools.elf.elffile import ELFFile
from linking import check_run
from places import LLVM

_MACHINES = {"aarch64": "EM_AARCH64", "riscv64": "EM_RISCV"}


def symbols(archive, *flags) -> set[str]:
    text = check_run(LLVM / "llvm-nm", "--format=just-symbols", "--quiet", *flags, archive)
    return {name for name in text.split() if not name.endswith(":")}


def test_all_parts_are_of_that_processor(cross):
    """The libraries, and programs that need no libc where they run. The recorders beside a program
    are not built, which is said, and the build goes on."""
    for name in ("lib/libfrontload-rt.so", "lib/libfrontload-prefetch.so.1",
                 "bin/frontload-exec", "bin/frontload-run"):
        with (cross.build / name).open("rb") as stream:
            elf = ELFFile(stream)
            dynamic = elf.get_section_by_name(".dynamic")
            assert elf["e_machine"] == _MACHINES[cross.processor]
            assert name.startswith("lib") or not dynamic or not list(
                dynamic.iter_tags("DT_NEEDED"))
    said = (cross.build / "said").read_text()
    for name in ("frontload-trace", "frontload-valgrind"):
        assert f"{name} is not built" in said and not (cross.build / "bin" / name).exists()


def test_the_prefetch_library_needs_nothing(cross):
    """No other library, nothing but itself to relocate; nor do the archive's members need libc."""
    library = cross.build / "lib/libfrontload-prefetch.so"
    text = check_run(LLVM / "llvm-readelf", "-dr", library)
    kinds = {word for word in text.split() if word.startswith("R_")}
    assert "NEEDED" not in text and kinds and all("RELATIV" in kind for kind in kinds), kinds
    archive = library.with_suffix(".a")
    assert symbols(archive, "--undefined-only") <= symbols(archive, "--defined-only")


def test_the_runtime_needs_no_string_functions(cross):
    """Compilers insert calls of memcpy and the like, which a program may have instrumented."""
    needed = symbols(cross.build / "lib/libfrontload-rt.a", "--undefined-only")
    assert not [name for name in needed if name.startswith(("mem", "str", "bcmp"))]


@crossed.only(crossed.AARCH64)
def test_the_prefetch_library_keeps_branch_protection(cross):
    """A program whose branches are protected would lose that if a library of it had it not."""
    library = cross.build / "lib/libfrontload-prefetch.so"
    assert "aarch64 feature: BTI, PAC" in check_run(LLVM / "llvm-readelf", "-n", library)
