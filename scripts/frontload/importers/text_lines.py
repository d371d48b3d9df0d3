"""Reads text line by line in constant memory, and names the line if it is not text."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from frontload.base.errors import BadData

_PIECE = 1 << 20
_MAX_LINE = 1 << 16  # bytes; a name of C++ can have many thousand
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARK = b"\xef\xbb\xbf"  # some editors write it before UTF-8


def lines(stream: BinaryIO, path: str, note: str, *, all_end: bool,
          longest: int = _MAX_LINE) -> Iterator[tuple[int, bytes]]:
    """The lines, numbered from 1, without their ends, which may be those of Windows.

    all_end: a last line without an end shows that the file was cut. Hand-written files may lack the
             end, files of programs do not.
    """
    number, rest = 0, b""
    while piece := stream.read(_PIECE):
        control = _CONTROL.search(piece)
        if control:
            raise BadData(path, f"not text: it has a byte 0x{control[0].hex()}", note=note,
                          line=number + 1 + piece.count(b"\n", 0, control.start()))
        piece = rest + piece
        *whole, rest = piece.split(b"\n")
        if number == 0 and whole:
            whole[0] = whole[0].removeprefix(_MARK)
        if len(rest) > longest or (whole and len(max(whole, key=len)) > longest):
            first = next((place for place, line in enumerate(whole) if len(line) > longest),
                         len(whole))
            raise BadData(path, f"a line of more than {longest} bytes", line=number + first + 1,
                          note=note)
        if b"\r" in piece:
            whole = [_without_end(line, path, number + place, note)
                     for place, line in enumerate(whole, 1)]
        yield from enumerate(whole, number + 1)
        number += len(whole)
    if rest and all_end:
        raise BadData(path, "truncated: the last line has no newline", line=number + 1,
                      note="copy or make it again")
    if rest:
        rest = rest.removeprefix(_MARK) if number == 0 else rest
        yield number + 1, _without_end(rest, path, number + 1, note)


def _without_end(line: bytes, path: str, number: int, note: str) -> bytes:
    if b"\r" not in line:
        return line
    line = line.removesuffix(b"\r")
    if b"\r" in line:
        raise BadData(path, "a carriage return inside a line", line=number, note=note)
    return line
