"""What the tests look at: the symbols of a binary, and a finished recording."""

from pathlib import Path

import traced
from elftools.elf.elffile import ELFFile
from process_order import by_start
from trace_decoder import CODE, VALGRIND, Trace, decode


class Binary:
    """The functions and data of an ELF file, by an ELF reader that is not LLVM's."""

    def __init__(self, path: Path):
        self.path = path
        with open(path, "rb") as stream:
            elf = ELFFile(stream)
            self.build_id = next(
                (n["n_desc"] for s in elf.iter_sections() if s["sh_type"] == "SHT_NOTE"
                 for n in s.iter_notes() if n["n_type"] == "NT_GNU_BUILD_ID"), "")
            self.symbols = {
                symbol.name: (symbol["st_value"], symbol["st_size"],
                              symbol["st_info"]["type"] == "STT_FUNC")
                for symbol in elf.get_section_by_name(".symtab").iter_symbols()
                if symbol["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT") and symbol["st_size"]}

    def __getitem__(self, name: str) -> int:
        return self.symbols[name][0]

    def touches(self, trace: Trace) -> list[str]:
        """In order of first touch: "f" for a function, "d+32" for the granule at offset 32 of a
        datum. Only symbols whose name begins with "my_" or is "main"."""
        found: dict[str, None] = {}
        (number,) = [n for n, m in trace.modules.items() if m.path == str(self.path)]
        ours = {name: place for name, place in self.symbols.items()
                if name == "main" or name.startswith("my_")}
        for kind, (module, address, _) in zip(trace.kinds, trace.events, strict=True):
            for name, (start, size, is_function) in ours.items() if module == number else ():
                if is_function == (kind == CODE) and start <= address < start + size:
                    found[name if is_function else f"{name}+{address - start}"] = None
        return list(found)

    def data(self, trace: Trace) -> list[str]:
        return [touch for touch in self.touches(trace) if "+" in touch]


class Recording(traced.Recording):
    @property
    def traces(self) -> list[Trace]:
        """In the order in which the processes were started."""
        return by_start(decode(f, VALGRIND) for f in self.files)
