"""Clusters of basic blocks for clang -fbasic-block-sections=list=FILE: of each function, the blocks
that startup touched. clang puts these into the function's section, and the others into one of its
own (.text.split.NAME), which the linker may then lay elsewhere.

The file (LLVM's BasicBlockSectionsProfileReader) says `v1`, then of each function `f NAME` and
`c BLOCK...`, the ids of blocks by the compiler. clang believes what it reads: ids of another shape
of the function, and ids that do not exist. So a function is only in the file if what is linked has
it in a shape that the profile knows; what else there is is left whole. Nor does clang know which
of several functions of one name is meant, so these are left whole, too.
"""

from collections import Counter
from itertools import pairwise

import numpy as np

from frontload.base import errors
from frontload.base.errors import Failure
from frontload.elf import file as elf
from frontload.order.request import Format, Order, Request
from frontload.profile import shapes
from frontload.profile.block_counts import BlockCounts
from frontload.profile.resolver import Block, FunctionBlocks

# Blocks of up to so many bytes between two that ran go along: other starts run some of them. With
# 12 of 16 imports of CPython trained, code of the front that the others need and it does not have
# lies in 6.1 windows of 64 KiB for 0, 5.3 for 32, and 5.0 for 64 bytes, and in 3.4 with whole
# functions; 32 make the front's code 7% larger, 64 15%.
_SMALL = 32
# Of a function with a block that few of its runs touched, the next run is likely to touch another:
# as many items that were seen once, so likely is one that was not seen (Good, "The population
# frequencies of species", 1953). More goes along there: 4.6 windows, for 8% more code.
_SMALL_WHERE_RUNS_DIFFER, _FEW = 512, 0.1


def _make(request: Request) -> Order:
    """The clusters of the functions of a profile."""
    if not request.looked_up:
        raise Failure("clang's blocks have numbers, which only what is linked can tell",
                      note="give the program, compiled with -fbasic-block-address-map, with "
                      "--binary, or its objects with --objects")
    if not request.profile.blocks:
        raise Failure(f"{request.path}: has no basic blocks",
                      note="compile with -fbasic-block-address-map, and record with --data")
    found = shapes.find(request.profile, request.path, request.files, request.entries)
    if not found:
        raise Failure(f"{request.files[0]}: has no map of its basic blocks",
                      note="compile it with -fbasic-block-address-map")
    several = _several(request, [function for function, _ in found])
    lines, written = [b"v1\n"], set()
    changed: set[int] = set()
    for function, counts in found:
        if function.entry in written or function.symbol in several:
            continue
        if counts is None:
            changed.add(function.entry)
            continue
        written.add(function.entry)
        cluster = _cluster(function.blocks, counts)
        if cluster and len(cluster) < len(function.blocks):
            lines.append(b"f %b\nc %b\n" % (
                function.symbol, b" ".join(b"%d" % block for block in cluster)))
    with_blocks = shapes.recorded(request.profile)
    missing = [entry.name for number, entry in enumerate(request.entries)
               if entry.kind == "function" and (entry.name, entry.file) in with_blocks
               and number not in written]
    order = Order(b"".join(lines), len(written), missing)
    if changed - written:
        order.notes.append(f"{errors.count(len(changed - written), 'function')} left whole, whose "
                           "blocks are not those that were recorded")
    if several:
        order.notes.append(f"{errors.count(len(several), 'name')} left out, which several "
                           "functions have: clang cannot tell them apart")
    return order


def _cluster(blocks: list[Block], counts: BlockCounts) -> list[int]:
    """Which blocks stay together, by their places now.

    clang wants all landing pads of a function in one section, and makes one of their own if they
    are not: so all of them stay if one was touched."""
    lands = any(block.is_landing_pad and counts.blocks[block.id] for block in blocks)
    touched = [counts.blocks[block.id] > 0 or (block.is_landing_pad and lands) for block in blocks]
    places = [place for place, is_touched in enumerate(touched) if is_touched]
    rarest = min(counts.blocks.values(), default=counts.runs)
    small = _SMALL_WHERE_RUNS_DIFFER if rarest <= _FEW * counts.runs else _SMALL
    for before, after in pairwise(places):
        between = blocks[before + 1:after]
        if sum(block.size for block in between) <= small and \
                not any(block.is_landing_pad for block in between):
            touched[before + 1:after] = [True] * len(between)
    return [block.id for block, keeps in zip(blocks, touched, strict=True) if keeps]


def _several(request: Request, found: list[FunctionBlocks]) -> set[bytes]:
    """The names that clang may see more than once, or cannot read."""
    names = {function.symbol for function in found}
    unreadable = {name for name in names if not name or set(name) & set(b" \t\r\n/#")}
    if request.binary:
        symbols = elf.read(request.binary).linked_symbols()
        rows, spelled = symbols.names.find(names, np.flatnonzero(symbols.section > 0))
        places = {(name, int(symbols.value[row])) for name, row in zip(spelled, rows, strict=True)}
        counted = Counter(name for name, _ in places)
    else:
        counted = Counter(name for name, _ in {(each.symbol, each.hash) for each in found})
    return unreadable | {name for name, count in counted.items() if count > 1}


CLANG = Format("clang -fbasic-block-sections=list=FILE", _make)
