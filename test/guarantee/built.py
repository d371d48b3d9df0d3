"""Generated programs, built: assembled, linked with a front and without, with the traces of their
runs and the startup profiles that these make."""

import os
import subprocess
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from frontload.elf import file as elves
from frontload.profile import merge
from frontload.profile.startup_profile import Profile
from generated import DRIVER_STEP, GRANULE, Part, Program, assembly
from places import BUILD, LLVM
from trace_writer import CODE, DATA, FUNCTION, TraceWriter, build_id

LD_FRONTLOAD = BUILD / "bin" / "ld.frontload"
LD_LLD = LLVM / "ld.lld"
_LOADER = "/lib64/ld-linux-x86-64.so.2"
_KINDS = {
    "pie": ("-pie", f"--dynamic-linker={_LOADER}", f"--rpath={BUILD}/lib"),
    # Without a library, the link would be static.
    "no-pie": ("--no-pie", f"--dynamic-linker={_LOADER}", f"--rpath={BUILD}/lib",
               "--export-dynamic", "--no-as-needed", "libneeded.so"),
    "static": ("-static",),
    "static-pie": ("-static", "-pie", "--no-dynamic-linker"),
    "shared": ("-shared",),
}


def run(*command, folder: Path) -> None:
    words = [os.fspath(word) for word in command]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, f"{words}\n{result.stdout}{result.stderr}"


@dataclass(frozen=True)
class Linked:
    """One link of a program."""

    program: Program
    path: Path

    @cached_property
    def addresses(self) -> dict[str, int]:
        symbols = elves.read(self.path).linked_symbols()
        return {name.decode(): int(value)
                for name, value in zip(symbols.names.all(), symbols.value, strict=True)}

    @cached_property
    def build_id(self) -> bytes:
        return build_id(self.path)

    def touched(self, number: int, lost: Container[Part] = ()) -> np.ndarray:
        """What a run touches, but for some parts, in order, as events of a trace."""
        addresses = self.addresses
        driver = addresses[self.program.driver(number)]
        words = [FUNCTION << 56 | addresses["_start"], FUNCTION << 56 | driver]
        for place, touch in enumerate(self.program.runs[number]):
            words.append(CODE << 56 | driver + place * DRIVER_STEP)  # it is as long as the run
            if touch.part in lost:
                continue
            start = addresses[touch.part.name]
            if touch.part.is_code and touch.offset == 0:
                words.append(FUNCTION << 56 | start)
            kind = CODE if touch.part.is_code else DATA
            words += range(kind << 56 | start + touch.offset & ~(GRANULE - 1),
                           kind << 56 | start + touch.offset + touch.size, touch.stride)
        return np.array(words, np.uint64)

    def trace(self, path: Path, number: int, has_data: bool = True,
              lost: Container[Part] = ()) -> Path:
        """The trace of a run: of all that it touches, or of functions only."""
        words = self.touched(number, lost)
        if not has_data:
            words = words[words >> np.uint64(56) == FUNCTION]
        events = np.zeros(len(words), [("word", "<u8"), ("module", "<u4"), ("thread", "<u4")])
        events["word"], events["module"], events["thread"] = words, 1, 1
        writer = TraceWriter().module(1, str(self.path), self.build_id)
        header = writer.to_bytes(next_slot=len(writer.slots) + len(events))
        path.write_bytes(header + events.tobytes())
        return path


class Bench:
    """A folder in which one program is built."""

    def __init__(self, folder: Path, program: Program):
        self._folder = folder
        self.program = program
        (folder / "app.s").write_text(assembly(program))
        run("as", "-o", "app.o", "app.s", folder=folder)
        if program.kind == "no-pie":
            (folder / "needed.s").write_text('.section .note.GNU-stack,"",@progbits\n')
            run("as", "-o", "needed.o", "needed.s", folder=folder)
            run(LD_LLD, "-shared", "-o", "libneeded.so", "needed.o", folder=folder)

    def plain(self, *flags: str) -> Linked:
        return self._link("plain", LD_LLD, *flags)

    def front(self, startup: Path, *flags: str, name: str = "front") -> Linked:
        return self._link(name, LD_FRONTLOAD, f"--startup-profile={startup}", "--min-match=0",
                          *flags)

    def _link(self, name: str, linker: Path, *flags: str) -> Linked:
        (self._folder / name).mkdir(exist_ok=True)
        output = self._folder / name / "app"
        run(linker, "-o", output, "app.o", "--build-id=sha1", f"--rpath={self._folder}",
            *_KINDS[self.program.kind], *self.program.flags, *flags, folder=self._folder)
        return Linked(self.program, output)


def train(linked: Linked, link_map: Path, folder: Path, has_data: bool = True,
          weights: Sequence[int] = ()) -> Profile:
    """The startup profile of all runs, as `frontload profile` makes it."""
    merger = merge.Merger(binary=str(linked.path), link_map=str(link_map) if has_data else None)
    runs = range(len(linked.program.runs))
    for number, weight in zip(runs, weights or [1] * len(runs), strict=True):
        merger.add(str(linked.trace(folder / f"training-{number}", number, has_data)), weight)
    return merger.result()
