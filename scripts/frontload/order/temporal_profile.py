"""Temporal profiles: LLVM's record of the order in which functions are first called.

clang's -pgo-temporal-instrumentation makes such profiles; `llvm-profdata merge`, `order` and lld
read them. The text form, which all of them read, is

    :ir
    :temporal_prof_traces
    2                              the number of traces
    2                              how many there were before some were dropped: the same
    1                              the weight of the first trace
    main,a.c;helper,_Z3foov        its functions in the order of their first calls
    ...                            the other traces, and an empty line
    main                           then, of each function, its name,
    0                              the hash of its control flow, which none has, so that nobody
    1                              takes this for its counts, the number of its counters
    1                              and their values

A trace holds hashes of names; without this last part, the name of a hash is unknown.
A local function is `file;name`; lld ignores the file.

A name ends at a comma, white space around it is stripped, and `;` ends a file's name. A line that
starts with `#` is a comment, one with `:` a header, and behind a function one with `$`, or a
number, still belongs to it. So names with any of these, or that are numbers, cannot be written.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

MERGED_LENGTH = 10_000  # `llvm-profdata merge` cuts longer traces, unless told otherwise
NOT_WRITABLE = ("a comma, a semicolon, a newline, one of #:$ at the start, a space at an end, or "
                "nothing but digits")
_WHITE_SPACE = b" \t\n\v\f\r"
_SPECIAL = _WHITE_SPACE + b",;#:$"  # rare in names
_PIECE = 4096  # names written at a time


class Trace(NamedTuple):
    weight: int
    names: Sequence[bytes]


def spell(name: bytes, file: bytes = b"") -> bytes | None:
    """A function's name in a temporal profile; None if it cannot be written."""
    if not _writable(name):
        return None
    return file + b";" + name if file and _writable(file) else name


def _writable(name: bytes) -> bool:
    if name.translate(None, _SPECIAL) == name:  # takes half the time of a pattern
        return not name.isdigit()
    return (name == name.strip(_WHITE_SPACE) and not name.startswith((b"#", b":", b"$"))
            and not any(byte in name for byte in (b",", b";", b"\n")))


def pieces(traces: Sequence[Trace]) -> Iterator[bytes]:
    """The text of a temporal profile; names are from `spell`, each at most once in a trace."""
    yield b":ir\n:temporal_prof_traces\n%d\n%d\n" % (len(traces), len(traces))
    for trace in traces:
        yield b"%d\n" % trace.weight
        for first in range(0, len(trace.names), _PIECE):
            yield b"," * (first > 0) + b",".join(trace.names[first:first + _PIECE])
        yield b"\n"
    names = list(dict.fromkeys(chain.from_iterable(trace.names for trace in traces)))
    for first in range(0, len(names), _PIECE):
        yield b"".join([b"\n%b\n0\n1\n1\n" % name for name in names[first:first + _PIECE]])
