"""What the runtime's tests see of a trace, by the decoder of all recorders' tests, and by the
symbols of the files that it names."""

import sys
from bisect import bisect_right
from functools import cache
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile

sys.path.append(str(Path(__file__).parent.parent / "tracer"))
import trace_decoder
from trace_decoder import DATA, FUNCTION, MODULE, RUNTIME, Event


class Trace(trace_decoder.Trace):
    def of_kind(self, kind: int, module: Path | None = None) -> list[Event]:
        """Its functions or data, of one module or of all."""
        return [event for event, found in zip(self.events, self.kinds, strict=True)
                if found == kind and (not module or self.modules[event.module].path == str(module))]

    def names(self, module: Path | None = None) -> list[str]:
        """The functions in order of first touch, of one module or of all."""
        return [symbol_at(self.modules[event.module].path, event.address)[0]
                for event in self.of_kind(FUNCTION, module)]

    def offsets(self) -> list[int]:
        """How far behind its function's start each event lies."""
        return [event.address - symbol_at(self.modules[event.module].path, event.address)[1]
                for event in self.of_kind(FUNCTION)]

    def granules(self, name: str, module: Path | None = None) -> list[int]:
        """Where in a datum its touched granules begin, in order of first touch."""
        path = module or Path(self.main.path)
        start, size = datum(path, name)
        touched = [event.address - start for event in self.of_kind(DATA, path)]
        assert all((start + offset) % 16 == 0 for offset in touched)
        return [offset for offset in touched if -16 < offset < size]


def decode(path: Path) -> Trace:
    trace = trace_decoder.decode(path, RUNTIME, Trace)
    trace.modules = {number: module._replace(path=str(Path(module.path)))  # without "./"
                     for number, module in trace.modules.items()}
    return trace


def many_touches(path: Path, kind: int = FUNCTION) -> np.ndarray:
    """The functions, or the data, of a large trace, as an array: "word", "module", "thread"."""
    with path.open("rb") as file:
        claimed = int.from_bytes(file.read(128)[32:40], "little")
    slots = np.fromfile(path, [("word", "<u8"), ("module", "<u4"), ("thread", "<u4")], claimed,
                        offset=128)
    kinds = slots["word"] >> 56
    for number in np.flatnonzero(kinds == MODULE):
        if kinds[number] == MODULE:  # and not a part of the one before, which may look like one
            size = int(slots["word"][number]) >> 16 & 0xffffff
            kinds[number + 1:number + size] = 0
    return slots[kinds == kind]


def numbers_in(name: str, program: Path, touches: np.ndarray) -> np.ndarray:
    """How far behind the beginning of `name` these touches are."""
    return (touches["word"] & (1 << 56) - 1).astype(np.int64) - datum(program, name)[0]


@cache
def _symbols(path: Path | str) -> list[tuple[int, int, str]]:
    with open(path, "rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return sorted((s["st_value"], s["st_size"], s.name) for s in table.iter_symbols()
                      if s["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC") and s["st_size"])


def symbol_at(path: Path | str, address: int) -> tuple[str, int]:
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
