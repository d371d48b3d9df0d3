"""Numbers of bytes as people write them: 4096, 80M, 1.5G.

k, M and G are powers of 1000, as for disks and in this project's documents.
"""

import math
import re

_BYTES = re.compile(r"((\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?)([kMG]?)", re.ASCII)
_MAX_LENGTH = 30  # characters: more than any number of bytes needs


def parse_bytes(text: str) -> int | float:
    """The number of bytes in a text; ValueError if it is not a number above 0."""
    found = _BYTES.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if found is None:
        raise ValueError(f"{text!r} is not a number of bytes")
    number, digits, unit = found.groups()
    value = (int(digits) if number == digits else float(number)) * 1000 ** " kMG".index(unit or " ")
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{text!r} is not a number of bytes above 0")
    return int(value) if value == int(value) else value
