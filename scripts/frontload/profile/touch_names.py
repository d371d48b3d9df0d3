"""What is in a trace: its modules with their touches, and each touch with the names that it has in
the binary of its module.

A profile has one name for what a touch belongs to, and leaves out what has none (addresses.py).
Here every touch counts, also of a binary that is no longer there.
"""

from collections.abc import Callable, Iterator

import numpy as np

from frontload.elf.file import Elf
from frontload.profile import trace as traces
from frontload.profile.summary import text
from frontload.profile.symbol_names import SymbolNames, names_of
from frontload.profile.trace import Module, Trace

KINDS = {traces.FUNCTION: "function", traces.BLOCK: "block", traces.CODE: "code",
         traces.DATA: "data"}


def describe(trace: Trace) -> dict:
    """All of a trace but its touches."""
    def count(which: np.ndarray) -> dict:
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


def touches(trace: Trace, binary_of: Callable[[Module], Elf | None]) -> Iterator[dict]:
    """The touches in order. `binary_of` is asked once for each module that has any; where it has
    none, or that has no symbols, they have no names."""
    named: list[list[str]] = [[] for _ in trace.kinds]
    for number in np.unique(trace.owners).tolist():
        binary = binary_of(trace.modules[number])
        names = names_of(binary) if binary is not None else None
        if names is not None:
            _name(trace, np.flatnonzero(trace.owners == number), names, named)
    for kind, address, owner, found in zip(trace.kinds.tolist(), trace.addresses.tolist(),
                                           trace.owners.tolist(), named, strict=True):
        yield {"kind": KINDS[kind], "module": trace.modules[owner].name, "address": address,
               "names": found}


def _name(trace: Trace, mine: np.ndarray, names: SymbolNames, named: list[list[str]]) -> None:
    """Adds to `named` what the touches `mine` of a module belong to, as `name` or `name+0x10`."""
    is_data = trace.kinds[mine] == traces.DATA
    code, data = mine[~is_data], mine[is_data]
    groups = names.ranges.innermost(trace.addresses[code])
    granules = trace.addresses[data] & ~np.uint64(traces.GRANULE - 1)
    query, overlapping = names.ranges.overlapping(granules, granules + np.uint64(traces.GRANULE))
    inside = groups >= 0
    touch = np.concatenate([code[inside], data[query]])
    group = np.concatenate([groups[inside], overlapping])
    known: dict[int, str] = {}
    for index in np.lexsort((group, touch)).tolist():
        number, position = int(group[index]), int(touch[index])
        if number not in known:
            known[number] = text(names.symbol_name(number))
        offset = int(trace.addresses[position]) - int(names.ranges.start[number])
        named[position].append(known[number] + (f"+{offset:#x}" if offset > 0 else ""))
