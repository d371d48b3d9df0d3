"""Training that does not fit: of another build, or with hardly a name left.

What is lost of it is a part of the program, with its symbol and its section. The run that was
trained is the one without these.
"""

from collections.abc import Collection
from dataclasses import replace

from frontload.profile.kept_runs import KeptRuns
from frontload.profile.startup_profile import Name, Profile
from generated import Part

# The share of a program's parts that the training does not know.
LOSSES = {"exact": 0, "stale": 0.2, "half": 0.5, "scarce": 0.95, "foreign": 1}


def without(profile: Profile, lost: Collection[Part]) -> Profile:
    """The profile with names of these parts that no build has."""
    names = {part.name.encode() for part in lost}
    sections = {part.section.split(",")[0].encode() for part in lost}

    def known(name: Name) -> Name:
        is_lost = name.name in (sections if name.kind == "section" else names)
        return name._replace(name=b"another_" + name.name) if is_lost else name

    kept = KeptRuns(profile.kept.runs, {known(name): word
                                        for name, word in profile.kept.touches.items()})
    return replace(profile, kept=kept, touches={known(name): touch
                                                for name, touch in profile.touches.items()})
