#!/usr/bin/env python3
"""Makes those inputs of test/fuzz/corpus that compilers and linkers write, small ones of all kinds.
The others are written by hand, or were found; they stay as they are.

    test/fuzz/seeds.py BUILD     with the build folder whose programs make them
"""

import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
LLVM = Path("/usr/lib/llvm-22/bin")
SOURCE = """
    static int variable = 7;
    static const int *const table[] = {&variable, 0};
    int zeros[4];
    const char *text = "hello";
    __attribute__((noinline)) static int helper(int x) {
      switch (x) {
        case 1: return 5; case 2: return zeros[1]; case 3: return 1; case 4: return 9;
        default: return *table[0] + text[x & 3];
      }
    }
    int unused(void) { return 3; }
    inline __attribute__((weak)) int shared(int x) { return x + 1; }
    int main(void) { return helper(zeros[0]) + shared(variable); }
    void _start(void) { main(); __builtin_trap(); }
"""
FLAGS = ["-O1", "-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables",
         "-ffreestanding", "-fno-ident"]
X86, BLOCKS = "--target=x86_64-linux-gnu", "-fbasic-block-address-map"
# Of each kind, and with each format of relocations.
OBJECTS = {"x86-64": [X86, "-fPIC"], "significant": [X86, "-faddrsig"], "blocks": [X86, BLOCKS],
           "crel": [X86, "-Wa,--crel,--allow-experimental-crel"],
           **{name: [f"--target={name}-linux-gnu"] for name in ("i386", "s390x", "powerpc")}}
PLAIN = ["-nostdlib", "-static", f"--ld-path={LLVM}/ld.lld", "-Wl,--nmagic"]
FRONT = ["-nostdlib", "-fuse-ld=lld", "-Wl,--min-match=0,--front-always,-z,max-page-size=4096",
         f"-Wl,--startup-profile={CORPUS}/profile/all", "-Wl,--build-id,--eh-frame-hdr",
         "-fasynchronous-unwind-tables"]
# Programs and libraries: the smallest that there can be, and such with a front.
LINKED = {"plain": PLAIN, "blocks": [X86, BLOCKS, *PLAIN],
          "pie": ["-fPIE", "-pie", "-Wl,--dynamic-linker=/lib/ld.so", *FRONT],
          "library": ["-fPIC", "-shared", "-Wl,-soname,libinput.so.1",
                      "-Wl,-z,pack-relative-relocs", *FRONT]}


def main() -> None:
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "seed.c")
        source.write_text(SOURCE)

        def call(program: str, *arguments) -> None:
            subprocess.run([LLVM / program, *arguments], cwd=folder, check=True)

        for name, flags in OBJECTS.items():
            call("clang", *FLAGS, *flags, "-c", source.name, "-o", CORPUS / "objects" / name)
        for name, flags in LINKED.items():
            call("clang", f"--ld-path={build}/bin/ld.frontload", *FLAGS, *flags, source.name,
                 "-o", CORPUS / "linked" / name)
        archive = CORPUS / "gcc_lto" / "archive"
        archive.unlink()
        call("llvm-ar", "rc", archive, *(CORPUS / "objects" / name for name in ("x86-64", "i386")))


if __name__ == "__main__":
    main()
