"""Frontload built for another processor, without LLVM: what lives in a program or starts it."""

import crossed
import pytest
from elftools.elf.elffile import ELFFile
from linking import check_run
from places import LLVM

_MACHINES = {"aarch64": "EM_AARCH64", "riscv64": "EM_RISCV"}

def machine(path) -> str:
    with path.open("rb") as stream:
        return ELFFile(stream)["e_machine"]


def test_all_parts_are_of_that_processor(cross):
    """The libraries, and programs that need no libc where they run."""
    for name in ("lib/libfrontload-rt.so", "lib/libfrontload-prefetch.so.1",
                 "lib/libfrontload-sample.so", "bin/frontload-exec", "bin/frontload-run"):
        assert machine(cross.build / name) == _MACHINES[cross.processor]
    for name in ("exec", "run"):
        assert "NEEDED" not in check_run(LLVM / "llvm-readelf", "-d",
                                         cross.build / "bin" / f"frontload-{name}")
    assert (cross.build / "lib/libfrontload-rt.a").exists()


def test_what_is_left_out_is_said(cross):
    """The recorders beside a program are not built, and the build goes on."""
    said = (cross.build / "said").read_text()
    assert "frontload-trace is not built" in said and "frontload-valgrind is not built" in said
    assert not (cross.build / "bin/frontload-trace").exists()


def test_the_prefetch_library_needs_nothing(cross):
    """No other library, nothing but itself to relocate; nor do the archive's members need libc."""
    library = cross.build / "lib/libfrontload-prefetch.so"
    text = check_run(LLVM / "llvm-readelf", "-dr", library)
    assert "NEEDED" not in text and "R_" in text
    kinds = {word for word in text.split() if word.startswith("R_")}
    assert all("RELATIV" in kind for kind in kinds), kinds
    archive = library.with_suffix(".a")

    def names(*flags) -> set[str]:
        text = check_run(LLVM / "llvm-nm", "--format=just-symbols", "--quiet", *flags, archive)
        return {name for name in text.split() if not name.endswith(":")}

    assert names("--undefined-only") <= names("--defined-only")


def test_the_runtime_needs_no_string_functions(cross):
    """Compilers insert calls of memcpy and the like, which a program may have instrumented."""
    text = check_run(LLVM / "llvm-nm", "--undefined-only", "--format=just-symbols", "--quiet",
                     cross.build / "lib/libfrontload-rt.a")
    assert not [name for name in text.split() if name.startswith(("mem", "str", "bcmp"))]


@pytest.mark.parametrize("cross", [crossed.AARCH64, crossed.AARCH64_CLANG], ids=str)
def test_the_prefetch_library_keeps_branch_protection(cross):
    """A program whose branches are protected would lose that if a library of it had it not."""
    library = cross.need().build / "lib/libfrontload-prefetch.so"
    assert "aarch64 feature: BTI, PAC" in check_run(LLVM / "llvm-readelf", "-n", library)
