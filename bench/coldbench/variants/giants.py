"""Links that are larger than any program: does ld.frontload's work grow with them as lld's does?

objects  5 million sections (relocation tables count) and 10 million symbols in 20,000 objects, each
         with functions and data of its own that refer to those of seven others
symbols  one object with 5 million symbols in 50,000 sections

A giant is a folder with what both linkers are given (`inputs`, a response file) and the profile.
"""

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coldbench.variants.elf_writer import (
    ALLOC,
    CODE,
    FUNCTION,
    GLOBAL,
    LOCAL,
    NO_TYPE,
    OBJECT,
    PC32,
    PLT32,
    SYMBOL,
    Section,
    names_table,
    relocations,
    write_object,
)

OBJECTS, SECTIONS_OF_ONE, SYMBOLS_OF_ONE = 20_000, 50_000, 5_000_000
# Of an object of the first giant, with its relocation tables, its symbol table and strings: 250
# sections, and 500 symbols.
FUNCTIONS, DATA, NEIGHBOURS = 112, 22, 7
CALLED, LABELS = 33, 171
_NOP, _RETURN = b"\x90", b"\xc3"
_NUMBER = b"@@@@%d"  # five bytes, as many as the number of an object has
PROFILED_OF_OBJECTS, PROFILED_OF_ONE = 20_000, 2_000
RUNS = "frontload-startup-profile 2\nprogram giant\nruns 1\ndata-runs 1\n"


@dataclass(frozen=True)
class Giant:
    name: str
    title: str
    make: Callable[[Path, float], None]  # into a folder that is there; a share of all there is


def _symbols(names: list[bytes], info: list[int], sections: list[int], size: int) -> tuple:
    table, positions = names_table(names)
    symbols = np.zeros(len(names), SYMBOL)
    symbols["name"], symbols["info"], symbols["section"] = positions, info, sections
    symbols["size"] = np.where(symbols["section"] > 0, size, 0)
    return symbols, table


def _function(number: bytes, index: int) -> bytes:
    return b"_ZN5giant%s8function%03dEv" % (number, index)


def _datum(number: bytes, index: int) -> bytes:
    return b"_ZN5giant%s5datum%03dE" % (number, index)


def _pattern() -> bytes:
    """An object of the first giant, with placeholders for its number (0) and its neighbours'."""
    own = _NUMBER % 0
    names = [b".Lgiant%s.%03d" % (own, i) for i in range(LABELS)]
    info = [LOCAL | NO_TYPE] * LABELS
    sections = [1 + i % FUNCTIONS for i in range(LABELS)]
    first_function = 1 + len(names)  # the first symbol is none
    names += [_function(own, i) for i in range(FUNCTIONS)]
    info += [GLOBAL | FUNCTION] * FUNCTIONS
    sections += list(range(1, 1 + FUNCTIONS))
    first_datum = 1 + len(names)
    names += [_datum(own, i) for i in range(DATA)]
    info += [GLOBAL | OBJECT] * DATA
    sections += list(range(1 + FUNCTIONS, 1 + FUNCTIONS + DATA))
    first_called = 1 + len(names)
    called = [_function(_NUMBER % neighbour, i * FUNCTIONS // CALLED)
              for neighbour in range(1, NEIGHBOURS) for i in range(CALLED)]
    called = called[:499 - len(names)]
    names += called
    info += [GLOBAL | NO_TYPE] * len(called)
    sections += [0] * len(called)
    symbols, table = _symbols(names, info, sections, 16)
    text = (_NOP * 15 + _RETURN)
    parts = [Section(b".text." + names[first_function - 1 + i], ALLOC | CODE, text, relocations(
        [(1, first_called + (i * 2) % len(called), PLT32, -4),
         (6, first_called + (i * 2 + 1) % len(called), PLT32, -4),
         (11, first_datum + i % DATA, PC32, -4)])) for i in range(FUNCTIONS)]
    parts += [Section(b".rodata." + names[first_datum - 1 + i], ALLOC, bytes(range(16)))
              for i in range(DATA)]
    return write_object(parts, symbols, table)


def _many_objects(folder: Path, share: float) -> None:
    count = max(NEIGHBOURS, int(OBJECTS * share))
    pattern = _pattern()
    objects = folder / "objects"
    objects.mkdir()
    for number in range(count):
        content = pattern
        for neighbour in range(NEIGHBOURS):
            # Near ones and far ones.
            other = (number + (neighbour * neighbour * 37 + neighbour)) % count
            content = content.replace(_NUMBER % neighbour, b"%05d" % other)
        (objects / f"{number}.o").write_bytes(content)
    (folder / "inputs").write_text(
        f"-e {_function(b'00000', 0).decode()}\n"
        + "".join(f"objects/{number}.o\n" for number in range(count)))
    chance = random.Random(1)
    entries = [chance.choice((f"function\ttext\t1\t+1\t16\t{_function(n, i).decode()}",
                              f"data\trodata\t1\t+1\t16\t{_datum(n, i % DATA).decode()}"))
               for n, i in ((b"%05d" % chance.randrange(count), chance.randrange(FUNCTIONS))
                            for _ in range(int(PROFILED_OF_OBJECTS * min(1, share))))]
    (folder / "giant.startup").write_text(RUNS + "\n".join(dict.fromkeys(entries)) + "\n")


def _one_object(folder: Path, share: float) -> None:
    count, sections = int(SYMBOLS_OF_ONE * share), int(SECTIONS_OF_ONE * share)
    each = count // sections
    numbers = np.arange(count)
    # A tenth is local, and has to come first.
    is_local = numbers < count // 10
    names = np.frombuffer(b"_ZN5giant0000000Ev\0", np.uint8)
    table = np.tile(names, (count, 1))
    for digit in range(7):
        table[:, 15 - digit] = ord("0") + numbers // 10 ** digit % 10
    symbols = np.zeros(count, SYMBOL)
    symbols["name"] = 1 + numbers * len(names)
    symbols["info"] = np.where(is_local, LOCAL | FUNCTION, GLOBAL | FUNCTION)
    symbols["section"] = 1 + numbers % sections
    symbols["value"] = numbers // sections * 16
    symbols["size"] = 16
    text = (_NOP * 15 + _RETURN) * each
    parts = [Section(b".text.giant%05d" % i, ALLOC | CODE, text,
                     relocations([(1, 1 + count // 10 + i, PLT32, -4)])) for i in range(sections)]
    (folder / "giant.o").write_bytes(write_object(parts, symbols, b"\0" + table.tobytes()))
    (folder / "inputs").write_text(f"-e _ZN5giant{count - 1:07d}Ev\ngiant.o\n")
    chosen = random.Random(1).sample(range(count), min(PROFILED_OF_ONE, count))
    (folder / "giant.startup").write_text(RUNS.replace("data-runs 1", "data-runs 0") + "".join(
        f"function\ttext\t1\t+1\t-\t_ZN5giant{number:07d}Ev\n" for number in chosen))


GIANTS = (
    Giant("objects", "5 million sections and 10 million symbols in 20,000 objects", _many_objects),
    Giant("symbols", "5 million symbols in one object, 2,000 in the profile", _one_object),
)


def make(giant: Giant, folder: Path, share: float) -> None:
    """Makes it, unless it is there. What is half made is made again."""
    done = folder / f"made.{share}"
    if done.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    giant.make(folder, share)
    done.touch()
