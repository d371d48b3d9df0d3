"""Writes a trace of what nobody has recorded: addresses of one binary, as if a process had touched
them in this order. So whatever reads traces can be asked of a start that is only described.

instrument/format/frontload_trace.h declares the format.
"""

import os
import struct
from collections.abc import Sequence

import numpy as np

from frontload.elf.file import Elf
from frontload.profile import trace

_HEADER = "<8sBBHHHIIIIQ"
_SLOT = np.dtype([("word", "<u8"), ("module", "<u4"), ("thread", "<u4")])
_LITTLE_ENDIAN, _WORD_SIZE, _MINOR, _COMPLETE, _MAIN, _MODULE = 1, 8, 0, 1, 1, 1


def to_bytes(binary: Elf, addresses: Sequence[int]) -> bytes:
    """The trace of a process of `binary` that touched these addresses."""
    path = os.fsencode(os.path.abspath(binary.path))
    payload = binary.build_id + path
    slots = 1 + -(-len(payload) // trace.SLOT_SIZE)
    module = struct.pack("<QII", trace.MODULE << 56 | _COMPLETE << 48 | len(binary.build_id) << 40
                         | slots << 16 | len(path), _MODULE, _MAIN)
    events = np.zeros(len(addresses), _SLOT)
    events["word"] = np.array(addresses, np.uint64) | np.uint64(trace.FUNCTION << 56)
    events["module"] = _MODULE
    header = struct.pack(_HEADER, trace.MAGIC, _LITTLE_ENDIAN, _WORD_SIZE, 0, trace.MAJOR, _MINOR,
                         trace.HEADER_SIZE, trace.SLOT_SIZE, 0, 0, slots + len(events))
    return (header.ljust(trace.HEADER_SIZE, b"\0") + module
            + payload.ljust((slots - 1) * trace.SLOT_SIZE, b"\0") + events.tobytes())
