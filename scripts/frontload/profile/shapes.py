"""Whether the functions of a link have the basic blocks of a profile."""

from collections.abc import Iterable, Sequence

from frontload.profile import resolver
from frontload.profile.block_counts import BlockCounts, Shape
from frontload.profile.resolver import FunctionBlocks
from frontload.profile.startup_profile import Name, Profile


def find(startup: Profile, path: str, files: Iterable[str], entries: Sequence[Name] = ()
         ) -> list[tuple[FunctionBlocks, BlockCounts | None]]:
    """The functions of a profile, at `path`, that have a map of their blocks in these files; each
    with its touched blocks, or None if no run has touched it in this shape.

    entries: the profile's names, if the caller has them already
    """
    entries = entries or list(startup.touches)
    found = []
    for function in resolver.blocks(path, files):
        name = entries[function.entry]
        found.append((function, startup.blocks.get(Shape(name.name, name.file, function.hash))))
    return found


def recorded(startup: Profile) -> set[tuple[bytes, bytes]]:
    """The functions, by name and file, for which a profile has blocks in any shape."""
    return {(shape.name, shape.file) for shape in startup.blocks}


def count(startup: Profile, path: str, binary: str) -> tuple[int, int]:
    """How many functions of a linked file have the recorded blocks, and how many functions have
    blocks in both the profile and the file."""
    if not startup.blocks:
        return 0, 0
    entries, known = list(startup.touches), recorded(startup)
    of_all, same = set(), set()
    for function, counts in find(startup, path, [binary], entries):
        name = entries[function.entry]
        if (name.name, name.file) in known:
            of_all.add(function.entry)
            if counts is not None:
                same.add(function.entry)
    return len(same), len(of_all)
