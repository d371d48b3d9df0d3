"""The text of `perf script`: the parts that are alike in all recordings.

    app 20441/20441 [001] 22316.193636:     10000 cycles:u:     6d1 helper+0x11 (/usr/bin/app)
    20441/20441   K   22316.193636000:    minor-faults:           400010 ffffffff81b75d98

head   process and time. `--fields` chooses its parts: the command's name, which can have spaces,
       process and thread (or one of them), processor, flags (K, or d..1. of the kernel), time
event  what was sampled, and perf's text about it; a number before it is the sample's period
frame  a place in a function: `ADDRESS SYMBOL+0xOFFSET (FILE)`; the offset and the symbol may be
       missing
"""

import re
from functools import lru_cache
from typing import NamedTuple

DATA_MAGIC = b"PERFILE2"  # perf.data, from which this text is made
_WHO = (rb"(?:(-?\d{1,10})/)?(-?\d{1,10}) +(?:\[\d{1,6}\] +)?"
        rb"(?:(?=\S*[A-Za-z.,])([\w.,+#]{1,12}) +)?")
_TIME = rb"(\d{1,12})\.(\d{1,9}):(?: +|$)"
_FIRST_HEAD = re.compile(rb" *" + _WHO + _TIME)
_HEAD_BEHIND_NAME = re.compile(rb"(?:^| )(?:" + _WHO + rb"|(?:\[\d{1,6}\] +)?)" + _TIME)
_HEAD_WITHOUT_TIME = re.compile(rb"(?:^| )" + _WHO + rb"()()(?=(?:\d{1,20} +)?[a-z]\S*:(?: |$))",
                                re.IGNORECASE)
_EVENT = re.compile(rb"(?:\d{1,20} +)?(\S{1,512}?):(?:\s+(.*))?", re.DOTALL)
_ADDRESS = re.compile(rb"[0-9a-f]{1,16}")
_OFFSET = re.compile(rb"\+0x([0-9a-f]{1,16}) \(")


class Head(NamedTuple):
    process: int | None  # None if only the thread's number is there
    thread: int  # 0 if not even that is there
    flags: bytes
    time: int  # in nanoseconds
    rest: bytes  # the rest of the line


class Frame(NamedTuple):
    symbol: bytes
    address: int
    offset: int | None  # of the address in the function
    file: bytes


def head(line: bytes, *, has_name: bool, has_time: bool = True) -> Head | None:
    """The head of a line; None if it has none. `has_name`: the command's name may be before it.
    Without a time, only an event shows where the head ends."""
    found = (_FIRST_HEAD.match(line) if not has_name else
             (_HEAD_BEHIND_NAME if has_time else _HEAD_WITHOUT_TIME).search(line))
    if found is None:
        return None
    process, thread, flags, seconds, decimals = found.groups()
    return Head(int(process) if process else None, int(thread or 0), flags or b"",
                int(seconds or 0) * 1_000_000_000 + int(decimals.ljust(9, b"0")),
                line[found.end():])


def event(text: bytes) -> tuple[bytes, bytes] | None:
    """The name of the event behind a head, and perf's text about it; None if it is none."""
    found = _EVENT.fullmatch(text)
    return found and (found[1], found[2] or b"")


@lru_cache(1 << 16)  # a start is sampled in the same places over and over
def frame(text: bytes) -> Frame | None:
    address, _, rest = text.strip().partition(b" ")
    if not _ADDRESS.fullmatch(address) or not rest.endswith(b")"):
        return None
    rest = rest[:-1].removesuffix(b" (deleted)")
    if offset := _OFFSET.search(rest):
        return Frame(rest[:offset.start()], int(address, 16), int(offset[1], 16),
                     rest[offset.end():])
    symbol, opened, file = (b" " + rest).rpartition(b" (")
    return Frame(symbol[1:], int(address, 16), None, file) if opened else None
