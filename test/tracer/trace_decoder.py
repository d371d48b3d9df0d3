"""A decoder of the trace format for the tests of the recorders, written from frontload_trace.h
alone: an error in the package's reader is none in both. It is strict: everything that the format
does not allow is an AssertionError."""

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

FUNCTION, DATA, BLOCK, CODE, MODULE = 1, 2, 3, 4, 0x80
RUNTIME, TRACER, VALGRIND = 1, 2, 3  # recorders
# The runtime may have claimed a slot and not filled it, or not completed a module.
_KINDS = {RUNTIME: {0, FUNCTION, DATA}, TRACER: {FUNCTION, BLOCK}, VALGRIND: {DATA, CODE}}


class Module(NamedTuple):
    path: str
    build_id: str
    is_main: bool


class Event(NamedTuple):
    module: int
    address: int
    thread: int


@dataclass
class Trace:
    pid: int
    startup_done: bool
    dropped: int
    role: str
    failed: bool
    modules: dict[int, Module] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)  # of the events

    @property
    def main(self) -> Module:
        return next(m for m in self.modules.values() if m.is_main)

    def addresses(self, path: Path | str | None = None) -> list[int]:
        """The touched addresses of one module (by default the program itself), in order."""
        wanted = {number for number, module in self.modules.items()
                  if (module.is_main if path is None else module.path == str(path))}
        return [address for module, address, _ in self.events if module in wanted]


def decode(path: Path, wanted_recorder: int = TRACER, kind_of_trace: type = Trace) -> Trace:
    with path.open("rb") as file:
        data = file.read(128)
        data += file.read(16 * int.from_bytes(data[32:40], "little"))
    assert data[:8] == b"\x89FLT\r\n\x1a\n"
    order, word, machine, major, minor = struct.unpack_from("<BBHHH", data, 8)
    header_size, slot_size, recorder, pid, slots, dropped = struct.unpack_from("<IIIIQQ", data, 16)
    assert (order, word, major, minor) == (1, 8, 1, 5) and machine in (62, 183, 243)
    assert (header_size, slot_size, recorder) == (128, 16, wanted_recorder)
    assert data[48] in (0, 1) and data[49] in (0, 1) and any(data[56:64])
    assert data[50] <= (recorder == TRACER) and not any(data[51:56] + data[96:128])
    trace = kind_of_trace(pid, data[48] == 1, dropped, data[64:96].rstrip(b"\0").decode(),
                          data[50] == 1)
    is_runtime = recorder == RUNTIME
    assert len(data) >= 128 + 16 * slots or is_runtime
    slot = 0
    while slot < min(slots, len(data) // 16 - 8):
        at = 128 + 16 * slot
        first, number, last = struct.unpack_from("<QII", data, at)
        slot += 1
        kind = first >> 56
        if kind in _KINDS[recorder]:
            assert number in trace.modules or is_runtime, "a module is announced before its events"
            if kind:
                trace.kinds.append(kind)
                trace.events.append(Event(number, first & (1 << 56) - 1, last))
            continue
        is_complete = first >> 48 & 0xff == 1
        assert kind == MODULE and (is_complete or is_runtime)
        id_size, path_size = first >> 40 & 0xff, first & 0xffff
        record_slots = first >> 16 & 0xffffff
        assert record_slots == 1 + -(-(id_size + path_size) // 16)
        text = data[at + 16:at + 16 * record_slots]
        slot += record_slots - 1
        if is_complete:
            assert not any(text[id_size + path_size:])
            assert number and number not in trace.modules
            trace.modules[number] = Module(text[id_size:id_size + path_size].decode(),
                                           text[:id_size].hex(), last == 1)
    assert is_runtime or [m.is_main for m in trace.modules.values()].count(True) == 1
    assert {event.module for event in trace.events} <= set(trace.modules)
    touched = [(kind, *event[:2]) for kind, event in zip(trace.kinds, trace.events, strict=True)
               if not is_runtime or kind == DATA]
    assert len(touched) == len(set(touched)), "touched twice"
    return trace
