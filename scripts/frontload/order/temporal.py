"""The order as a temporal profile, for lld's own orderer and for llvm-profdata.

lld orders by it with --irpgo-profile=FILE --bp-startup-sort=function: by balanced partitioning over
all traces, one for each given startup profile. Names of data also work, since lld looks up sections
of any kind.

lld finds a section by only one of its symbols, which may not be the profile's: with the names of
cc1's profile alone its cold start had 252 major faults, with all names of the same places 150. So
all of them are written, where they can be looked up.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from frontload.order import aliases
from frontload.order.request import Format, Order, Pieces, Request
from frontload.order.symbols import SYMBOLS, report, unversioned
from frontload.order.temporal_profile import MERGED_LENGTH, NOT_WRITABLE, Trace, pieces, spell


def _make(request: Request) -> Order:
    """A trace for each scenario, of the names of its functions and data."""
    found: dict[bytes, bool] = {}
    refused: set[bytes] = set()
    spelled: dict[int, Sequence[bytes]] = {}
    for number, (entry, is_found, names) in enumerate(
            zip(request.entries, request.in_link, _names(request), strict=True)):
        if not entry.has_symbol:
            continue
        lines = [line for name in names
                 if (line := spell(unversioned(name), entry.file)) is not None]
        found[entry.name] = is_found or found.get(entry.name, False)
        if len(lines) < len(names):
            refused.add(entry.name)
        spelled[number] = lines
    traces = []
    for scenario, numbers in zip(request.scenarios, request.traces, strict=True):
        names = list(dict.fromkeys(chain.from_iterable(map(spelled.__getitem__, numbers))))
        if names:
            traces.append(Trace(scenario.runs, names))
    order = Order(Pieces(lambda: pieces(traces)) if traces else b"", sum(found.values()),
                  [name for name, good in found.items() if not good])
    report(order, "LLVM", len(refused), NOT_WRITABLE, len(request.entries),
           len(request.entries) - len(spelled), SYMBOLS)
    longest = max((len(trace.names) for trace in traces), default=0)
    if longest > MERGED_LENGTH:
        order.notes.append(f"{longest} names in a trace: lld reads this file as it is, but "
                           "`llvm-profdata merge` cuts traces unless it is given "
                           f"--temporal-profile-max-trace-length={longest}")
    if not request.looked_up:
        order.notes.append("lld knows a section by one of its names, which may be another: give "
                           "--binary or --objects to write all of them")
    return order


def _names(request: Request) -> Iterable[list[bytes]]:
    """The names in the places of each entry."""
    if not request.looked_up:
        return ([entry.name] for entry in request.entries)
    places = aliases.Aliases(request.binary, request.objects, request.places)
    return places.of_each(len(request.entries))


TEMPORAL = Format("lld --irpgo-profile=FILE --bp-startup-sort=function, llvm-profdata", _make)
