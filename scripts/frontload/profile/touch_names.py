"""The contents of a trace: its modules with their touches, and each touch with its names in the
binary of its module.

A profile has one name for each touched part, and leaves out parts without a name (addresses.py).
Here every touch counts, also of a binary that is gone.
"""

import heapq
from collections.abc import Callable, Iterator

import numpy as np

from frontload.base.files import Document
from frontload.elf.file import Elf
from frontload.profile import trace as traces
from frontload.profile.summary import text
from frontload.profile.symbol_names import SymbolNames, names_of
from frontload.profile.trace import Module, Trace

KINDS = {traces.FUNCTION: "function", traces.BLOCK: "block", traces.CODE: "code",
         traces.DATA: "data"}
_NONE = -1, ""  # behind the last


def describe(trace: Trace) -> Document:
    """A trace without its touches."""
    def count(which: np.ndarray) -> Document:
        return {"touches": int(np.count_nonzero(which)),
                "kinds": {label: int(np.count_nonzero(trace.kinds[which] == kind))
                          for kind, label in KINDS.items()}}

    return {"program": trace.main and trace.main.path, "pid": trace.pid,
            "run": f"{trace.run:x}" if trace.run else None, "forked": trace.forked,
            "role": trace.role or None, "dropped": trace.dropped, "ownerless": trace.ownerless,
            **count(np.ones(len(trace.kinds), bool)),
            "modules": [{"path": module.path, "build_id": module.build_id.hex() or None,
                         "main": module.main, **count(trace.owners == number)}
                        for number, module in enumerate(trace.modules)]}


def touches(trace: Trace, binary_of: Callable[[Module], Elf | None]) -> Iterator[Document]:
    """The touches in order. `binary_of` is called at once, for each module with touches; without a
    binary, or without symbols in it, they have no names."""
    found = [_Named(trace, np.flatnonzero(trace.owners == number), names)
             for number in np.unique(trace.owners).tolist()
             if (binary := binary_of(trace.modules[number])) is not None
             and (names := names_of(binary)) is not None]
    return _in_order(trace, found)


def _in_order(trace: Trace, found: list["_Named"]) -> Iterator[Document]:
    # There may be millions, so each is made when it is its turn.
    all_named = heapq.merge(*found, key=lambda item: item[0])
    position, name = next(all_named, _NONE)
    for number, (kind, address, owner) in enumerate(zip(trace.kinds, trace.addresses, trace.owners,
                                                        strict=True)):
        names = []
        while position == number:
            names.append(name)
            position, name = next(all_named, _NONE)
        yield {"kind": KINDS[int(kind)], "module": trace.modules[owner].name,
               "address": int(address), "names": names}


class _Named:
    """The touches `mine` of a module: their positions in the trace, and `name` or `name+0x10`, in
    the order of the trace; for one touch, by address."""

    def __init__(self, trace: Trace, mine: np.ndarray, names: SymbolNames):
        self._trace, self._names = trace, names
        is_data = trace.kinds[mine] == traces.DATA
        code, data = mine[~is_data], mine[is_data]
        groups = names.ranges.innermost(trace.addresses[code])
        granules = trace.addresses[data] & ~np.uint64(traces.GRANULE - 1)
        query, overlapping = names.ranges.overlapping(granules,
                                                      granules + np.uint64(traces.GRANULE))
        touch = np.concatenate([code[groups >= 0], data[query]])
        group = np.concatenate([groups[groups >= 0], overlapping])
        order = np.lexsort((group, touch))
        self._touch, self._group = touch[order], group[order]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        used = np.unique(self._group)
        known = dict(zip(used.tolist(), map(text, self._names.symbol_names(used)), strict=True))
        for position, group in zip(self._touch, self._group, strict=True):
            offset = int(self._trace.addresses[position]) - int(self._names.ranges.start[group])
            yield int(position), known[group] + (f"+{offset:#x}" if offset > 0 else "")
