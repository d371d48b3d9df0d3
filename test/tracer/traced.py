"""What the tests look at: the functions of a binary, and a finished recording."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from elftools.elf.elffile import ELFFile
from process_order import by_start
from trace_decoder import Trace, decode

PROGRAMS = Path(__file__).parent / "programs"
CODE = 0x2 | 0x4  # SHF_ALLOC, SHF_EXECINSTR


def functions(count: int, distance: int) -> str:
    """For a C program, assembler of f0, f1 and so on, which do nothing, each so many bytes after
    the one before."""
    return "".join(f".balign {distance}\\nf{i}: .cfi_startproc\\nret\\n.cfi_endproc\\n"
                   f".type f{i},@function\\n.size f{i},. - f{i}\\n" for i in range(count))


def callable_functions(count: int) -> str:
    """These functions for a C program, in which call(number) calls one."""
    return (f'__asm__(".text\\n{functions(count, 16)}.globl f0\\n");\n'
            "extern char f0[];\n"
            "static inline void call(int number) { ((void (*)(void))(f0 + 16 * number))(); }\n")


def calls_all(count: int) -> str:
    """A C program that calls so many functions one after the other, and returns 3."""
    return callable_functions(count) + (
        f"int main(void) {{ for (int i = 0; i < {count}; ++i) call(i); return 3; }}")


class Binary:
    """The functions of an ELF file as the tests see them, by an ELF reader that is not LLVM's."""

    def __init__(self, path: Path):
        self.path = path
        with open(path, "rb") as stream:
            elf = ELFFile(stream)
            self.entry = elf["e_entry"]
            code = [(s["sh_addr"], s["sh_addr"] + s["sh_size"]) for s in elf.iter_sections()
                    if s["sh_flags"] & CODE == CODE]
            self.low, self.high = min(b for b, _ in code), max(e for _, e in code)
            self.build_id = next(
                (n["n_desc"] for s in elf.iter_sections() if s["sh_type"] == "SHT_NOTE"
                 for n in s.iter_notes() if n["n_type"] == "NT_GNU_BUILD_ID"), "")
            self.names: dict[int, set[str]] = {}
            for symbol in elf.get_section_by_name(".symtab").iter_symbols():
                address = symbol["st_value"]
                # clang's split-off parts have a size, but no type.
                is_sized = symbol["st_info"]["type"] == "STT_NOTYPE" and symbol["st_size"]
                if ((symbol["st_info"]["type"] in ("STT_FUNC", "STT_LOOS") or is_sized)
                        and symbol["st_shndx"] != "SHN_UNDEF"
                        and any(begin <= address < end for begin, end in code)):
                    self.names.setdefault(address, set()).add(symbol.name)

    def named(self, addresses: list[int]) -> list[str]:
        """The names at these addresses, in order; of several the first in the alphabet."""
        return [min(self.names[a]) for a in addresses]


def assembly(name, body, unwind=False):
    """A function for a file in C, in the words of the machine's assembler."""
    begin, end = (".cfi_startproc\\n", ".cfi_endproc\\n") if unwind else ("", "")
    return (f'__asm__(".text\\n.globl {name}\\n.type {name},@function\\n{name}: {begin}{body}\\n'
            f'{end}.size {name},.-{name}\\n");\n')


@dataclass
class Recording:
    status: int
    stdout: str
    stderr: str
    files: list[Path]

    @classmethod
    def until_its_end(cls, process: subprocess.Popen, traces: Path, seconds=900) -> Self:
        """Of a process that ends within some seconds, with the traces that it leaves."""
        stdout, stderr = process.communicate(timeout=seconds)
        return cls(process.returncode, stdout, stderr, sorted(traces.iterdir()))

    @property
    def traces(self) -> list[Trace]:
        return [decode(f) for f in self.files]

    @property
    def trace(self) -> Trace:
        (only,) = self.traces
        return only

    def of(self, program: Path) -> list[Trace]:
        """The traces of one program, in the order in which its processes were started."""
        return by_start(t for t in self.traces if t.main.path == str(program))


def until(condition) -> None:
    """Waits for something that is certain to happen, and that nobody announces."""
    while not condition():
        time.sleep(0.005)


def announced(process: subprocess.Popen, *lines: str) -> subprocess.Popen:
    """The process, once it has printed these."""
    for line in lines or ["ready"]:
        assert process.stdout.readline() == f"{line}\n"
    return process


def children(pid: int) -> list[int]:
    """The processes that a (single-threaded) process has started and not yet reaped."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def tracers_of(pid: int) -> set[int]:
    """Of all its threads; 0 where one has none."""
    found = set()
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        found |= {int(line.split()[1]) for line in status.read_text().splitlines()
                  if line.startswith("TracerPid")}
    return found


def code_is_that_of_the_file(pid, path):
    """Compares each executable segment in the memory of a process with the file, byte for byte."""
    with open(f"/proc/{pid}/maps") as maps:
        base = next(int(line.split("-")[0], 16) for line in maps if str(path) in line)
    with open(path, "rb") as file, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        elf = ELFFile(file)
        position_independent = elf["e_type"] == "ET_DYN"
        segments = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD" and s["p_flags"] & 1]
        assert segments
        for segment in segments:
            memory.seek(segment["p_vaddr"] + (base if position_independent else 0))
            if memory.read(segment["p_filesz"]) != segment.data():
                return False
    return True
