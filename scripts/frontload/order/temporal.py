"""The order as a temporal profile, for lld's own orderer and for llvm-profdata.

lld orders by it with --irpgo-profile=FILE --bp-startup-sort=function: by balanced partitioning over
all traces, one for each given startup profile. Names of data also work, since lld looks up sections
of any kind.

lld finds a section by only one of its symbols, which may not be the profile's: with the names of
cc1's profile alone its cold start had 252 major faults, with all names of the same places 150. So
all of them are written, where they can be looked up.

A temporal profile is LLVM's record of the order in which functions are first called. Its text form,
which lld and `llvm-profdata merge` and `order` read, is

    :ir
    :temporal_prof_traces
    2                              the number of traces
    2                              how many there were before some were dropped: the same
    1                              the weight of the first trace
    main,a.c;helper,_Z3foov        its functions in the order of their first calls
    ...                            the other traces, and an empty line
    main                           then, of each function, its name,
    0                              the hash of its control flow, which fits no function: no tool
                                   takes these lines for counts
    1                              the number of its counters
    1                              and their values

A trace holds hashes of names; without this last part, the name of a hash is unknown.
A local function is `file;name`; lld ignores the file.

A name ends at a comma, white space around it is stripped, and `;` ends a file's name. A line that
starts with `#` is a comment, one with `:` a header, and behind a function one with `$`, or a
number, still belongs to it. So names with any of these, or that are numbers, cannot be written.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from frontload.order import aliases
from frontload.order.request import Format, Order, Request
from frontload.order.symbols import SYMBOLS, WHITE_SPACE, report, unversioned
from frontload.profile.format import read
from frontload.profile.startup_profile import Profile

_MERGED_LENGTH = 10_000  # `llvm-profdata merge` cuts longer traces, unless told otherwise
_NOT_WRITABLE = ("a comma, a semicolon, a newline, one of #:$ at the start, a space at an end, or "
                "nothing but digits")


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
                 if (line := _spell(unversioned(name), entry.file)) is not None]
        found[entry.name] = is_found or found.get(entry.name, False)
        if len(lines) < len(names):
            refused.add(entry.name)
        spelled[number] = lines
    traces = []
    for profile, numbers in _scenarios(request):
        names = list(dict.fromkeys(chain.from_iterable(map(spelled.__getitem__, numbers))))
        if names:
            traces.append(_Trace(profile.runs, names))
    order = Order(_text(traces) if traces else b"", sum(found.values()),
                  [name for name, good in found.items() if not good])
    report(order, "LLVM", len(refused), _NOT_WRITABLE, len(request.entries),
           len(request.entries) - len(spelled), SYMBOLS)
    longest = max((len(trace.names) for trace in traces), default=0)
    if longest > _MERGED_LENGTH:
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
    return aliases.Aliases(request).of_each()


class _Trace(NamedTuple):
    weight: int
    names: Sequence[bytes]


def _spell(name: bytes, file: bytes = b"") -> bytes | None:
    """A function's name in a temporal profile; None if it cannot be written."""
    if not _writable(name):
        return None
    return file + b";" + name if file and _writable(file) else name


def _writable(name: bytes) -> bool:
    return (name == name.strip(WHITE_SPACE) and not name.startswith((b"#", b":", b"$"))
            and not any(byte in name for byte in (b",", b";", b"\n")) and not name.isdigit())


def _scenarios(request: Request) -> Iterator[tuple[Profile, list[int]]]:
    """The profiles that the request's was merged from, or itself; each with its entries that are
    symbols, by first touch."""
    numbers = {name: number for number, name in enumerate(request.entries)}
    for profile in map(read, request.merged) if request.merged else [request.profile]:
        yield profile, [numbers[name] for name, _ in profile.in_order() if name.has_symbol]


def _text(traces: Sequence[_Trace]) -> bytes:
    """The text of a temporal profile; names are from `_spell`, each at most once in a trace."""
    names = dict.fromkeys(chain.from_iterable(trace.names for trace in traces))
    return b"".join([
        b":ir\n:temporal_prof_traces\n%d\n%d\n" % (len(traces), len(traces)),
        *(b"%d\n%b\n" % (trace.weight, b",".join(trace.names)) for trace in traces),
        *(b"\n%b\n0\n1\n1\n" % name for name in names)])


TEMPORAL = Format("lld --irpgo-profile=FILE --bp-startup-sort=function, llvm-profdata", _make)
