"""Writes generated traces of millions of touches, from numpy arrays.

instrument/format/frontload_trace.h declares the format.
"""

import os
from pathlib import Path

import numpy as np
from frontload.profile import trace

_SLOT = np.dtype([("word", "<u8"), ("module", "<u4"), ("thread", "<u4")])
_HEADER = np.dtype([("magic", "S8"), ("order", "u1"), ("word_size", "u1"), ("machine", "<u2"),
                    ("major", "<u2"), ("minor", "<u2"), ("header_size", "<u4"),
                    ("slot_size", "<u4"), ("recorder", "<u4"), ("pid", "<u4"),
                    ("next_slot", "<u8"), ("rest", "V88")])
_MODULE, _COMPLETE = trace.MODULE << 56, 1 << 48


def write(path: Path, program: Path, build_id: bytes, words: np.ndarray, pid: int = 1) -> None:
    """A trace of one process of the program; each word is an address, with the kind of its touch in
    the highest byte."""
    module = _module(os.fsencode(program), build_id)
    slots = np.zeros(len(module) + len(words), _SLOT)
    slots[:len(module)] = module
    slots[len(module):] = [(0, 1, 1)]
    slots["word"][len(module):] = words
    header = np.zeros(1, _HEADER)
    header[0] = (trace.MAGIC, 1, 8, 62, trace.MAJOR, 0, trace.HEADER_SIZE, trace.SLOT_SIZE, 2, pid,
                 len(slots), b"")
    path.write_bytes(header.tobytes() + slots.tobytes())


def _module(path: bytes, build_id: bytes) -> np.ndarray:
    """The slots of the program's module record."""
    payload = build_id + path
    count = 1 + -(-len(payload) // trace.SLOT_SIZE)
    slots = np.zeros(1, _SLOT)
    slots["word"] = _MODULE | _COMPLETE | len(build_id) << 40 | count << 16 | len(path)
    slots["module"] = slots["thread"] = 1
    rest = np.frombuffer(payload.ljust(trace.SLOT_SIZE * (count - 1), b"\0"), _SLOT)
    return np.concatenate([slots, rest])
