"""Traces of many machines, generated: a program of so many functions, and runs that enter some of
them, nearly in one order.

Of a run, a tenth of its functions come some hundred places too early or too late, and one in fifty
is another one; that is how far apart the recordings of one program were that this was made after.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from frontload.profile import trace

from coldbench.variants import trace_file
from coldbench.variants.elf_writer import (
    ALLOC,
    CODE,
    FUNCTION,
    GLOBAL,
    SYMBOL,
    Section,
    names_table,
    write_object,
)

_FUNCTION = trace.FUNCTION << 56
_SIZE = 16  # of a function
_BEGIN = 0x300000


def make_program(path: Path, functions: int, linker: Path) -> np.ndarray:
    """Links a program; returns the addresses of its functions."""
    names, positions = names_table([b"function_number_%d" % i for i in range(functions)])
    symbols = np.zeros(functions, SYMBOL)
    symbols["name"], symbols["info"], symbols["section"] = positions, GLOBAL | FUNCTION, 1
    symbols["value"], symbols["size"] = np.arange(functions) * _SIZE, _SIZE
    text = Section(b".text", ALLOC | CODE, (b"\x90" * (_SIZE - 1) + b"\xc3") * functions)
    made = path.with_suffix(".o")
    made.write_bytes(write_object([text], symbols, names))
    subprocess.run([linker, made, "-o", path, "-e", "function_number_0", "--build-id=0x0123",
                    f"-Ttext={_BEGIN:#x}"], check=True)
    return _BEGIN + np.arange(functions, dtype=np.uint64) * _SIZE


def make_traces(folder: Path, program: Path, addresses: np.ndarray, traces: int, touches: int,
                progress: Callable[[int], None]) -> None:
    """Writes so many traces, unless they are there; each of so many first touches."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(1)
    usual = chance.permutation(addresses)[:touches * 5 // 4]
    for number in range(traces):
        path = folder / f"app.{number}.fltrace"
        chosen = np.sort(chance.permutation(len(usual))[:touches])
        moved = np.where(chance.random(len(chosen)) < 0.1, 300, 1)
        words = usual[chosen[np.argsort(chosen + chance.normal(0, moved))]]
        odd = chance.random(len(words)) < 0.02
        words[odd] = chance.choice(addresses, np.count_nonzero(odd))
        if path.exists():
            continue
        trace_file.write(path, program, bytes.fromhex("0123"), words | np.uint64(_FUNCTION),
                         pid=number + 1)
        progress(number)

