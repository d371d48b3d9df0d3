"""Clusters of basic blocks for clang -fbasic-block-sections=list=FILE: of each function, the blocks
that startup touched. clang puts these into the function's section, and the others into a separate
one (.text.split.NAME), which the linker may then place elsewhere.

The file (LLVM's BasicBlockSectionsProfileReader) says `v1`, then of each function `f NAME` and `c
BLOCK...`, with the compiler's ids of blocks. clang trusts the ids, also those of another shape of
the function, or that do not exist. So the file has only functions whose shape in the link is known
to the profile; all others stay whole. So do functions of one name, which clang cannot tell apart.
"""

from collections import Counter
from itertools import pairwise

from frontload.base import errors
from frontload.base.arrays import np
from frontload.base.errors import Failure
from frontload.elf import file as elf
from frontload.order.request import Format, Order, Request
from frontload.profile.block_counts import BlockCounts
from frontload.profile.resolver import (
    Block,
    FunctionBlocks,
    find_blocks,
    recorded_functions,
)

# Blocks of up to this many bytes between two that ran go along: other starts run some of them. With
# 12 of 16 imports of CPython trained, the code that the others need and the front lacks lies in 6.1
# windows of 64 KiB for 0, 5.3 for 32, and 5.0 for 64 bytes, and in 3.4 with whole functions; 32
# make the front's code 7% larger, 64 15%.
_SMALL = 32
# If few runs touched some block of a function, the next run is likely to touch another one: the
# share of items seen once is the probability of an unseen one (Good, "The population frequencies of
# species", 1953). More goes along there: 4.6 windows, for 8% more code.
_SMALL_WHERE_RUNS_DIFFER, _MAX_RARE = 512, 0.1


def _make(request: Request) -> Order:
    """The clusters of the functions of a profile."""
    if not request.looked_up:
        raise Failure("clang's blocks have numbers, which only what is linked can tell",
                      note="give the program, compiled with -fbasic-block-address-map, with "
                      "--binary, or its objects with --objects")
    if not request.profile.blocks:
        raise Failure(f"{request.path}: has no basic blocks",
                      note="compile with -fbasic-block-address-map, and record with --data")
    found = find_blocks(request.profile, request.path, request.files, request.diagnostics)
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
    with_blocks = recorded_functions(request.profile)
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
    """Which blocks stay together, by their present places.

    clang wants all landing pads of a function in one section, and otherwise makes one for them: so
    all of them stay if one was touched."""
    lands = any(block.is_landing_pad and counts.blocks[block.id] for block in blocks)
    touched = [counts.blocks[block.id] > 0 or (block.is_landing_pad and lands) for block in blocks]
    places = [place for place, is_touched in enumerate(touched) if is_touched]
    rarest = min(counts.blocks.values(), default=counts.runs)
    small = _SMALL_WHERE_RUNS_DIFFER if rarest <= _MAX_RARE * counts.runs else _SMALL
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
