"""Which basic blocks a process touched: asks frontload-blocks (see tools/blocks/main.cpp).

Blocks are known if the program was compiled with -fbasic-block-address-map, and the recorder
records which code ran, as the recorder of data does.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from frontload.base.tools import ask
from frontload.elf.file import Elf
from frontload.profile.block_counts import BlockCounts, Blocks

_PROGRAM = "frontload-blocks"
_HEADER = b"frontload-blocks 1"
_SECTION = b".llvm_bb_addr_map"


class Touched(NamedTuple):
    """A function with touched blocks."""

    address: int
    hash: bytes
    blocks: frozenset[int]


def has_map(linked: Elf) -> bool:
    return _SECTION in linked.section_names


def find(path: str, addresses: np.ndarray, *, are_starts: bool = False) -> Iterator[Touched]:
    """The blocks of a program, by the addresses of the first instructions that ran in the parts of
    its granules; or, if `are_starts`, by the blocks' own addresses."""
    with tempfile.TemporaryFile() as asked:
        asked.write(b"".join(b"%x\n" % address for address in addresses.tolist()))
        asked.seek(0)
        with ask(_PROGRAM, [*["--starts"] * are_starts, "--", path], _HEADER, asked) as (answer, _):
            for line in answer:
                _, address, digits, *blocks = line.split()
                yield Touched(int(address, 16), digits,
                              frozenset(int(block.rstrip(b"?")) for block in blocks))


def of_run(processes: Iterable[Touched]) -> Blocks[tuple[int, bytes]]:
    """The touched blocks of a run's processes, by address and hash."""
    found: Blocks[tuple[int, bytes]] = Blocks()
    for address, digits, blocks in processes:
        counts = found.setdefault((address, digits), BlockCounts(1))
        counts.blocks |= Counter(dict.fromkeys(blocks, 1))
    return found
