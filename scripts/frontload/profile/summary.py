"""The contents of a startup profile, as figures and as a list, for people and for scripts.

Only some recorders record how many bytes of a name are touched, so sums of bytes are of the names
with known bytes, and None without any.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypedDict

from frontload.elf.section_names import CLASSES
from frontload.profile.format import escape
from frontload.profile.startup_profile import KINDS, Name, Profile, Touch


class Tier(NamedTuple):
    """Names by the share of the runs that touch them, of those that could have."""

    label: str
    holds: Callable[[int, int], bool]  # this many runs, of this many


# Each name is in the first tier that holds.
TIERS = (Tier("every run", lambda runs, of: runs == of),
         Tier("99% or more", lambda runs, of: 100 * runs >= 99 * of),
         Tier("50% or more", lambda runs, of: 2 * runs >= of),
         Tier("fewer", lambda runs, of: True))


Sums = TypedDict("Sums", {
    "names": int,
    "telling": int,  # names with known bytes
    "touched_bytes": int | None})  # their sum
SumsOfTier = TypedDict("SumsOfTier", {
    "touched_by": str, "names": int, "telling": int, "touched_bytes": int | None})
SumsOfClass = TypedDict("SumsOfClass", {
    "kind": str, "class": str, "names": int, "telling": int, "touched_bytes": int | None})
KeptGeneration = TypedDict("KeptGeneration", {
    "label": str | None, "runs": int, "data_runs": int,
    "last_seen": int})  # names that it was the last to touch
Summary = TypedDict("Summary", {  # without the entries
    "program": str, "runs": int, "data_runs": int, "knows_cold_parts": bool,
    "generations": list[KeptGeneration],
    "names": int, "telling": int, "touched_bytes": int | None,
    "basic_blocks": dict[str, int],  # of how many `functions`, and how many are `touched`
    "classes": list[SumsOfClass], "tiers": list[SumsOfTier]})
Entry = TypedDict("Entry", {
    "rank": int, "runs": int,
    "of_runs": int,  # that could have touched it
    "touched_bytes": int | None, "kind": str, "class": str, "name": str, "file": str | None,
    "last_seen": str | None})  # the label of its newest generation


def text(name: bytes) -> str:
    """A name as it stands in a profile."""
    return escape(name).decode("utf-8")


def sum_of(touches: Iterable[Touch]) -> Sums:
    sizes = [touch.touched.size for touch in touches]
    telling = sum(size > 0 for size in sizes)
    return {"names": len(sizes), "telling": telling,
            "touched_bytes": sum(sizes) if telling else None}


def describe(profile: Profile) -> Summary:
    def tier(name: Name, touch: Touch) -> str:
        return next(each.label for each in TIERS if each.holds(touch.runs,
                                                               profile.limit(name.kind)))

    by_class: dict[tuple[str, str], list[Touch]] = {}
    by_tier: dict[str, list[Touch]] = {each.label: [] for each in TIERS}
    for name, touch in profile.touches.items():
        by_class.setdefault((name.kind, name.section_class), []).append(touch)
        by_tier[tier(name, touch)].append(touch)
    last_seen = Counter(touch.newest() for touch in profile.touches.values()
                        if profile.generations)
    order = sorted(by_class, key=lambda key: (KINDS.index(key[0]), CLASSES.index(key[1])))
    return {"program": text(profile.program), "runs": profile.runs, "data_runs": profile.data_runs,
            "knows_cold_parts": profile.knows_cold_parts,
            "generations": [{"label": each.label.decode() or None, "runs": each.runs,
                             "data_runs": each.data_runs, "last_seen": last_seen[place]}
                            for place, each in enumerate(profile.generations)],
            **sum_of(profile.touches.values()),
            "basic_blocks": {
                "functions": len({(shape.name, shape.file) for shape in profile.blocks}),
                "touched": sum(len(counts.blocks) for counts in profile.blocks.values())},
            "classes": [{"kind": kind, "class": section_class,
                         **sum_of(by_class[kind, section_class])} for kind, section_class in order],
            "tiers": [{"touched_by": label, **sum_of(by_tier[label])} for label in by_tier]}


def entry(profile: Profile, name: Name) -> Entry:
    touch = profile.touches[name]
    seen = profile.generations[touch.newest()].label.decode() if profile.generations else ""
    return {"rank": touch.rank, "runs": touch.runs, "of_runs": profile.limit(name.kind),
            "touched_bytes": touch.touched.size or None, "kind": name.kind,
            "class": name.section_class, "name": text(name.name), "file": text(name.file) or None,
            "last_seen": seen or None}


def entries(profile: Profile) -> Iterator[Entry]:
    """The entries, in their order."""
    for name, _ in profile.in_order():
        yield entry(profile, name)
