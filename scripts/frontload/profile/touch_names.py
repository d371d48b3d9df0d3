"""The contents of a trace: its modules with how much was touched of each, and every touch."""

from collections.abc import Iterator
from typing import TypedDict

from frontload.base.arrays import np
from frontload.profile import trace as traces
from frontload.profile.trace import Trace

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
Entry = TypedDict("Entry", {"kind": str, "module": str, "address": int})


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


def touches(trace: Trace) -> Iterator[Entry]:
    """The touches in order."""
    for kind, address, owner in zip(trace.kinds, trace.addresses, trace.owners, strict=True):
        yield {"kind": KINDS[int(kind)], "module": trace.modules[owner].name,
               "address": int(address)}
