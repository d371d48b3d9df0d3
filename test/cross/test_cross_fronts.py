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
    compile_text,
    link,
    startup_names,
    write_profile,
)
from places import LLVM

NAMES = ("plain.c", "tls.c", "ifunc.c", "start_stop.c", "exceptions.cpp", "threads.cpp")
PROTECTED = Path(__file__).parent / "programs" / "protected.c"
LINKING = {"pie": ("-fPIE", "-pie"), "no-pie": ("-fno-pie", "-no-pie"),
           "static": ("-fno-pie", "-static"), "static-pie": ("-fPIE", "-static-pie")}


@pytest.fixture(params=[cross for cross in crossed.ALL if cross.is_clang],
                ids=lambda cross: cross.processor)
def cross(request) -> crossed.Cross:
    return request.param.need()


def target(cross) -> str:
    return f"--target={cross.processor}-linux-gnu"


def linked_both_ways(cross, folder: Path, objects, *flags, driver=None) -> tuple[Path, Path]:
    """A program as lld links it, and with a front."""
    plain, front = folder / "plain", folder / "front"
    driver = driver or COMPILERS["clang"][0]
    link(plain, *objects, target(cross), *flags, linker=LD_LLD, driver=driver)
    names = startup_names(Image(plain))
    link(front, *objects, target(cross), *flags, driver=driver,
         profile=write_profile(folder, *names))
    assert all(Image(front).section_of(name) == ".text.front" for name in names)
    return plain, front


@pytest.mark.parametrize("linking", LINKING)
@pytest.mark.parametrize("name", NAMES)
def test_program_runs_as_before(cross, name, linking, tmp_path):
    """However it is linked, with what its kind of program needs: thread-local storage, IFUNCs,
    unwinding through the front."""
    source = PROGRAMS / name
    if source.suffix == ".cpp" and not list(
            Path("/usr/lib/gcc-cross").glob(f"{cross.processor}-linux-gnu/*/libstdc++.a")):
        pytest.skip(f"needs libstdc++ for {cross.processor}, of a package libstdc++-*-dev-*-cross")
    if linking == "static-pie" and not (cross.folder / "lib/rcrt1.o").exists():
        pytest.skip("this libc has no static-pie")
    compile_flag, link_flag = LINKING[linking]
    o = compile_source(tmp_path, source, target(cross), compile_flag, compiler="clang")
    plain, front = linked_both_ways(cross, tmp_path, [o], link_flag,
                                    driver=COMPILERS["clang"][source.suffix == ".cpp"])
    assert cross.run(front).stdout == cross.run(plain).stdout != ""


@pytest.mark.parametrize("linking", ["pie", "no-pie"])
def test_protected_branches_stay_protected(linking, tmp_path):
    """A program of objects with BTI keeps the note of it, and runs; a call to where none may go, in
    the front, ends it as without a front."""
    cross = crossed.AARCH64_CLANG.need()
    compile_flag, link_flag = LINKING[linking]
    o = compile_source(tmp_path, PROTECTED, target(cross), compile_flag,
                       "-mbranch-protection=standard", compiler="clang")
    for program in linked_both_ways(cross, tmp_path, [o], link_flag, "-nostartfiles",
                                    "-Wl,-z,force-bti,--fatal-warnings"):
        assert "aarch64 feature: BTI" in check_run(LLVM / "llvm-readelf", "-n", program)
        assert cross.run(program).stdout == "5 kept\n"
        cross.run(program, "bare", code=-4)  # SIGILL


FAR = """
#include <stdio.h>
__asm__(".section .text.filler,\\"ax\\",%progbits\\n.globl filler\\nfiller: .skip 200 << 20\\n"
        ".text\\n");
extern char filler[];
__attribute__((noinline)) int far_away(int x);
__attribute__((noinline)) int hot_1_one(int x) {
  __asm__ volatile("" : : "r"(filler)); /* what the front refers to comes first in the rest */
  return far_away(x) + 1;
}
__attribute__((noinline)) int near_by(int x) { return hot_1_one(x) * 2; }
int main(void) { printf("%d\\n", near_by(3)); return 0; }
__attribute__((noinline)) int far_away(int x) {
  return x > 0 ? hot_1_one(x - 1) : 5;
}
"""


def test_front_and_rest_200_mb_apart(tmp_path):
    """Calls between the front and the rest go through thunks, there and back."""
    cross = crossed.AARCH64_CLANG.need()
    o = compile_text(tmp_path, "far.c", FAR, target(cross), "-fPIE", compiler="clang")
    try:
        plain, front = linked_both_ways(cross, tmp_path, [o], "-pie")
        assert cross.run(front).stdout == cross.run(plain).stdout == "18\n"
        image = Image(front)
        distance = image.symbols["far_away"].address - image.symbols["hot_1_one"].address
        assert distance > 200 << 20 and image.matching("Thunk")
    finally:  # they are large
        for name in ("far.o", "plain", "front"):
            (tmp_path / name).unlink(missing_ok=True)
