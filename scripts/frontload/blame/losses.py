"""Between which commits names were lost, as narrowly as builds can tell, and what they may be
called now.

A profile tells when a start did not touch a name any more. A build from between tells whether the
program still had it then: its commit is at or behind that of the version that has the name, and at
or before that of the version that lacks it. Versions that are files have the builds that are given
for them.
"""

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base import errors
from frontload.base.errors import Failure
from frontload.blame import builds as reading
from frontload.blame.builds import Build
from frontload.blame.git import Commit, Repository
from frontload.blame.lives import Event
from frontload.blame.versions import Version
from frontload.elf.code import Code
from frontload.profile.startup_profile import Name

CODE = "code"  # how a name was found that another function's code is the same
_HEAD = "HEAD"


@dataclass(frozen=True)
class Seen:
    """A build from between two versions, and whether it has a name."""

    label: str
    has: bool


@dataclass(frozen=True)
class Loss:
    """Where a name was lost: between `first` and `last`, which say what has it and what lacks it.
    `commits` are those from one to the other, None where git does not tell. `in_program` if the
    build of the version that lacks the name still has it, None if no build tells. `now` is the
    function that has its code."""

    first: str
    last: str
    commits: int | None
    suspects: list[Commit]
    builds: list[Seen]
    in_program: bool | None
    now: Code | None


class Timeline:
    """The versions of a profile, and builds between them.

    repository: None if the versions are files
    given: builds by their version: a revision of git, or one of the files
    tracked: paths of objects that git has, in the repository
    folder: where their contents may be kept
    """

    def __init__(self, versions: Sequence[Version], repository: Repository | None,
                 given: dict[str, list[str]], tracked: Sequence[str], folder: Path):
        self._versions, self._repository, self._folder = versions, repository, folder
        self._tracked = [repository.tracked(path) for path in tracked] if repository else []
        self._keys = [self._key_of(version) for version in versions]
        self._given: dict[str, Build] = {}
        for version, paths in given.items():
            key, label = self._key(version)
            if key in self._given:
                raise Failure(f"--build: {version}: given twice, under another name",
                              note="give all files of a build under one name")
            self._given[key] = reading.read(label, paths)
        self._orders: dict[tuple[int, int], list[str]] = {}
        self._builds: dict[tuple[int, int], list[tuple[str, Build]]] = {}
        self._from_git: dict[str, Build | None] = {}
        self._has: dict[tuple[int, str], dict[Name, bool]] = defaultdict(dict)
        self._now: dict[tuple[int, int], dict[bytes, Code]] = defaultdict(dict)

    def likeness(self, before: int, after: int, gone: Sequence[Name],
                 come: Sequence[Name]) -> dict[Name, tuple[Name, str]]:
        """Which names that are gone have their code in one that has come (lives.Likeness)."""
        builds = self._between(before, after)
        if len(builds) < 2 or not gone:
            return {}
        has = [self._having(before, key, build, gone) for key, build in builds]
        lost_in: dict[int, list[Name]] = defaultdict(list)
        for name in gone:
            last = max((place for place, names in enumerate(has) if name in names), default=None)
            if last is not None and last + 1 < len(builds) and name.kind == "function":
                lost_in[last].append(name)
        for place, names in lost_in.items():
            old, new = builds[place][1], builds[place + 1][1]
            for each in (old, new):
                if not each.functions:
                    errors.note(f"{each.label}: tells nothing of code: give its objects, or link "
                                "it with --emit-relocs")
            self._now[before, after] |= reading.same_code(old, new, [name.name for name in names])
        arrived = {name.name: name for name in come if name.kind == "function"}
        return {name: (arrived[same.symbol], CODE) for names in lost_in.values() for name in names
                if (same := self._now[before, after].get(name.name)) and same.symbol in arrived}

    def losses(self, events: Sequence[tuple[Event, str]]) -> list[Loss]:
        """What is known of the losses of names, in their order; each with what sources call it, to
        look for commits that say it more or less often, or with an empty text."""
        together: dict[tuple[int, int], list[Name]] = defaultdict(list)
        for event, _ in events:
            together[event.before, event.after].append(event.name)
        seen = {(before, after): self._seen(before, after, names)
                for (before, after), names in together.items()}
        return [self._loss(event, word, seen[event.before, event.after]) for event, word in events]

    def _seen(self, before: int, after: int,
              names: Sequence[Name]) -> list[tuple[str, str, set[Name]]]:
        """The builds from between two versions: what each is of, how that is shown, and which of
        these names of the older version it has."""
        builds = {key: build for step in range(before, after)
                  for key, build in self._between(step, step + 1)}
        return [(key, build.label, self._having(before, key, build, names))
                for key, build in builds.items()]

    def _having(self, number: int, key: str, build: Build, names: Sequence[Name]) -> set[Name]:
        """Which of these names of a version a build has. It is asked once for each."""
        known = self._has[number, key]
        unknown = [name for name in names if name not in known]
        has = build.has(unknown, self._versions[number].profile)
        known.update((name, name in has) for name in unknown)
        return {name for name in names if known[name]}

    def _loss(self, event: Event, word: str, seen: list[tuple[str, str, set[Name]]]) -> Loss:
        name = event.name
        first, last = self._versions[event.before], self._versions[event.after]
        first_key, last_key = self._keys[event.before], self._keys[event.after]
        labels = [first.label, last.label]
        has = [name in names for _, _, names in seen]
        behind = max((place + 1 for place, each in enumerate(has) if each), default=0)
        # If the build of the first version lacks what a start of it touched, the name is in no part
        # of the builds, as far as these tell: then nothing follows from others that lack it.
        tells = behind or (seen and seen[0][0] != first_key)
        in_program = False if tells and behind < len(seen) else None
        if behind and seen[behind - 1][0] == last_key:
            in_program = True  # a start lost it, not the program
        elif behind:
            first_key, labels[0], _ = seen[behind - 1]
        if in_program is False:
            last_key, labels[1], _ = seen[behind]
        between, suspects = None, []
        if self._repository:
            between = len(self._repository.between(first_key, last_key))
            if word:
                suspects = self._repository.between(
                    first_key, last_key, f"-S{word}", "--",
                    *(f":(top,exclude,literal){path}" for path in sorted({first.path, last.path})))
        now = next((code for step in range(event.before, event.after)
                    if (code := self._now[step, step + 1].get(name.name))), None)
        builds = [Seen(label, each) for (_, label, _), each in zip(seen, has, strict=True)]
        return Loss(*labels, between, suspects, builds, in_program, now)

    def _key(self, version: str) -> tuple[str, str]:
        """What a version is known by, and what it is shown as."""
        if self._repository:
            commit = self._repository.commit(version)
            return commit.hash, f"the build of {commit}"
        if version not in [each.label for each in self._versions]:
            raise Failure(f"--build: {version}: is none of the profiles",
                          note="a build is of one of the profiles, by the path that you gave")
        return version, f"the build of {version}"

    def _key_of(self, version: Version) -> str:
        if not self._repository:
            return version.label
        return (version.commit or self._repository.commit(_HEAD)).hash

    def _order(self, before: int, after: int) -> list[str]:
        """The versions that a build between two can be of, in their order."""
        if (before, after) not in self._orders:
            first, last = self._keys[before], self._keys[after]
            self._orders[before, after] = [first, last] if not self._repository else [
                first, *(commit.hash for commit in self._repository.between(first, last))]
        return self._orders[before, after]

    def _between(self, before: int, after: int) -> list[tuple[str, Build]]:
        if (before, after) not in self._builds:
            order = self._order(before, after) if self._given or self._tracked else []
            found = {key: self._given[key] for key in order if key in self._given}
            if self._tracked and order:
                changed = self._repository.between(order[0], order[-1], "--", *(
                    f":(top,literal){path}" for path in self._tracked))
                first, last = map(self._repository.commit, (order[0], order[-1]))
                for commit in (first, *changed, last):
                    if commit.hash not in found and (build := self._checked_out(commit)):
                        found[commit.hash] = build
            self._builds[before, after] = [(key, found[key]) for key in order if key in found]
        return self._builds[before, after]

    def _checked_out(self, commit: Commit) -> Build | None:
        """The tracked objects as a commit has them; None if it has none."""
        if commit.hash not in self._from_git:
            paths = []
            for number, path in enumerate(self._tracked):
                data = self._repository.contents(commit.hash, path)
                if data is not None:
                    place = self._folder / commit.hash / str(number) / os.path.basename(path)
                    place.parent.mkdir(parents=True)
                    place.write_bytes(data)
                    paths.append(os.fspath(place))
            self._from_git[commit.hash] = reading.read(f"the build of {commit}",
                                                       paths) if paths else None
        return self._from_git[commit.hash]
