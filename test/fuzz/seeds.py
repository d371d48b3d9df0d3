#!/usr/bin/env python3
"""Makes the inputs of test/fuzz/corpus that fuzzing begins with: small ones, of all that there is
to read in a format. What was found stays as it is; the seeds that are there are made anew.

    test/fuzz/seeds.py BUILD     with the build folder whose programs make them
"""

import json
import os
import struct
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
BLOCKS = ["--target=x86_64-linux-gnu", "-fbasic-block-address-map"]
FLAGS = ["-O1", "-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables",
         "-ffreestanding", "-fno-ident"]
PROFILE = (b"frontload-startup-profile 5\nprogram seed\nruns 2\ndata-runs 1\n"
           b"kept-runs 0123456789ab:1:data 0123456789ac:1\n# a comment\n"
           b"function\ttext\t2\t+1\t-\tmain\nfunction\ttext\t1=2\t+1\t720/3\thelper\tseed.c\n"
           b"data\trodata\t1\t+0\t112@656-799\ttable\nsection\trodata\t1\t+1\t48\t.rodata.x\ta.o\n"
           b"string\trodata\t1\t+1\t6\thello\\n\\x80\n")


GENERATIONS = (b"frontload-startup-profile 5\nprogram seed\nruns 11\ndata-runs 1\n"
               b"cold-parts unknown\n"
               b"generations 2.10:2:0 2.9:1:0 -:1:1:cold-parts-unknown\n"
               b"function\ttext\t11@2,1,1\t+1@0:1:0,3:1:4\t-\tmain\n"
               b"data\trodata\t1@0,0,1\t+1\t16\ttable\n")


def write(target: str, name: str, data: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def clang(folder: Path, output: str, *flags: str) -> bytes:
    (folder / "seed.c").write_text(SOURCE)
    subprocess.run([LLVM / "clang", *FLAGS, *flags, "seed.c", "-o", output], cwd=folder, check=True)
    return (folder / output).read_bytes()


def objects(folder: Path) -> dict[str, bytes]:
    """Of each kind, and with each format of relocations."""
    made = {
        "x86-64": clang(folder, "a.o", "-c", "--target=x86_64-linux-gnu", "-fPIC"),
        "significant": clang(folder, "b.o", "-c", "--target=x86_64-linux-gnu", "-faddrsig"),
        "i386": clang(folder, "c.o", "-c", "--target=i386-linux-gnu"),
        "s390x": clang(folder, "d.o", "-c", "--target=s390x-linux-gnu"),
        "powerpc": clang(folder, "e.o", "-c", "--target=powerpc-linux-gnu"),
        "crel": clang(folder, "f.o", "-c", "--target=x86_64-linux-gnu",
                      "-Wa,--crel,--allow-experimental-crel"),
        "blocks": clang(folder, "g.o", "-c", *BLOCKS),
    }
    subprocess.run([LLVM / "llvm-ar", "rc", "lib.a", "a.o", "c.o"], cwd=folder, check=True)
    return made


def linked(folder: Path, build: Path) -> dict[str, bytes]:
    """Programs and libraries: the smallest that there can be, and such with a front."""
    (folder / "profile").write_bytes(PROFILE)
    linker = [f"--ld-path={build}/bin/ld.frontload", "-nostdlib", "-fuse-ld=lld",
              "-Wl,--startup-profile=profile,--min-match=0,--front-always,-z,max-page-size=4096",
              "-Wl,--build-id,--eh-frame-hdr", "-fasynchronous-unwind-tables"]
    made = {"plain": clang(folder, "plain", "-nostdlib", "-static", f"--ld-path={LLVM}/ld.lld",
                           "-Wl,--nmagic"),
            "blocks": clang(folder, "blocks", *BLOCKS, "-nostdlib", "-static",
                            f"--ld-path={LLVM}/ld.lld", "-Wl,--nmagic")}
    for name, flags in (("pie", ["-fPIE", "-pie", "-Wl,--dynamic-linker=/lib/ld.so"]),
                        ("library", ["-fPIC", "-shared", "-Wl,-soname,libinput.so.1",
                                     "-Wl,-z,pack-relative-relocs"])):
        made[name] = clang(folder, name, *flags, *linker)
    return made


def traces() -> dict[str, bytes]:
    """Of both byte orders: two modules, and an event of each kind."""
    made = {}
    for order, number in (("<", 1), (">", 2)):
        path, build_id = b"/bin/program", bytes(range(20))

        def module(n: int, path: bytes, build_id: bytes, order=order) -> bytes:
            size = len(build_id) + len(path)
            slots = 1 + (size + 15) // 16
            head = 0x80 << 56 | 1 << 48 | len(build_id) << 40 | slots << 16 | len(path)
            return (struct.pack(order + "QII", head, n, n == 1)
                    + (build_id + path).ljust(16 * (slots - 1), b"\0"))

        stream = module(1, path, build_id) + module(2, b"/lib/libfoo.so", b"")
        for kind, address, of in ((1, 0x1000, 1), (2, 0x2010, 1), (3, 0x3000, 2), (4, 0x1003, 1)):
            stream += struct.pack(order + "QII", kind << 56 | address, of, 77)
        stream += bytes(16)
        header = struct.pack(order + "8sBBHHHIIIIQQBB6xQ64x", b"\x89FLT\r\n\x1a\n", number, 8, 62,
                             1, 2, 128, 16, 2, 77, len(stream) // 16, 0, 1, 0, 5)
        made["little" if number == 1 else "big"] = header + stream
    return made


def lld_plan() -> bytes:
    """Two files with patches, and a table of hashes."""
    magic = b"frontload lld 1\0"
    return (struct.pack("=16s5Q", magic, 2, 3, 4, 31 << 27, 1 << 27)
            + struct.pack("=3Q2q3Q", 1, 5, 700, 0, 0, 0, 2, 0)
            + struct.pack("=3Q2q3Q", 1, 9, 900, 0, 0, 2, 1, 0)
            + b"".join(struct.pack("=Q4s4s", at, b"abcd", b"WXYZ") for at in (0, 252, 512))
            + struct.pack("=4Q", 0, 5, 9, 0) + bytes(4))


def link_map(folder: Path) -> bytes:
    subprocess.run([LLVM / "clang", *FLAGS, "-c", "seed.c", "-o", "seed.o"], cwd=folder, check=True)
    subprocess.run([LLVM / "ld.lld", "seed.o", "-o", "out", "-Map=map"], cwd=folder, check=True)
    return (folder / "map").read_bytes() + (
        b"          201050           201050        6     1         lib.a(b.o):(.text.helper)\n"
        b"          201060           201060        6     1         lib.a(b.o):(.rodata.str1.1)\n"
        b"          201070           201070        6     1         seed.o:(.text.two\n.lines)\n")


def main() -> None:
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, data in objects(folder).items():
            write("objects", kind, data)
        write("gcc_lto", "archive", (folder / "lib.a").read_bytes())
        for kind, data in linked(folder, build).items():
            write("linked", kind, data)
        write("link_map", "map", link_map(folder))
    for order, data in traces().items():
        write("trace", order, data)
    write("profile", "all", PROFILE)
    write("profile", "generations", GENERATIONS)
    write("lld_plan", "plan", lld_plan())
    shell = os.stat("/bin/sh")
    write("reading_list", "list", (
        "frontload-files 1\nruns 2\nprobe 0 /bin/sh\nprobe 4096 /proc/self/exe\n"
        f"file\t/bin/sh\t{shell.st_size}\t{shell.st_mtime_ns // 10**9}."
        f"{shell.st_mtime_ns % 10**9:09}\t6a98\n\t0+8192\t12\t2\tmap\n\t65536+4096\t9\t1\tread\n"
        "file\t/proc/self/exe\t112\t1738000001.500000000\t-\n\t0+112\t14\t2\tboth\n"
        "file\t/none\\t\\x41\t5\t1.000000000\tabcd\n").encode())
    write("whole_start", "start", json.dumps({"schema": "frontload-whole-start/1", "files": [
        {"path": "/bin/sh", "size": shell.st_size, "is_mapped": True,
         "touched": [[0, 3, 0], [9, 1, 1], [3, 2, 0]]},
        {"path": "/none", "size": 9000, "is_mapped": False, "touched": [[1, 2, 1]]}]}).encode())
    write("listed_symbols", "list", b"b.obj\0global\0main\0\na(seed.c.o)\0local\0helper\0x\0\n"
          b"a.o\0global\0_ZN1AC2Ev\0\na.o\0global\0f.constprop.3.cold\0\n")
    write("linker_script", "groups", b"/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\n"
          b"GROUP ( /lib/libc.so.6 AS_NEEDED ( \"a b\" ) )\nPROVIDE(_end = 5);\n# x\n")
    write("linker_script", "sections", b"SECTIONS { .text : { *(.text) _end += .; } }\nINSERT\n")
    for name, text in (("shell", b"#!/bin/sh\n"), ("word", b"#! /bin/sh -eu\n"),
                       ("tab", b"#!\t/proc/self/exe\t\n"), ("none", b"#!\n"),
                       ("itself", b"#!/proc/self/fd/3\n"),
                       ("long", b"#!/bin/" + b"/" * 250 + b"sh")):
        write("refused_exec", name, text)
    write("mappings", "program", b"55d0c0000000-55d0c0001000 r--p 00000000 fe:00 123   /bin/a b\n"
          b"55d0c0001000-55d0c0002000 r-xp 00001000 fe:00 123   /bin/a b\n"
          b"7f0000000000-7f0000001000 rw-s 00000000 00:01 9     /memfd:x (deleted)\n"
          b"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0     [stack]\n")
    for name, text in (("version-2", b"0::/system.slice/a.service\n"), ("root", b"0::/\n"),
                       ("version-1", b"9:name=systemd:/\n4:cpu,memory:/a/../b\n1:cpu:/\n0::/\n"),
                       ("deep", b"0::" + b"/x" * 100 + b"\n")):
        write("memory_limit", name, text)
    for name, text in (("clone", b"_ZN3fooC2Ev.isra.0.cold"), ("version", b"f@@VERS_1"),
                       ("rust", b"_ZN3foo17h0123456789abcdefE.llvm.9"),
                       ("rust-v0", b"_RNvCs1234_7mycrate3foo"), ("part", b"_ZN1AD0Ev.part.3"),
                       ("rust-reference", b"_RINvMs_NtCs5_4core3fooINtB2_3barpEE")):
        write("mangled_name", name, text)


if __name__ == "__main__":
    main()
