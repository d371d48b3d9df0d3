"""The truth that linkers are judged by: which functions of a profile a linked file has, and where.

All of it comes from the profile's text and the symbol table of the linked file, as pyelftools reads
it, and nothing from Frontload's own: not its matching of names, not its reports.

A *function* is what the source calls one: its name as llvm-cxxfilt writes it, without what
compilers append (`.cold`, `.part.0`, `.lto_priv.3`, `.llvm.77`), which constructor or destructor it
is, and the hashes of Rust. A name of a profile *exists* in a linked file if the file has its
function. Where it should lie is the symbol that is most like it: the very name from the same source
file, else the very name, else one that differs in its suffix only, else any symbol of the function.

The *block* is the stretch of the file's functions, by address, that holds the most of those named
and the fewest others: the one with the greatest sum if one that is named counts 1, any other -2. A
name is *adjacent* if its function lies in the block, and there in the order of the profile: of the
names in the block, the longest sequence in ascending address counts. Functions that were folded
into one are where the first of them should be.
"""

import bisect
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from places import LLVM

_FOREIGN = -2
_LEGACY_HASH = re.compile(r"17h[0-9a-f]{16}E")
# What no linker is asked to move: it has a section of its own, or shares one of the compiler's
# startup files, which objects do not name.
_FIXED = (".init", ".fini", ".plt", ".plt.got", ".plt.sec")


class Wanted(NamedTuple):
    """A function of a profile, as it stands there."""

    name: str
    file: str  # of a local one: the stem of its source or object file


class Symbol(NamedTuple):
    name: str
    file: str
    address: int


def functions_of_profile(path: Path) -> list[Wanted]:
    """In first-touch order."""
    wanted = []
    for line in path.read_text().splitlines():
        kind, *fields = line.split("\t")
        if kind == "function":
            name, file = fields[4], fields[5] if len(fields) > 5 else ""
            wanted.append(Wanted(name, file.partition(".")[0]))
    return wanted


def without_suffix(name: str) -> str:
    """A symbol's name without what a compiler appended; `_ZN..E17h<hash>E` without the hash."""
    found = _LEGACY_HASH.search(name)
    if found:  # the only names with dots of their own
        return name[:found.start()] + "E"
    return name.partition(".")[0] or name


def demangle(names: list[str]) -> list[str]:
    result = subprocess.run([LLVM / "llvm-cxxfilt"], input="\n".join(names), capture_output=True,
                            text=True, check=True)
    return result.stdout.splitlines()


class Image:
    """The functions of a linked file."""

    def __init__(self, path: Path):
        self.symbols: list[Symbol] = []
        self._fixed: set[str] = set()
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            sections = list(elf.iter_sections())
            file = ""
            for symbol in elf.get_section_by_name(".symtab").iter_symbols():
                kind, index = symbol["st_info"]["type"], symbol["st_shndx"]
                if kind == "STT_FILE":
                    file = Path(symbol.name).name.partition(".")[0]
                is_code = kind in ("STT_FUNC", "STT_NOTYPE", "STT_GNU_IFUNC")
                if not (is_code and isinstance(index, int) and symbol.name):
                    continue
                section = sections[index]
                if not section["sh_flags"] & 4:  # SHF_EXECINSTR
                    continue
                is_local = symbol["st_info"]["bind"] == "STB_LOCAL"
                if (section.name in _FIXED or symbol.name == "_start"
                        or (is_local and file == "crtstuff")):
                    self._fixed.add(symbol.name)
                elif kind != "STT_NOTYPE" or symbol["st_size"]:
                    self.symbols.append(Symbol(symbol.name, file if is_local else "",
                                               symbol["st_value"]))
        self._functions: dict[str, list[Symbol]] = defaultdict(list)
        self._named: dict[str, list[Symbol]] = defaultdict(list)
        bases = [without_suffix(symbol.name) for symbol in self.symbols]
        for symbol, function in zip(self.symbols, demangle(bases), strict=True):
            self._functions[function].append(symbol)
            self._named[symbol.name].append(symbol)

    def can_move(self, wanted: Wanted) -> bool:
        """Whether a linker is asked to place it."""
        return wanted.name not in self._fixed

    def addresses(self, name: str) -> set[int]:
        """Of the functions that have this very name."""
        return {symbol.address for symbol in self._named[name]}

    def places(self, wanted: list[Wanted]) -> list[set[int]]:
        """For each name the addresses that would do; none if its function does not exist."""
        bases = [without_suffix(w.name) for w in wanted]
        return [self._places(w, base, self._functions[function])
                for w, base, function in zip(wanted, bases, demangle(bases), strict=True)]

    def _places(self, wanted: Wanted, base: str, symbols: list[Symbol]) -> set[int]:
        for is_it in (lambda s: s.name == wanted.name and s.file == wanted.file,
                      lambda s: s.name == wanted.name,
                      lambda s: without_suffix(s.name) == base,
                      lambda s: True):
            best = {s.address for s in symbols if is_it(s)}
            if best:
                return best
        return set()


@dataclass(frozen=True)
class Verdict:
    """What a linked file has of a profile's functions, as far as they can be moved."""

    exist: int
    in_block: int
    in_order: int
    astray: list[str]  # names that exist, but not in the block


def examine(path: Path, profile: Path, tells_namesakes: bool = True) -> Verdict:
    """Judges a linked file. Of a linker that cannot tell functions of the same name apart, all of
    them may lie in the block, in any order."""
    image = Image(path)
    wanted = [w for w in functions_of_profile(profile) if image.can_move(w)]
    places = dict(zip(wanted, image.places(wanted), strict=True))
    named = set().union(*places.values(),
                        *([] if tells_namesakes else [image.addresses(w.name) for w in wanted]))
    block = _block(sorted({s.address for s in image.symbols}), named)
    here = {w: found & block for w, found in places.items() if found & block}
    to_order: dict[int, Wanted] = {}  # by address: of functions that were folded, the first
    for w, found in here.items():
        if tells_namesakes or len(image.addresses(w.name)) == 1:
            to_order.setdefault(min(found), w)
    return Verdict(
        exist=sum(map(bool, places.values())), in_block=len(here),
        in_order=len(here) - len(to_order) + _longest_ascending(list(to_order)),
        astray=[w.name for w, found in places.items() if found and w not in here])


def _block(addresses: list[int], named: set[int]) -> set[int]:
    """The stretch of `addresses` with the greatest sum."""
    best = sum_here = begin = 0
    span = (0, 0)
    for index, address in enumerate(addresses):
        if sum_here <= 0:
            sum_here, begin = 0, index
        sum_here += 1 if address in named else _FOREIGN
        if sum_here > best:
            best, span = sum_here, (begin, index + 1)
    return set(addresses[slice(*span)])


def _longest_ascending(numbers: list[int]) -> int:
    """The length of the longest subsequence that does not descend."""
    ends: list[int] = []
    for number in numbers:
        at = bisect.bisect_right(ends, number)
        ends[at:at + 1] = [number]
    return len(ends)
