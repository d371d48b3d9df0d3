"""What git knows of a file: its versions, and the commits between two of them.

git is asked by its command line, as a user would ask it. Nothing is written.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from frontload.base.errors import EXIT_DATA, Failure
from frontload.base.tools import program

_INSTALL = "install git, or give the versions of the profile as files, the oldest first"
_FORMAT = "--format=%H%x00%h%x00%cs%x00%s"
# Settings of users that change what git log lists and writes.
_SETTINGS = ("diff.relative=false", "log.follow=false", "log.showRoot=true",
             "log.showSignature=false", "i18n.logOutputEncoding=UTF-8")


class Commit(NamedTuple):
    hash: str
    short: str
    date: str  # of the commit, as YYYY-MM-DD
    subject: str

    def __str__(self) -> str:
        return f"{self.short} ({self.date}, {self.subject})"


class Repository:
    """The repository that a file is in. Fails if it is in none."""

    def __init__(self, path: str):
        self._git = os.fspath(program("git", _INSTALL))
        self._folder = os.path.dirname(os.path.abspath(path))
        # GIT_LITERAL_PATHSPECS and the like would change what the paths below mean.
        self._environment = {name: value for name, value in os.environ.items()
                             if not name.endswith("_PATHSPECS")}
        self._known: dict[tuple[str, ...], list[Commit]] = {}
        self.root = os.fsdecode(self._ask("rev-parse", "--show-toplevel")).rstrip("\n")

    def inside(self, path: str) -> str:
        """A path from the root."""
        return os.path.relpath(os.path.realpath(path), os.path.realpath(self.root))

    def tracked(self, path: str) -> str:
        """The same of a file that a commit has, whether or not it is there now. Fails if none has.
        """
        inside = self.inside(path)
        if os.pardir in Path(inside).parts:
            raise Failure(f"{path}: lies outside of the repository {self.root}", note="give the "
                          "objects that are checked in with the profile; --build takes others")
        commits = self._commits("-1", "-m", "--diff-filter=AMT", "HEAD", "--",
                                f":(top,literal){inside}")
        if not commits or self.contents(commits[0].hash, inside) is None:
            raise Failure(f"{path}: no commit has a file of this name", note="give an object, an "
                          "archive or a program that is checked in; --build takes others")
        return inside

    def versions(self, path: str) -> list[tuple[Commit, str]]:
        """The commits that changed a file, the oldest first, with what it was called there, from
        the root; also before it was renamed. Merges are none of them."""
        asked = self._ask("log", "--follow", "-M", _FORMAT, "--name-only", "-z", "--",
                          f":(top,literal){self.inside(path)}")
        # git begins a line before each name.
        return [(commit, os.fsdecode(name.removeprefix(b"\n")))
                for commit, name in reversed(list(_entries(asked, 1)))]

    def newest(self, path: str) -> Commit | None:
        """The commit, which may be a merge, by which a file became what HEAD has; None if no commit
        has it. The path is from the root."""
        found = self._commits("-1", "--full-history", "HEAD", "--", f":(top,literal){path}")
        return found[0] if found else None

    def contents(self, commit: str, path: str) -> bytes | None:
        """A file as a commit has it; None if it has none there."""
        return self._ask("cat-file", "blob", f"{commit}:{path}", may_fail=True)

    def commit(self, revision: str) -> Commit:
        """What a user calls a commit: a hash, a tag, a branch, HEAD~3."""
        hash = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options",
                         f"{revision}^{{commit}}", may_fail=True)
        if hash is None:
            raise Failure(f"{revision}: git knows no commit of this name",
                          note="give a hash, a tag or a branch of the repository of the profile")
        return self._commits("--no-walk", hash.decode().strip())[0]

    def between(self, old: str, new: str, *options: str) -> list[Commit]:
        """The commits that the new one has and the old one has not, parents first. git is asked
        once for the same."""
        return self._commits("--topo-order", "--reverse", f"{old}..{new}", *options)

    def _commits(self, *arguments: str) -> list[Commit]:
        if arguments not in self._known:
            asked = self._ask("log", "-z", _FORMAT, *arguments)
            self._known[arguments] = [commit for commit, *_ in _entries(asked)]
        return self._known[arguments]

    def _ask(self, *arguments: str, may_fail: bool = False) -> bytes | None:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        result = subprocess.run([self._git, *settings, "-C", self._folder, *arguments],
                                capture_output=True, stdin=subprocess.DEVNULL, check=False,
                                env=self._environment)
        if result.returncode == 0:
            return result.stdout
        if may_fail:
            return None
        said = result.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise Failure(f"{self._folder}: {said or 'git ended with ' + str(result.returncode)}",
                      code=EXIT_DATA, note="give a profile that is checked in, or its versions as "
                      "files, the oldest first")


def _entries(said: bytes, more: int = 0) -> Iterator[tuple[Commit, *tuple[bytes, ...]]]:
    """Commits, each with so many more fields. Any field may be empty."""
    fields, number = said.split(b"\0"), len(Commit._fields)
    for first in range(0, len(fields) - 1, number + more):
        commit = (field.decode("utf-8", "replace") for field in fields[first:first + number])
        yield Commit(*commit), *fields[first + number:first + number + more]
