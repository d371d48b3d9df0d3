"""A program larger than any, and a trace of one start of it, for bench/scale.

5 million symbols with names of 79 bytes, each of 112 bytes, in 50,000 sections: a file of more than
1 GB. A tenth is local, of 5,000 source files; a tenth is data. The program can be run: it ends at
once. The trace has a million events, each of another function or datum: a tenth is data, here and
there in the file.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from frontload.elf import file as elf
from frontload.profile import trace

from coldbench.variants import trace_maker
from coldbench.variants.elf_writer import (
    ALLOC,
    CODE,
    FUNCTION,
    GLOBAL,
    LOCAL,
    OBJECT,
    SYMBOL,
    Section,
    write_object,
)

SYMBOLS, SECTIONS, EVENTS = 5_000_000, 50_000, 1_000_000
_SIZE = 112
_FILE, _ABSOLUTE, _PER_FILE = 4, 0xfff1, 100  # local symbols of each source file
_TEXT = b"number_0000000_of_a_program_that_is_larger_than_any_there_is"
_DIGITS_AT = len(b"_ZN5scale66number_")
# exit(0), which needs no stack.
_EXIT = b"\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05"
_NOP, _RETURN = b"\x90", b"\xc3"


@dataclass(frozen=True)
class Scaled:
    """The generated files, in a folder."""

    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / "scaled"

    @property
    def object(self) -> Path:
        return self.folder / "scaled.o"

    @property
    def map(self) -> Path:
        return self.folder / "scaled.map"

    @property
    def trace(self) -> Path:
        return self.folder / "scaled.fltrace"


def make(folder: Path, share: float, linker: Path) -> Scaled:
    """Makes this share of it, unless it is there. Incomplete files are made again."""
    made, done = Scaled(folder), folder / f"made.{share}"
    if done.exists():
        return made
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _write_object(made.object, max(1000, int(SYMBOLS * share)), max(10, int(SECTIONS * share)))
    subprocess.run([linker, made.object, "-o", made.program, "-e", "_start", "--build-id",
                    f"-Map={made.map}"], check=True)
    _write_trace(made, max(200, int(EVENTS * share)))
    done.touch()
    return made


def _names(count: int) -> np.ndarray:
    """A row of bytes for each of `count` names."""
    pattern = np.frombuffer(b"_ZN5scale66" + _TEXT.ljust(66, b"_") + b"Ev\0", np.uint8)
    table = np.tile(pattern, (count, 1))
    for digit in range(7):
        table[:, _DIGITS_AT + 6 - digit] = ord("0") + np.arange(count) // 10 ** digit % 10
    return table


def _write_object(path: Path, count: int, sections: int) -> None:
    numbers = np.arange(count)
    local, each = count // 10, -(-count // sections)
    names = _names(count)
    symbols = np.zeros(count, SYMBOL)
    symbols["name"] = 1 + numbers * names.shape[1]
    is_data = numbers % sections >= sections * 9 // 10
    symbols["info"] = np.where(numbers < local, LOCAL, GLOBAL) | np.where(is_data, OBJECT, FUNCTION)
    symbols["section"] = 1 + numbers % sections
    symbols["value"] = numbers // sections * _SIZE
    symbols["size"] = _SIZE
    of_file = np.arange(0, local, _PER_FILE)
    symbols["name"][of_file] += len(b"_ZN5scale66")  # named like the end of another name
    symbols["info"][of_file] = LOCAL | _FILE
    symbols["section"][of_file] = _ABSOLUTE
    symbols["value"][of_file] = symbols["size"][of_file] = 0
    start = np.zeros(1, SYMBOL)
    start["name"], start["info"] = 1 + names.size, GLOBAL | FUNCTION
    start["section"], start["size"] = 1 + sections, len(_EXIT)
    body = (_NOP * (_SIZE - 1) + _RETURN) * each
    parts = [Section(b".text.scaled%05d" % i, ALLOC | CODE, body) for i in
             range(sections * 9 // 10)]
    parts += [Section(b".rodata.scaled%05d" % i, ALLOC, body) for i in
              range(len(parts), sections)]
    parts.append(Section(b".text._start", ALLOC | CODE, _EXIT))
    path.write_bytes(write_object(parts, np.concatenate([symbols, start]),
                                  b"\0" + names.tobytes() + b"_start\0"))


def _write_trace(made: Scaled, events: int) -> None:
    linked = elf.read(made.program)
    symbols = linked.linked_symbols()
    chance = np.random.default_rng(1)
    wanted = []
    for kind, own, count in ((trace.CODE, 2, events - events // 10),
                             (trace.DATA, 1, events // 10)):
        addresses = np.asarray(symbols.value)[np.flatnonzero(symbols.type == own)]
        addresses = addresses & ~np.uint64(trace.GRANULE - 1)
        chosen = chance.permutation(addresses)[:count]
        wanted.append(chosen.astype("<u8") | np.uint64(kind << 56))
    words = chance.permutation(np.concatenate(wanted))
    trace_maker.write(made.trace, made.program, linked.build_id, words)
