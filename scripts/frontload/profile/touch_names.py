"""The contents of a trace: its modules with their touches, and each touch with its names in the
binary of its module.

A profile has one name for each touched part, and leaves out parts without a name (addresses.py).
Here every touch counts, also of a binary that is gone.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TypedDict

from frontload.base.arrays import np
from frontload.elf.file import Elf
from frontload.profile import trace as traces
from frontload.profile.summary import text
from frontload.profile.symbol_names import SymbolNames, names_of
from frontload.profile.trace import Module, Trace

KINDS = {traces.FUNCTION: "function", traces.BLOCK: "block", traces.CODE: "code",
         traces.DATA: "data"}


Counts = TypedDict("Counts", {"touches": int, "kinds": dict[str, int]})
TracedModule = TypedDict("TracedModule", {
    "path": str, "build_id": str | None, "main": bool, "touches": int, "kinds": dict[str, int]})
Summary = TypedDict("Summary", {  # without the touches
    "program": str | None,  # the path of the main program
    "pid": int, "run": str | None, "forked": bool, "role": str | None,
    "dropped": int,  # touches for which the recorder had no room
    "ownerless": int,  # touches whose module is not known
    "touches": int, "kinds": dict[str, int], "modules": list[TracedModule]})
Entry = TypedDict("Entry", {"kind": str, "module": str, "address": int, "names": list[str]})


def describe(trace: Trace) -> Summary:
    def count(which: np.ndarray) -> Counts:
        return {"touches": int(np.count_nonzero(which)),
                "kinds": {label: int(np.count_nonzero(trace.kinds[which] == kind))
                          for kind, label in KINDS.items()}}

    return {"program": trace.main.path if trace.main else None, "pid": trace.pid,
            "run": f"{trace.run:x}" if trace.run else None, "forked": trace.forked,
            "role": trace.role or None, "dropped": trace.dropped, "ownerless": trace.ownerless,
            **count(np.full(len(trace.kinds), True)),
            "modules": [{"path": module.path, "build_id": module.build_id.hex() or None,
                         "main": module.main, **count(trace.owners == number)}
                        for number, module in enumerate(trace.modules)]}


def touches(trace: Trace, binary_of: Callable[[Module], Elf | None]) -> Iterator[Entry]:
    """The touches in order. `binary_of` is called at once, for each module with touches; without a
    binary, or without symbols in it, they have no names."""
    named: defaultdict[int, list[str]] = defaultdict(list)  # by position in the trace
    for number in np.unique(trace.owners).tolist():
        binary = binary_of(trace.modules[number])
        if binary is not None and (symbols := names_of(binary)) is not None:
            for position, name in _named(trace, np.flatnonzero(trace.owners == number), symbols):
                named[position].append(name)
    return ({"kind": KINDS[int(kind)], "module": trace.modules[owner].name,
             "address": int(address), "names": named.get(number, [])}
            for number, (kind, address, owner) in enumerate(
                zip(trace.kinds, trace.addresses, trace.owners, strict=True)))


def _named(trace: Trace, mine: np.ndarray, symbols: SymbolNames) -> Iterator[tuple[int, str]]:
    """The touches `mine` of a module: their positions in the trace, and `name` or `name+0x10`; for
    one touch, by address."""
    is_data = trace.kinds[mine] == traces.DATA
    code, data = mine[~is_data], mine[is_data]
    groups = symbols.ranges.innermost(trace.addresses[code])
    granules = trace.addresses[data] & ~np.uint64(traces.GRANULE - 1)
    query, overlapping = symbols.ranges.overlapping(granules, granules + np.uint64(traces.GRANULE))
    touch = np.concatenate([code[groups >= 0], data[query]])
    group = np.concatenate([groups[groups >= 0], overlapping])
    order = np.lexsort((group, touch))
    used = np.unique(group)
    known = dict(zip(used.tolist(), map(text, symbols.symbol_names(used)), strict=True))
    for position, each in zip(touch[order].tolist(), group[order].tolist(), strict=True):
        offset = int(trace.addresses[position]) - int(symbols.ranges.start[each])
        yield position, known[each] + (f"+{offset:#x}" if offset > 0 else "")
