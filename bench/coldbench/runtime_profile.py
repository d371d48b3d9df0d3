"""bench/runtime-profile: makes lldplugin/profile/runtime.startup.

--front=auto has no profile of the program. But libc, libstdc++ and Rust's std start alike in many
programs that have them inside. So one small program of each language (bench/runtimes) is linked
statically and recorded, and what it touches of these libraries is written down. Strings are left
out: the references of functions lead to them.
"""

import argparse
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from frontload.base import errors, processes
from frontload.base.files import write_if_changed

from coldbench import command

PROGRAMS = command.ROOT / "bench" / "runtimes"
MADE = command.ROOT / "lldplugin" / "profile" / "runtime.startup"
# Both kinds of static programs: they are relocated by different code.
COMPILERS = {"hello.c": (["gcc", "-O2", "-static"], ["gcc", "-O2", "-static-pie"]),
             "hello.cpp": (["g++", "-O2", "-static"], ["g++", "-O2", "-static-pie"]),
             "hello.rs": (["rustc", "-O"],)}
HEAD = """frontload-startup-profile 3
# Made by bench/runtime-profile.
program any
runs 1
data-runs 1
function\ttext\t1\t+1\t-\t_start
function\ttext\t1\t+1\t-\t_init
function\ttext\t1\t+1\t-\tframe_dummy
"""
MAIN = "function\ttext\t1\t+1\t-\tmain\n"


def parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/runtime-profile", description="Record small static programs, and write down "
        "what each start touches of the libraries in them.")
    command.add_build_options(parser)
    return parser.parse_args(argv)


def names_of_libraries(link_map: Path, llvm: Path) -> set[str]:
    """The names that the archives of a link define."""
    archives = set(re.findall(r"(\S+\.(?:a|rlib))\(", link_map.read_text()))
    listed = processes.run([llvm / "bin" / "llvm-nm", "--defined-only", "--format=just-symbols",
                            *sorted(archives)])
    return set(listed.stdout.split())


def startup(source: Path, compiler: list[str], tools: Path, llvm: Path, folder: Path) -> list[str]:
    """The lines of a program's startup profile that are of libraries."""
    program, link_map, made = folder / "hello", folder / "map", folder / "hello.startup"
    flags = ["-fuse-ld=lld", f"-Wl,-Map={link_map}"]
    if compiler[0] == "rustc":
        flags = [word for flag in flags for word in ("-C", f"link-arg={flag}")]
    processes.check_call([*compiler, *flags, "-o", program, source])
    processes.check_call([tools / "frontload", "record", "--quiet", "--data",
                          "-o", folder / "traces", "--", program])
    processes.check_call([tools / "frontload", "profile", "--quiet", folder / "traces",
                          "--map", link_map, "-o", made])
    known = names_of_libraries(link_map, llvm)
    lines = []
    for line in made.read_text().splitlines():
        match line.split("\t"):
            case ["string", *_] | [_, "bss", *_]:  # no file has .bss
                pass
            case [kind, where, _, _, _, name, *file] if (
                    file[0].startswith("lib") if file else name in known):
                lines.append("\t".join([kind, where, "1", "+1", "-", name, *file]))
    return lines


def run(args: argparse.Namespace) -> int:
    lines: dict[str, None] = {}
    for name, compilers in COMPILERS.items():
        for compiler in compilers:
            with tempfile.TemporaryDirectory() as folder:
                lines |= dict.fromkeys(startup(PROGRAMS / name, compiler, args.build_dir / "bin",
                                               args.llvm, Path(folder)))
    text = HEAD + "".join(f"{line}\n" for line in lines if f"{line}\n" not in HEAD + MAIN) + MAIN
    write_if_changed(MADE, text.encode())
    print(f"{MADE}: {len(lines)} names")
    return errors.EXIT_OK
