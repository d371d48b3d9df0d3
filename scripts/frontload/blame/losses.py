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
from frontload.profile.format import Name

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
    last build there is still has it. `now` is the function that has its code."""

    first: str
    last: str
    commits: int | None
    suspects: list[Commit]
    builds: list[Seen]
    in_program: bool
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
        self._tracked = [repository.inside(path) for path in tracked] if repository else []
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
        self._has: dict[tuple[int, int], list[set[Name]]] = {}
        self._now: dict[tuple[int, int], dict[bytes, Code]] = defaultdict(dict)

    def likeness(self, before: int, after: int, gone: Sequence[Name],
                 come: Sequence[Name]) -> dict[Name, tuple[Name, str]]:
        """Which names that are gone have their code in one that has come (lives.Likeness)."""
        builds = self._between(before, after)
        if len(builds) < 2 or not gone:
            return {}
        has = [build.has(gone, self._versions[before].profile) for _, build in builds]
        self._has[before, after] = has
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

    def loss(self, event: Event, word: str = "") -> Loss:
        """What is known of the loss of a name; `word` is what sources call it, to look for commits
        that say it more or less often."""
        name = event.name
        first, last = self._versions[event.before], self._versions[event.after]
        first_key, last_key = self._key_of(event.before), self._key_of(event.after)
        labels = [first.label, last.label]
        seen, now = [], None
        for step in range(event.before, event.after):
            builds = self._between(step, step + 1)
            has = self._has.get((event.before, event.after)) or [
                build.has([name], self._versions[event.before].profile) for _, build in builds]
            seen += [(key, Seen(build.label, name in names))
                     for (key, build), names in zip(builds, has, strict=True)
                     if key not in [known for known, _ in seen]]
            now = now or self._now[step, step + 1].get(name.name)
        for key, each in seen:
            if each.has:
                first_key, labels[0] = key, each.label
        in_program = bool(seen) and seen[-1][1].has
        if in_program:  # a start lost it, not the program
            first_key, labels[0] = self._key_of(event.before), first.label
        else:
            known = [key for key, _ in seen]
            behind = known.index(first_key) + 1 if first_key in known else 0
            if seen[behind:] and first_key in known:
                last_key, labels[1] = known[behind], seen[behind][1].label
        between, suspects = None, []
        if self._repository:
            between = len(self._repository.between(first_key, last_key))
            if word:
                suspects = self._repository.between(
                    first_key, last_key, f"-S{word}", "--",
                    *(f":(top,exclude,literal){path}" for path in sorted({first.path, last.path})))
        return Loss(*labels, between, suspects, [each for _, each in seen], in_program, now)

    def _key(self, version: str) -> tuple[str, str]:
        """What a version is known by, and what it is shown as."""
        if self._repository:
            commit = self._repository.commit(version)
            return commit.hash, f"the build of {commit}"
        if version not in [each.label for each in self._versions]:
            raise Failure(f"--build: {version}: is none of the profiles",
                          note="a build is of one of the profiles, by the path that you gave")
        return version, f"the build of {version}"

    def _key_of(self, number: int) -> str:
        version = self._versions[number]
        if not self._repository:
            return version.label
        return version.commit.hash if version.commit else self._repository.commit(_HEAD).hash

    def _order(self, before: int, after: int) -> list[str]:
        """The versions that a build between two can be of, in their order."""
        if (before, after) not in self._orders:
            first, last = self._key_of(before), self._key_of(after)
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
                for commit in [self._repository.commit(order[0]), *changed]:
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
