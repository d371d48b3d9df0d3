"""Writes traces for tests, straight from the declaration in instrument/format/frontload_trace.h.

Independent of the reader on purpose: both follow the header, neither the other.
"""

import struct
from dataclasses import dataclass, field
from pathlib import Path

FUNCTION, DATA, BLOCK, CODE, MODULE = 1, 2, 3, 4, 0x80


def build_id(elf: Path) -> bytes:
    """The build-id of a small linked file, found by its note's header."""
    data = Path(elf).read_bytes()
    for order in "<>":
        note = struct.pack(order + "III", 4, 20, 3) + b"GNU\0"
        if note in data:
            start = data.index(note) + len(note)
            return data[start:start + 20]
    return b""


@dataclass
class TraceWriter:
    """Collects slots; `to_bytes` adds the header, whose fields can all be overridden."""

    order: str = "<"
    slots: list[bytes] = field(default_factory=list)

    def module(self, number: int, path: str | bytes, build_id: bytes = b"", main: bool = True,
               complete: bool = True) -> "TraceWriter":
        path = path.encode() if isinstance(path, str) else path
        payload = build_id + path
        count = 1 + -(-len(payload) // 16)
        word = (MODULE << 56 | complete << 48 | len(build_id) << 40 | count << 16 | len(path))
        self.slots.append(struct.pack(self.order + "QII", word, number, main))
        payload = payload.ljust((count - 1) * 16, b"\0")
        self.slots += [payload[i:i + 16] for i in range(0, len(payload), 16)]
        return self

    def event(self, address: int, module: int = 1, kind: int = FUNCTION,
              thread: int = 1) -> "TraceWriter":
        self.slots.append(struct.pack(self.order + "QII", kind << 56 | address, module, thread))
        return self

    def hole(self, count: int = 1) -> "TraceWriter":
        self.slots += [bytes(16)] * count
        return self

    def to_bytes(self, *, magic: bytes = b"\x89FLT\r\n\x1a\n", byte_order: int | None = None,
                 word_size: int = 8, machine: int = 62, major: int = 1, minor: int = 0,
                 header_size: int = 128, slot_size: int = 16, recorder: int = 2, pid: int = 1,
                 next_slot: int | None = None, dropped: int = 0, done: int = 0, forked: int = 0,
                 run: int = 0, role: bytes = b"", failed: int = 0) -> bytes:
        if byte_order is None:
            byte_order = 1 if self.order == "<" else 2
        header = struct.pack(self.order + "8sBBHHHIIIIQQBBB5xQ32s", magic, byte_order, word_size,
                             machine, major, minor, header_size, slot_size, recorder, pid,
                             len(self.slots) if next_slot is None else next_slot, dropped, done,
                             forked, failed, run, role)
        return header.ljust(128, b"\0") + b"".join(self.slots)

    def write(self, path: Path, **header) -> Path:
        path.write_bytes(self.to_bytes(**header))
        return path
