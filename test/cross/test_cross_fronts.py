"""Programs of other processors with a front do what they do without one, under QEMU's user mode."""

from pathlib import Path

import crossed
import pytest
from linking import (
    COMPILERS,
    LD_LLD,
    PROGRAMS,
    Image,
    check_run,
    compile_source,
    link,
    startup_names,
    write_profile,
)
from places import ALL, LLVM

NAMES = ("plain.c", "tls.c", "ifunc.c", "start_stop.c", "exceptions.cpp", "threads.cpp")
PROTECTED = Path(__file__).parent / "programs" / "protected.c"
# Each program in two of the ways to link it, each way with three programs.
PAIRS = [(name, linking) for i, name in enumerate(NAMES)
         for j, linking in enumerate(crossed.LINKING) if ALL or (i + j) % 2 == 0]


def linked_both_ways(cross, folder: Path, objects, *flags, driver=None) -> tuple[Path, Path]:
    """A program as lld links it, and with a front."""
    plain, front = folder / "plain", folder / "front"
    driver = driver or COMPILERS["clang"][0]
    link(plain, *objects, cross.target, *flags, linker=LD_LLD, driver=driver)
    names = startup_names(Image(plain))
    link(front, *objects, cross.target, *flags, driver=driver,
         profile=write_profile(folder, *names))
    assert all(Image(front).section_of(name) == ".text.front" for name in names)
    return plain, front


@crossed.only(crossed.AARCH64, crossed.Cross("riscv64", is_clang=True))
@pytest.mark.parametrize(("name", "linking"), PAIRS)
def test_program_runs_as_before(cross, name, linking, tmp_path):
    """However it is linked, with what its kind of program needs: thread-local storage, IFUNCs,
    unwinding through the front."""
    source = PROGRAMS / name
    is_cpp = source.suffix == ".cpp"
    if is_cpp and not list(Path("/usr/lib/gcc-cross").glob(
            f"{cross.processor}-linux-gnu/*/libstdc++.a")):
        pytest.skip(f"needs libstdc++ for {cross.processor}, of a package libstdc++-*-dev-*-cross")
    compile_flag, link_flag = cross.linking(linking)
    o = compile_source(tmp_path, source, cross.target, compile_flag, compiler="clang")
    plain, front = linked_both_ways(cross, tmp_path, [o], link_flag,
                                    driver=COMPILERS["clang"][is_cpp])
    assert cross.run(front).stdout == cross.run(plain).stdout != ""


@crossed.only(crossed.AARCH64)
@pytest.mark.parametrize("linking", ["pie", "no-pie"])
def test_protected_branches_stay_protected(cross, linking, tmp_path):
    """A program of objects with BTI keeps the note of it, and runs; a call to where none may go, in
    the front, ends it as without a front."""
    compile_flag, link_flag = cross.linking(linking)
    o = compile_source(tmp_path, PROTECTED, cross.target, compile_flag,
                       "-mbranch-protection=standard", compiler="clang")
    for program in linked_both_ways(cross, tmp_path, [o], link_flag, "-nostartfiles",
                                    "-Wl,-z,force-bti,--fatal-warnings"):
        assert "aarch64 feature: BTI" in check_run(LLVM / "llvm-readelf", "-n", program)
        assert cross.run(program).stdout == "5 kept\n"
        cross.run(program, "bare", code=-4)  # SIGILL
