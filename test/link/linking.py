"""Helpers of the link tests: compile, make profiles, link with both linkers, look inside."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from conftest import BUILD, LLVM
from elftools.elf.elffile import ELFFile

LD_FRONTLOAD = BUILD / "bin" / "ld.frontload"
LD_LLD = LLVM / "ld.lld"
COMPILERS = {"gcc": ("gcc", "g++"), "clang": (LLVM / "clang", LLVM / "clang++")}
SECTION_FLAGS = ("-ffunction-sections", "-fdata-sections")


def check_run(*command, **options) -> str:
    """Runs a command that has to succeed; returns its standard output."""
    result = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True,
                            timeout=120, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def compile_source(folder: Path, source: Path, *flags, compiler: str = "gcc",
                   name: str | None = None) -> Path:
    """Compiles a C or C++ file to an object in `folder`."""
    driver = COMPILERS[compiler][source.suffix == ".cpp"]
    output = folder / f"{name or source.stem}.o"
    check_run(driver, "-O1", "-g0", *SECTION_FLAGS, *flags, "-c", source, "-o", output)
    return output


def compile_text(folder: Path, name: str, text: str, *flags, compiler: str = "gcc") -> Path:
    """Compiles a program given as text; `name` carries the suffix .c or .cpp (or .s)."""
    source = folder / name
    source.write_text(text)
    return compile_source(folder, source, *flags, compiler=compiler)


def profile_text(*entries, program: str = "program") -> str:
    """A profile of one run. An entry is a function's name, or (kind, class, name[, file])."""
    has_data = any(not isinstance(entry, str) and entry[0] != "function" for entry in entries)
    lines = ["frontload-startup-profile 2", f"program {program}", "runs 1",
             f"data-runs {int(has_data)}"]
    for entry in entries:
        kind, section_class, name, *file = (
            ("function", "text", entry) if isinstance(entry, str) else entry)
        lines.append("\t".join([kind, section_class, "1", "+1", "-", name, *file]))
    return "\n".join(lines) + "\n"


def write_profile(folder: Path, *entries) -> Path:
    path = folder / "app.startup"
    path.write_text(profile_text(*entries))
    return path


def link(output: Path, *arguments, linker: Path = LD_FRONTLOAD, driver=None, profile=None,
         code: int = 0) -> subprocess.CompletedProcess:
    """Links through a compiler driver; expects exit code `code` (the driver's)."""
    command = [driver or COMPILERS["clang"][0], f"--ld-path={linker}", "-o", output, *arguments]
    if profile:
        command.append(f"-Wl,--startup-profile={profile}")
    result = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True,
                            timeout=120)
    assert result.returncode == code, f"{command}\n{result.stdout}{result.stderr}"
    return result


def ld(*arguments, code: int | None = 0, **options) -> subprocess.CompletedProcess:
    """Runs ld.frontload itself."""
    result = subprocess.run([os.fspath(a) for a in (LD_FRONTLOAD, *arguments)],
                            capture_output=True, text=True, timeout=120, **options)
    assert code is None or result.returncode == code, result.stderr
    return result


@dataclass
class Symbol:
    address: int
    size: int
    section: str


class Image:
    """Sections and symbols of a linked file."""

    def __init__(self, path: Path):
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            sections = list(elf.iter_sections())
            self.sections = {s.name: s.header for s in sections}
            self.order = [s.name for s in sections]
            self.symbols: dict[str, Symbol] = {}
            table = elf.get_section_by_name(".symtab")
            for symbol in table.iter_symbols() if table else ():
                index = symbol["st_shndx"]
                if isinstance(index, int) and symbol.name:
                    self.symbols[symbol.name] = Symbol(symbol["st_value"], symbol["st_size"],
                                                       sections[index].name)

    def section_of(self, name: str) -> str:
        return self.symbols[name].section

    def matching(self, text: str) -> list[str]:
        """The names that contain `text`, by address."""
        found = [n for n in self.symbols if text in n]
        return sorted(found, key=lambda n: self.symbols[n].address)
