"""A decoder of the trace format for the tests of the recorders beside a program, written from
frontload_trace.h alone.

It shares no code with the package's own reader, so that an error in one is not an error in both. It
is strict: everything that the format does not allow is an AssertionError.
"""

import struct
from dataclasses import dataclass, field
from pathlib import Path

FUNCTION, DATA, BLOCK, CODE, MODULE = 1, 2, 3, 4, 0x80
TRACER, VALGRIND = 2, 3  # recorders
_KINDS = {TRACER: {FUNCTION, BLOCK}, VALGRIND: {DATA, CODE}}


@dataclass
class Module:
    path: str
    build_id: str
    is_main: bool


@dataclass
class Trace:
    pid: int
    startup_done: bool
    dropped: int
    role: str
    modules: dict[int, Module] = field(default_factory=dict)
    events: list[tuple[int, int, int]] = field(default_factory=list)  # module, address, thread
    kinds: list[int] = field(default_factory=list)  # of the events

    @property
    def main(self) -> Module:
        return next(m for m in self.modules.values() if m.is_main)

    def addresses(self, path: Path | str | None = None) -> list[int]:
        """The touched addresses of one module (by default the program itself), in order."""
        wanted = {number for number, module in self.modules.items()
                  if (module.is_main if path is None else module.path == str(path))}
        return [address for module, address, _ in self.events if module in wanted]


def decode(path: Path, wanted_recorder: int = TRACER) -> Trace:
    data = path.read_bytes()
    assert data[:8] == b"\x89FLT\r\n\x1a\n"
    order, word, machine, major, minor = struct.unpack_from("<BBHHH", data, 8)
    header_size, slot_size, recorder, pid, slots, dropped = struct.unpack_from("<IIIIQQ", data, 16)
    assert (order, word, major, minor) == (1, 8, 1, 4) and machine in (62, 183)
    assert (header_size, slot_size, recorder) == (128, 16, wanted_recorder)
    assert data[48] in (0, 1) and data[49] in (0, 1) and any(data[56:64])
    assert not any(data[50:56] + data[96:128])
    trace = Trace(pid, data[48] == 1, dropped, data[64:96].rstrip(b"\0").decode())
    assert len(data) >= 128 + 16 * slots
    slot = 0
    while slot < slots:
        at = 128 + 16 * slot
        first, number, last = struct.unpack_from("<QII", data, at)
        slot += 1
        if first >> 56 in _KINDS[recorder]:
            assert number in trace.modules, "the tracer announces a module before its events"
            trace.kinds.append(first >> 56)
            trace.events.append((number, first & (1 << 56) - 1, last))
            continue
        assert first >> 56 == MODULE and first >> 48 & 0xff == 1
        id_size, path_size = first >> 40 & 0xff, first & 0xffff
        record_slots = first >> 16 & 0xffffff
        assert record_slots == 1 + -(-(id_size + path_size) // 16)
        text = data[at + 16:at + 16 * record_slots]
        assert not any(text[id_size + path_size:])
        assert number not in trace.modules
        trace.modules[number] = Module(text[id_size:id_size + path_size].decode(),
                                       text[:id_size].hex(), last == 1)
        slot += record_slots - 1
    assert [m.is_main for m in trace.modules.values()].count(True) == 1
    touched = {(kind, *event[:2]) for kind, event in zip(trace.kinds, trace.events, strict=True)}
    assert len(touched) == len(trace.events), "touched twice"
    return trace
