"""Helpers of tests that link: compile, make profiles, link with a front, look inside."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from compiled import compile_to
from elftools.elf.elffile import ELFFile
from places import BUILD, LLVM

LD_FRONTLOAD = BUILD / "bin" / "ld.frontload"
LD_LLD = LLVM / "ld.lld"
COMPILERS = {"gcc": ("gcc", "g++"), "clang": (LLVM / "clang", LLVM / "clang++")}
CXX = COMPILERS["clang"][1]
# Their functions hot_… are what the profile names, in the order of their numbers.
PROGRAMS = Path(__file__).parent / "link" / "programs"
SECTION_FLAGS = ("-ffunction-sections", "-fdata-sections")


def check_run(*command, **options) -> str:
    """Runs a command that has to succeed; returns its standard output."""
    result = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True,
                            **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def compile_source(folder: Path, source: Path, *flags, compiler: str = "gcc",
                   name: str | None = None) -> Path:
    """Compiles a C or C++ file to an object in `folder`."""
    driver = COMPILERS[compiler][source.suffix == ".cpp"]
    return compile_to(folder / f"{name or source.stem}.o", driver, "-O1", "-g0", *SECTION_FLAGS,
                      *flags, "-c", source.name, sources={source.name: source})


def compile_text(folder: Path, name: str, text: str, *flags, compiler: str = "gcc") -> Path:
    """Compiles a program given as text; `name` carries the suffix .c or .cpp (or .s)."""
    source = folder / name
    source.write_text(text)
    return compile_source(folder, source, *flags, compiler=compiler)


MAIN = "int main(void) { return 0; }\n"
# The smallest program that has something to order.
TWO_FUNCTIONS = "int helper(int x) { return x + 1; }\nint main(void) { return helper(-1); }\n"


def functions(*names: str) -> str:
    """The text of functions that differ in what they compute."""
    return "".join(f"__attribute__((used)) int {n}(int x) {{ return x + {i}; }}\n"
                   for i, n in enumerate(names))


class Entry(NamedTuple):
    """One line of a profile."""

    kind: str
    section_class: str
    name: str
    file: str = ""
    runs: int = 1
    touched: str = "-"


def measured(name: str, file: str = "") -> Entry:
    """A function that a run with data has touched, so that the profile knows its data."""
    return Entry("function", "text", name, file, touched="16")


def profile_text(*entries, program: str = "program", runs: int = 1,
                 data_runs: int | None = None) -> str:
    """A profile, by default of one run, which recorded data if an entry is any. An entry is a
    function's name, or an Entry or the beginning of one."""
    lines = [Entry("function", "text", e) if isinstance(e, str) else Entry(*e) for e in entries]
    if data_runs is None:
        data_runs = int(any(line.kind != "function" for line in lines))
    version = 3 if any("@" in line.touched for line in lines) else 2
    text = [f"frontload-startup-profile {version}", f"program {program}", f"runs {runs}",
            f"data-runs {data_runs}"]
    for line in lines:
        text.append("\t".join([line.kind, line.section_class, str(line.runs), "+1", line.touched,
                               line.name, *([line.file] if line.file else [])]))
    return "\n".join(text) + "\n"


def write_profile(folder: Path, *entries, **header) -> Path:
    path = folder / "app.startup"
    path.write_text(profile_text(*entries, **header))
    return path


def with_begun_strings(path: Path) -> bytes:
    """A linked file, in which a zero also precedes the first of the merged strings, as it does all
    others."""
    content = bytearray(path.read_bytes())
    if strings := Image(path).sections.get(".rodata.strings"):
        content[strings["sh_offset"] - 1] = 0
    return bytes(content)


def is_linear(path: Path) -> bool:
    """Whether address and offset are equally far apart in all of a file, and every segment but the
    last is in the file as it is in memory."""
    with path.open("rb") as stream:
        loaded = [s.header for s in ELFFile(stream).iter_segments("PT_LOAD")]
    return (len({s.p_vaddr - s.p_offset for s in loaded}) == 1
            and all(s.p_filesz == s.p_memsz for s in loaded[:-1]))


# Some of the programs here are so small that they would be linked without a front.
ALWAYS, NEVER = "--front-always", "--front-never"


def link(output: Path, *arguments, linker: Path = LD_FRONTLOAD, driver=None, profile=None,
         code: int = 0) -> subprocess.CompletedProcess:
    """Links through a compiler driver, with a front if there is a profile; expects exit code `code`
    (the driver's)."""
    command = [driver or COMPILERS["clang"][0], f"--ld-path={linker}", "-o", output, *arguments]
    if profile:
        command.append(f"-Wl,--startup-profile={profile},{ALWAYS}")
    result = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True)
    assert result.returncode == code, f"{command}\n{result.stdout}{result.stderr}"
    return result


def ld(*arguments, code: int | None = 0, **options) -> subprocess.CompletedProcess:
    """Runs ld.frontload itself, which lays out a front if it is given a profile."""
    command = [os.fspath(a) for a in (LD_FRONTLOAD, *arguments)]
    if any(word.startswith("--startup-profile") for word in command) and NEVER not in command:
        command.append(ALWAYS)
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert code is None or result.returncode == code, result.stderr
    return result


@dataclass
class Symbol:
    address: int
    size: int
    section: str


class Image:
    """Sections and symbols of a linked file. The front's code is part of .text; a symbol in it has
    the section `.text.front` here."""

    def __init__(self, path: Path):
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            sections = list(elf.iter_sections())
            self.sections = {s.name: s.header for s in sections}
            self.order = [s.name for s in sections]
            padding = elf.get_section_by_name(".data.padding")
            order = "little" if elf.little_endian else "big"
            self.code_end = self.sections[".text"]["sh_addr"] + int.from_bytes(
                padding.data()[:8], order) if padding else 0
            self.symbols: dict[str, Symbol] = {}
            table = elf.get_section_by_name(".symtab")
            for symbol in table.iter_symbols() if table else ():
                index = symbol["st_shndx"]
                if isinstance(index, int) and symbol.name:
                    is_front = (sections[index].name == ".text"
                                and symbol["st_value"] < self.code_end)
                    self.symbols[symbol.name] = Symbol(
                        symbol["st_value"], symbol["st_size"],
                        ".text.front" if is_front else sections[index].name)

    def section_of(self, name: str) -> str:
        return self.symbols[name].section

    def sections_of(self, *names: str) -> set[str]:
        return {self.symbols[name].section for name in names}

    def is_ordered(self, *names: str) -> bool:
        """Whether these names lie in this order."""
        addresses = [self.symbols[name].address for name in names]
        return addresses == sorted(addresses)

    def matching(self, text: str) -> list[str]:
        """The names that contain `text`, by address."""
        found = [n for n in self.symbols if text in n]
        return sorted(found, key=lambda n: self.symbols[n].address)


class Linked:
    """A file with a front, its report, and what its link said."""

    def __init__(self, path: Path, report: Path, said: str):
        self.path, self.report_path, self.said = path, report, said

    @cached_property
    def image(self) -> Image:
        return Image(self.path)

    @cached_property
    def report(self) -> dict:
        return json.loads(self.report_path.read_text())

    @property
    def end(self) -> int:
        """The offset of the first byte behind the front."""
        return self.report["front"]["bytes"]

    @property
    def names(self) -> dict:
        """What became of the profile's names."""
        return self.report["names"]

    @property
    def missing(self) -> set[str]:
        return {name["name"] for name in self.names["missing"]}

    def is_in_front(self, offset: int) -> bool:
        """The strings that are not hot are not, though its code lies behind them."""
        strings = self.image.sections.get(".rodata.strings", {"sh_offset": 0, "sh_size": 0})
        behind = offset - strings["sh_offset"]
        return offset < self.end and not (
            self.report["front"]["strings"] <= behind < strings["sh_size"])

    def front_has(self, content: bytes) -> bool:
        """Whether the file's first such content is in the front."""
        return self.is_in_front(self.path.read_bytes().index(content))


def front(folder: Path, *arguments, entries=("main",), output: str = "out", driver=None,
          **header) -> Linked:
    """Links through a compiler driver, with a front of these entries of a profile."""
    path, report = folder / output, folder / f"{output}.json"
    result = link(path, *arguments, f"-Wl,--front-report={report}", driver=driver,
                  profile=write_profile(folder, *entries, **header))
    return Linked(path, report, result.stderr)


def bare_front(folder: Path, *arguments, entries=("main",), output: str = "out", entry="main",
               **header) -> Linked:
    """As front(), by the linker itself: without libraries."""
    path, report = folder / output, folder / f"{output}.json"
    result = ld(*arguments, "-e", entry, "-o", path, f"--front-report={report}",
                f"--startup-profile={write_profile(folder, *entries, **header)}")
    return Linked(path, report, result.stderr)


def startup_names(image: Image) -> list[str]:
    """The functions of a program that its profile names, in the order that they ask for."""
    names = [n for n, s in image.symbols.items() if "hot_" in n and "text" in s.section]
    return [*sorted(names, key=lambda n: re.search(r"hot_(\d)", n)[1]), "main"]
