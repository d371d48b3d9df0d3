"""Whether the functions of a link have the basic blocks that a profile knows."""

from collections.abc import Iterable, Sequence

from frontload.profile import resolver
from frontload.profile.block_counts import BlockCounts, Shape
from frontload.profile.resolver import FunctionBlocks
from frontload.profile.startup_profile import Name, Profile


def find(startup: Profile, path: str, files: Iterable[str], entries: Sequence[Name] = ()
         ) -> list[tuple[FunctionBlocks, BlockCounts | None]]:
    """The functions of a profile, which lies at `path`, that have a map of their blocks in these
    files; each with what runs touched of it, or None if no run has touched it in this shape.

    entries: the profile's names, by those who have them already
    """
    entries = entries or list(startup.touches)
    found = []
    for function in resolver.blocks(path, files):
        name = entries[function.entry]
        found.append((function, startup.blocks.get(Shape(name.name, name.file, function.hash))))
    return found


def recorded(startup: Profile) -> set[tuple[bytes, bytes]]:
    """The functions, by name and file, of which a profile knows blocks in any shape."""
    return {(shape.name, shape.file) for shape in startup.blocks}


def count(startup: Profile, path: str, binary: str) -> tuple[int, int]:
    """How many functions of a linked file have the blocks that runs have touched, and of how many
    that is, which have blocks in the profile and in the file."""
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
