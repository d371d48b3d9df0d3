"""Builds of a program, of which some have a name and others lack it: objects, archives, folders of
these, or linked files.

Which names a build has is asked as a link would ask it (resolver.py). What a name that is lost may
be called now is guessed by its code (elf/code.py): if, of all functions that only the old build
has, it alone has some code, and of those that only the new build has, exactly one has the same.
Short functions often have the same code and nothing else in common, so they are not guessed.
"""

import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from pathlib import Path

from frontload.base.errors import Failure
from frontload.elf import code
from frontload.elf.code import Code
from frontload.profile import format as profile
from frontload.profile import resolver
from frontload.profile.startup_profile import Name, Profile

_ENDS = (".o", ".obj", ".a")  # of what counts in a folder
SHORTEST = 16  # bytes of code that say something


@dataclass
class Build:
    label: str
    files: list[str] = field(default_factory=list)

    def has(self, names: Iterable[Name], like: Profile) -> set[Name]:
        """Which of these names of a profile are in the build."""
        wanted = replace(like, touches={name: like.touches[name] for name in names})
        if not wanted.touches:
            return set()
        entries = [name for name, _ in wanted.in_order()]
        with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
            path = Path(folder, "names")
            path.write_bytes(profile.to_bytes(wanted))
            resolved = resolver.resolve(os.fspath(path), self.files)
        return set(compress(entries, resolved.defined(len(entries))))

    @cached_property
    def functions(self) -> dict[bytes, set[Code]]:
        """The functions by the names of their symbols."""
        found: dict[bytes, set[Code]] = {}
        for path in self.files:
            for each in code.functions(path):
                found.setdefault(each.symbol, set()).add(each)
        return found


def read(label: str, paths: Iterable[str]) -> Build:
    """The build that files and folders make."""
    found = []
    for path in paths:
        inside = [os.path.join(folder, name) for folder, _, names in os.walk(path)
                  for name in names if name.endswith(_ENDS)]
        if os.path.isdir(path) and not inside:
            raise Failure(f"{path}: has no objects and no archives", note="give the folder of a "
                          "build that was not cleaned, or the program that it made")
        found += sorted(inside) or [path]
    return Build(label, found)


def same_code(old: Build, new: Build, gone: Iterable[bytes]) -> dict[bytes, Code]:
    """Of symbols that the old build has and the new one lacks, those whose code one symbol of the
    new build has, which the old one lacks."""
    def only(mine: Build, other: Build) -> dict[tuple[int, bytes], set[bytes]]:
        names: dict[tuple[int, bytes], set[bytes]] = {}
        for symbol in mine.functions.keys() - other.functions.keys():
            for each in mine.functions[symbol]:
                names.setdefault((each.size, each.digest), set()).add(symbol)
        return names

    before, after = only(old, new), only(new, old)
    found = {}
    for symbol in gone:
        codes = {(each.size, each.digest) for each in old.functions.get(symbol, ())}
        if len(codes) != 1:
            continue
        key = codes.pop()
        if key[0] >= SHORTEST and before.get(key) == {symbol} and len(after.get(key, ())) == 1:
            found[symbol] = Code(next(iter(after[key])), *key)
    taken = Counter(each.symbol for each in found.values())
    return {symbol: each for symbol, each in found.items() if taken[each.symbol] == 1}
