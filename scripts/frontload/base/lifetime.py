"""What stays until the process ends, because nobody needs it to go before.

To take a million names apart takes half a second of ten, and the kernel, which gets all memory back
at once (__main__.py), a tenth.
"""

from typing import TypeVar

_Thing = TypeVar("_Thing")
_kept: list[object] = []


def until_the_end(thing: _Thing) -> _Thing:
    """Keeps a large thing of which a command has one, until the process ends; returns it."""
    _kept.append(thing)
    return thing
