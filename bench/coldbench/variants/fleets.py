"""Traces of many machines, generated: a program of so many functions, and runs that enter some of
them, nearly in one order.

Of a run, a tenth of its functions come some hundred places too early or too late, and one in fifty
is another one; that is how far apart the recordings of one program were that this was made after.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

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

# instrument/format/frontload_trace.h declares these.
_SLOT = np.dtype([("word", "<u8"), ("module", "<u4"), ("thread", "<u4")])
_HEADER = np.dtype([("magic", "S8"), ("order", "u1"), ("word_size", "u1"), ("machine", "<u2"),
                    ("major", "<u2"), ("minor", "<u2"), ("header_size", "<u4"),
                    ("slot_size", "<u4"), ("recorder", "<u4"), ("pid", "<u4"),
                    ("next_slot", "<u8"), ("rest", "V88")])
_FUNCTION, _MODULE, _COMPLETE = 1 << 56, 0x80 << 56, 1 << 48
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
    module = _module(str(program).encode(), bytes.fromhex("0123"))
    for number in range(traces):
        path = folder / f"app.{number}.fltrace"
        chosen = np.sort(chance.permutation(len(usual))[:touches])
        moved = np.where(chance.random(len(chosen)) < 0.1, 300, 1)
        words = usual[chosen[np.argsort(chosen + chance.normal(0, moved))]]
        odd = chance.random(len(words)) < 0.02
        words[odd] = chance.choice(addresses, np.count_nonzero(odd))
        if path.exists():
            continue
        slots = np.zeros(len(module) + len(words), _SLOT)
        slots[:len(module)] = module
        slots[len(module):] = [(0, 1, 1)]
        slots["word"][len(module):] = words | np.uint64(_FUNCTION)
        header = np.zeros(1, _HEADER)
        header[0] = (b"\x89FLT\r\n\x1a\n", 1, 8, 62, 1, 0, 128, 16, 2, number + 1, len(slots), b"")
        path.write_bytes(header.tobytes() + slots.tobytes())
        progress(number)


def _module(path: bytes, build_id: bytes) -> np.ndarray:
    """The slots that say which program it is."""
    payload = build_id + path
    count = 1 + -(-len(payload) // 16)
    slots = np.zeros(1, _SLOT)
    slots["word"] = _MODULE | _COMPLETE | len(build_id) << 40 | count << 16 | len(path)
    slots["module"] = slots["thread"] = 1
    rest = np.frombuffer(payload.ljust(16 * (count - 1), b"\0"), _SLOT)
    return np.concatenate([slots, rest])
