"""The lives of names in the versions of a startup profile: when each came, what it was called
later, and between which versions it was lost.

What is the same name in two versions that follow each other is what `frontload diff` takes for the
same: equal names, and pairs that a link would take for the same, which are guesses. A version that
was recorded without data says nothing of data, sections and strings: they were neither lost there
nor seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from frontload.profile import difference
from frontload.profile.startup_profile import Name, Profile

CAME, RENAMED, LOST, CAME_BACK = "came", "renamed", "lost", "came back"


class Event(NamedTuple):
    """What happened to a name from a version to a later one: `name` is what it is called after it,
    or was called before it was lost; `how` it was found, if it was renamed."""

    what: str
    before: int  # the version that has it last, or -1
    after: int
    name: Name
    how: str = ""


@dataclass
class Life:
    name: Name  # the last that it had
    last_seen: int
    events: list[Event] = field(default_factory=list)

    @property
    def lost(self) -> Event | None:
        """How it was lost, if it has not come back."""
        return self.events[-1] if self.events[-1].what == LOST else None

    def names(self) -> list[Name]:
        """All that it was called, in this order."""
        return list(dict.fromkeys(event.name for event in self.events))


# Asked for names that are gone and those that have come, from one version to another; says which of
# the first are which of the second, and how it knows.
Likeness = Callable[[int, int, Sequence[Name], Sequence[Name]], dict[Name, tuple[Name, str]]]


def follow(profiles: Sequence[Profile], likeness: Likeness = lambda *_: {}) -> list[Life]:
    """The lives of all names, in the order in which they began. `likeness` finds more names that
    are the same than those that diff finds."""
    alive = {name: Life(name, 0, [Event(CAME, -1, 0, name)])
             for name, _ in profiles[0].in_order()}
    lives, lost = list(alive.values()), {}
    for after in range(1, len(profiles)):
        new = profiles[after]
        found = difference.compare(profiles[after - 1], new)
        renamed = {pair.old: (pair.new, pair.how) for pair in found.renamed}
        renamed |= likeness(after - 1, after, found.gone, found.come)
        still: dict[Name, Life] = {}
        for name, life in alive.items():
            if name in new.touches:
                still[name] = life
            elif name in renamed and renamed[name][0] not in still:
                called, how = renamed[name]
                life.events.append(Event(RENAMED, life.last_seen, after, called, how))
                life.name = called
                still[called] = life
            elif name.kind == "function" or new.data_runs:
                life.events.append(Event(LOST, life.last_seen, after, name))
                lost[name] = life
            else:
                still[name] = life  # nothing is known of it here
        for name, _ in new.in_order():
            if name not in still:
                life = lost.pop(name, None)
                if life is None:
                    life = Life(name, after)
                    lives.append(life)
                what = CAME_BACK if life.events else CAME
                life.events.append(Event(what, after - 1, after, name))
                still[name] = life
            still[name].last_seen = after
        alive = still
    return lives
