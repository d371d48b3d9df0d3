"""The basic blocks of functions in a startup profile: how many runs touched which.

The compiler numbers the blocks of a function, and the numbers hold only for one shape of it: the
hash of its map of blocks (lldplugin/elf/block_map.h) identifies the shape. A profile that was
merged from several builds has the blocks of each shape. Merging adds, so it is associative and
commutative.

In a profile they are header lines, one for each shape of a function, which older readers ignore:

    blocks:HASH:NAME[:FILE] RUNS BLOCK,... [LABEL]

NAME and FILE are those of the function's entry, with `:` and spaces written as `\\x3a` and `\\x20`.
RUNS is how many runs with blocks touched the function in this shape, and each BLOCK is `ID`, or
`ID=RUNS` if fewer runs touched it, by id. LABEL is that of the newest generation (generations.py)
that touched it, if it has one: the shape is left out with that generation. Runs of all generations
count alike, because only runs with this shape, and so these blocks, count at all.

Blocks are known if the program was compiled with -fbasic-block-address-map, and the recorder
records which code ran, as the recorder of data does. frontload-resolve --touched tells
which of them a process touched.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from frontload.base.arrays import np
from frontload.base.tools import ask
from frontload.elf.file import Elf
from frontload.profile import generations as ages

KEY = b"blocks:"
_HASH = re.compile(rb"[0-9a-f]{16}")
_NUMBER = re.compile(rb"0|[1-9][0-9]{0,17}")
_PROGRAM = "frontload-resolve"
_HEADER = b"frontload-resolve 2"
_SECTION = b".llvm_bb_addr_map"

Key = TypeVar("Key", bound=Hashable)


class Shape(NamedTuple):
    """A function, by its name and file as in its entry, and the hash of its map of blocks."""

    name: bytes
    file: bytes
    hash: bytes  # 16 hexadecimal digits


@dataclass
class BlockCounts:
    """How many runs touched a shape of a function, and each of its blocks; and the label of the
    newest generation that did."""

    runs: int = 0
    blocks: Counter[int] = field(default_factory=Counter)
    newest: bytes = b""

    def add(self, other: "BlockCounts", weight: int = 1) -> None:
        self.runs += weight * other.runs
        self.newest = max(self.newest, other.newest, key=ages.age)
        for block, runs in other.blocks.items():
            self.blocks[block] += weight * runs


class Blocks(dict[Key, BlockCounts]):
    """The blocks of all functions that have any."""

    def add(self, other: "Blocks[Key]", weight: int = 1) -> None:
        for key, counts in other.items():
            self.setdefault(key, BlockCounts()).add(counts, weight)


def header_lines(blocks: Blocks[Shape], escape: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """The lines of a profile, by name; `escape` is that of its names."""
    for shape in sorted(blocks):
        counts = blocks[shape]
        key = b":".join([shape.hash, *(_escaped(part, escape)
                                       for part in (shape.name, shape.file) if part)])
        listed = b",".join(b"%d" % block if runs == counts.runs else b"%d=%d" % (block, runs)
                           for block, runs in sorted(counts.blocks.items()))
        label = b" " + counts.newest if counts.newest else b""
        yield KEY + key + b" %d " % counts.runs + listed + label


def _escaped(part: bytes, escape: Callable[[bytes], bytes]) -> bytes:
    return escape(part).replace(b":", b"\\x3a").replace(b" ", b"\\x20")


def parse(key: bytes, value: bytes, unescape: Callable[[bytes], bytes]
          ) -> tuple[Shape, BlockCounts]:
    """The blocks of a header line, whose key begins with KEY; raises ValueError."""
    digits, *parts = key.removeprefix(KEY).split(b":", 3)
    if not _HASH.fullmatch(digits) or not 1 <= len(parts) <= 2:
        raise ValueError("blocks of what is not HASH:NAME or HASH:NAME:FILE")
    name, file = [*map(unescape, parts), b""][:2]
    number, listed, newest = [*value.split(b" "), b"", b""][:3]
    if value.count(b" ") > 2 or (newest and not ages.is_label(newest.decode())):
        raise ValueError("what stands behind the blocks is not a label")
    runs = _number(number)
    counts = BlockCounts(runs, newest=newest)
    last = -1
    for each in listed.split(b","):
        block, equals, some = each.partition(b"=")
        mine = _number(some) if equals else runs
        if _number(block) <= last or not 1 <= mine <= runs or (equals and mine == runs):
            raise ValueError("blocks that do not ascend, or with more runs than their function")
        last = int(block)
        counts.blocks[last] = mine
    return Shape(name, file, digits), counts


def _number(text: bytes) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("blocks and their runs are numbers")
    return int(text)


class TouchedFunction(NamedTuple):
    """A function with touched blocks."""

    address: int
    hash: bytes
    blocks: frozenset[int]


def file_with_map(linked: Elf) -> str | None:
    """The path of the program or, if the map was stripped, of its debug file."""
    return next((each.path for each in (linked, linked.debug)
                 if each is not None and _SECTION in each.section_names), None)


def find_touched(path: str, addresses: np.ndarray, *,
                 are_starts: bool = False) -> Iterator[TouchedFunction]:
    """The touched blocks of a program, by the addresses of the first instructions that ran in the
    parts of its granules; or, if `are_starts`, by the blocks' own addresses."""
    with tempfile.TemporaryFile() as asked:
        asked.write(b"".join(b"%x\n" % address for address in addresses.tolist()))
        asked.seek(0)
        options = ["--touched", *["--starts"] * are_starts]
        with ask(_PROGRAM, [*options, "--", path, "-"], _HEADER, asked) as (answer, _):
            for line in answer:
                _, address, digits, *blocks = line.split()
                yield TouchedFunction(int(address, 16), digits,
                                      frozenset(int(block.rstrip(b"?")) for block in blocks))


def of_run(processes: Iterable[TouchedFunction]) -> Blocks[tuple[int, bytes]]:
    """The touched blocks of a run's processes, by address and hash."""
    found: Blocks[tuple[int, bytes]] = Blocks()
    for address, digits, blocks in processes:
        counts = found.setdefault((address, digits), BlockCounts(1))
        counts.blocks |= Counter(dict.fromkeys(blocks, 1))
    return found
