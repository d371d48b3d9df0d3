"""Objects that stay until the process ends, to save the time of freeing them.

Freeing a million symbols takes half a second of ten. The kernel, which gets all memory back at once
(__main__.py), takes a tenth.
"""

from typing import TypeVar

_Thing = TypeVar("_Thing")
_kept: list[object] = []


def until_the_end(thing: _Thing) -> _Thing:
    """Keeps a large object, one per command, until the process ends; returns the object."""
    _kept.append(thing)
    return thing
