"""A second, small decoder of the trace format, so that the runtime's tests judge by the format's
description (instrument/format/frontload_trace.h) and not by what the product's reader accepts."""

import struct
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile

FUNCTION, DATA, MODULE = 1, 2, 0x80
HEADER = struct.Struct("<8sBBHHHIIIIQQB15x32s32x")


@dataclass
class Module:
    path: Path
    build_id: str
    main: bool


@dataclass
class Event:
    module: int
    address: int
    thread: int


@dataclass
class Trace:
    pid: int
    claimed: int
    dropped: int
    done: bool
    role: str
    modules: dict[int, Module] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)  # functions
    data: list[Event] = field(default_factory=list)

    def names(self, module: Path | None = None) -> list[str]:
        """The functions in order of first touch, of one module or of all."""
        return [symbol_at(self.modules[event.module].path, event.address)[0]
                for event in self.events
                if module is None or self.modules[event.module].path == module]

    def offsets(self) -> list[int]:
        """How far behind its function's start each event lies."""
        return [event.address - symbol_at(self.modules[event.module].path, event.address)[1]
                for event in self.events]

    def granules(self, name: str, module: Path | None = None) -> list[int]:
        """Where in a datum its touched granules begin, in order of first touch."""
        path = module or next(m.path for m in self.modules.values() if m.main)
        start, size = datum(path, name)
        return [event.address - start for event in self.data
                if self.modules[event.module].path == path
                and start - 16 < event.address < start + size]


def decode(path: Path) -> Trace:
    with path.open("rb") as file:
        data = file.read(128)
        data += file.read(16 * int.from_bytes(data[32:40], "little"))  # the rest is a hole
    (magic, order, word, machine, major, minor, header_size, slot_size, recorder, pid, claimed,
     dropped, done, role) = HEADER.unpack_from(data)
    assert magic == b"\x89FLT\r\n\x1a\n" and (order, word) == (1, 8) and machine in (62, 183, 243)
    assert (major, minor, header_size, slot_size, recorder) == (1, 4, 128, 16, 1)
    assert data[49] in (0, 1) and any(data[56:64]) and not any(data[50:56] + data[96:128])
    trace = Trace(pid, claimed, dropped, bool(done), role.rstrip(b"\0").decode())
    slot, end = 0, min(claimed, (len(data) - 128) // 16)
    while slot < end:
        word0, number, extra = struct.unpack_from("<QII", data, 128 + 16 * slot)
        kind = word0 >> 56
        if kind == MODULE:
            path_size, slots = word0 & 0xffff, word0 >> 16 & 0xffffff
            id_size, complete = word0 >> 40 & 0xff, word0 >> 48 & 0xff
            assert slots == 1 + (id_size + path_size + 15) // 16
            body = data[144 + 16 * slot:128 + 16 * (slot + slots)]
            if complete:
                assert number >= 1 and number not in trace.modules
                assert not any(body[id_size + path_size:])
                trace.modules[number] = Module(
                    Path(body[id_size:id_size + path_size].decode()), body[:id_size].hex(),
                    extra == 1)
            slot += slots
            continue
        assert kind in (0, FUNCTION, DATA)
        event = Event(number, word0 & (1 << 56) - 1, extra)
        if kind == DATA:
            assert event.address % 16 == 0
            trace.data.append(event)
        elif kind == FUNCTION:
            trace.events.append(event)
        slot += 1
    assert all(event.module in trace.modules for event in trace.events + trace.data)
    touched = [(event.module, event.address) for event in trace.data]
    assert len(touched) == len(set(touched))
    return trace


def many_functions(path: Path) -> np.ndarray:
    """The events of a large trace that has no data: fields "word", of which the lower 56 bits are
    the address, "module" and "thread"."""
    with path.open("rb") as file:
        claimed = int.from_bytes(file.read(128)[32:40], "little")
    slots = np.fromfile(path, [("word", "<u8"), ("module", "<u4"), ("thread", "<u4")], claimed,
                        offset=128)
    assert len(slots) == claimed
    kinds = slots["word"] >> 56
    for number in np.flatnonzero(kinds == MODULE):
        if kinds[number] == MODULE:  # and not a part of the one before, which may look like one
            size = int(slots["word"][number]) >> 16 & 0xffffff
            kinds[number + 1:number + size] = 0
    return slots[kinds == FUNCTION]


@cache
def _symbols(path: Path) -> list[tuple[int, int, str]]:
    with path.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return sorted((s["st_value"], s["st_size"], s.name) for s in table.iter_symbols()
                      if s["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC") and s["st_size"])


def symbol_at(path: Path, address: int) -> tuple[str, int]:
    """The function that contains `address`, and its start."""
    symbols = _symbols(path)
    start, size, name = symbols[bisect_right(symbols, (address, 1 << 62, "")) - 1]
    assert start <= address < start + size, f"{path}: no function at {address:#x}"
    return name, start


def datum(path: Path, name: str) -> tuple[int, int]:
    """A datum's address and size."""
    with path.open("rb") as stream:
        (symbol,) = ELFFile(stream).get_section_by_name(".symtab").get_symbol_by_name(name)
        return symbol["st_value"], symbol["st_size"]


def build_id(path: Path) -> str:
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".note.gnu.build-id")
        return next(section.iter_notes())["n_desc"] if section else ""
