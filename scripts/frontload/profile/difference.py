"""What has changed from one startup profile of a program to another.

A name is *shared* if both profiles have it, *gone* if only the old one has it, *come* if only the
new one has. Of what is gone and come, frontload-resolve tells what may be the same under another
name (resolver.py), by the rules that links have: such a pair is *renamed*, and shared. It is a
guess, as in a link. Sections and strings have no symbols, and are told apart by what they are.

A shared name has *moved* if the number of shared names before it, plus one, has more than doubled
or halved: by more than an octave, which is what a front can tell apart. What is gone or has come
moves nothing.

The *overlap* is what both have of what either has. Each name weighs as much as the share of the
runs that touch it, the lower share of what both have by the higher; for bytes, times the bytes
touched. Not every recorder tells bytes, so those of a name count if each profile that has the name
tells them, and there is no overlap of bytes if a profile tells none at all.

Where only one of the profiles has runs with data, nothing is known of the data of the other: then
only functions are compared, and the rest is left out.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from frontload.profile.same_names import alike
from frontload.profile.startup_profile import Name, Profile

_OCTAVE = 2
# How names are found, the surest first.
_LIKENESS = ("exact", "suffix", "clone", "variant", "hash", "part")


class Shared(NamedTuple):
    """What a name is called in both profiles, and by which rule if that is not the same."""

    old: Name
    new: Name
    how: str = ""


@dataclass(frozen=True)
class Difference:
    """`gone` and `come` are in the order of their profiles, `shared` in that of the new one; of
    `moved`, what has moved farthest comes first."""

    shared: list[Shared]
    gone: list[Name]
    come: list[Name]
    moved: list[Shared]
    overlap: float  # of the names, from 0 to 1
    overlap_of_bytes: float | None
    telling: int  # names that count there
    left_out: tuple[int, int]  # names of the old and of the new profile that are not compared

    @property
    def renamed(self) -> list[Shared]:
        return [pair for pair in self.shared if pair.how]


def compare(old: Profile, new: Profile) -> Difference:
    both_have_data = bool(old.data_runs) == bool(new.data_runs)
    before, after = ([name for name, _ in each.in_order()
                      if both_have_data or name.kind == "function"] for each in (old, new))
    gone = [name for name in before if name not in new.touches]
    come = [name for name in after if name not in old.touches]
    renamed = {pair.new: pair for pair in _renamed(gone, come)}
    found = {pair.old for pair in renamed.values()}
    gone = [name for name in gone if name not in found]
    come = [name for name in come if name not in renamed]
    strange = set(come)
    shared = [renamed.get(name) or Shared(name, name) for name in after if name not in strange]
    tells = bool(_telling(old, before)) and bool(_telling(new, after))
    of_bytes = [pair for pair in _pairs(shared, gone, come) if _tell(old, new, *pair)]
    return Difference(
        shared, gone, come, _moved(old, new, shared),
        _overlap(old, new, _pairs(shared, gone, come), lambda each, name: 1),
        _overlap(old, new, of_bytes, lambda each, name: each.touches[name].touched.size)
        if tells else None, len(of_bytes) if tells else 0,
        (len(old.touches) - len(before), len(new.touches) - len(after)))


def _renamed(gone: list[Name], come: list[Name]) -> list[Shared]:
    """Pairs of names that a link would take for the same, each in one pair at most."""
    pairs, used = [], set()
    for before, after, how in sorted(alike(gone, come), key=lambda pair: _LIKENESS.index(pair.how)):
        if not {(0, before), (1, after)} & used:
            used |= {(0, before), (1, after)}
            pairs.append(Shared(before, after, how))
    return pairs


def _moved(old: Profile, new: Profile, shared: list[Shared]) -> list[Shared]:
    ranks = [(old.touches[pair.old].rank, new.touches[pair.new].rank) for pair in shared]
    sorted_old, sorted_new = (sorted(each) for each in zip(*ranks, strict=True)) if ranks else ([],
                                                                                             [])
    far = []
    for pair, (before, after) in zip(shared, ranks, strict=True):
        places = sorted((bisect_left(sorted_old, before) + 1, bisect_left(sorted_new, after) + 1))
        if places[1] > _OCTAVE * places[0]:
            far.append((-places[1] / places[0], after, pair))
    return [pair for *_, pair in sorted(far)]


_Pair = tuple[Name | None, Name | None]


def _pairs(shared: list[Shared], gone: list[Name], come: list[Name]) -> list[_Pair]:
    return [*((pair.old, pair.new) for pair in shared), *((name, None) for name in gone),
            *((None, name) for name in come)]


def _telling(each: Profile, names: list[Name]) -> int:
    return sum(each.touches[name].touched.size > 0 for name in names)


def _tell(old: Profile, new: Profile, before: Name | None, after: Name | None) -> bool:
    return all(each.touches[name].touched.size for each, name in ((old, before), (new, after))
               if name is not None)


def _overlap(old: Profile, new: Profile, pairs: list[_Pair],
             size: Callable[[Profile, Name], int]) -> float | None:
    """What both have, by what either has; nothing if there is nothing."""
    def weight(each: Profile, name: Name | None) -> float:
        return 0 if name is None else (each.touches[name].runs / each.limit(name.kind)
                                       * size(each, name))

    weights = [(weight(old, before), weight(new, after)) for before, after in pairs]
    either = math.fsum(map(max, weights))
    return math.fsum(map(min, weights)) / either if either else None
