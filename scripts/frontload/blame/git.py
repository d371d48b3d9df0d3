"""What git knows of a file: its versions, and the commits between two of them.

git is asked by its command line, as a user would ask it. Nothing is written.
"""

import os
import subprocess
from typing import NamedTuple

from frontload.base.errors import EXIT_DATA, Failure
from frontload.base.tools import program

_INSTALL = "install git, or give the versions of the profile as files, the oldest first"
_FORMAT = "%H%x00%h%x00%cs%x00%s"
_BEGIN = b"\2"


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
        self.root = os.fsdecode(self._ask("rev-parse", "--show-toplevel")).rstrip("\n")

    def inside(self, path: str) -> str:
        """A path from the root."""
        return os.path.relpath(os.path.realpath(path), os.path.realpath(self.root))

    def versions(self, path: str) -> list[tuple[Commit, str]]:
        """The commits that changed a file, the oldest first, with what it was called there, from
        the root; also before it was renamed."""
        asked = self._ask("log", "--follow", "-M", f"--format=%x02{_FORMAT}", "--name-only", "-z",
                          "--", os.path.abspath(path))
        found = []
        for part in asked.split(_BEGIN)[1:]:
            *fields, name = [field.strip(b"\n") for field in part.rstrip(b"\0").split(b"\0")
                             if field.strip(b"\n")]
            found.append((_commit(fields), os.fsdecode(name)))
        return found[::-1]

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
        """The commits that the new one has and the old one has not, parents first."""
        return self._commits("--topo-order", "--reverse", f"{old}..{new}", *options)

    def _commits(self, *arguments: str) -> list[Commit]:
        asked = self._ask("log", f"--format=%x02{_FORMAT}", *arguments)
        return [_commit(part.rstrip(b"\n").split(b"\0")) for part in asked.split(_BEGIN)[1:]]

    def _ask(self, *arguments: str, may_fail: bool = False) -> bytes | None:
        result = subprocess.run([self._git, "-C", self._folder, *arguments], capture_output=True,
                                stdin=subprocess.DEVNULL, check=False)
        if result.returncode == 0:
            return result.stdout
        if may_fail:
            return None
        said = result.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise Failure(f"{self._folder}: {said or 'git ended with ' + str(result.returncode)}",
                      code=EXIT_DATA, note="give a profile that is checked in, or its versions as "
                      "files, the oldest first")


def _commit(fields: list[bytes]) -> Commit:
    return Commit(*(field.decode("utf-8", "replace") for field in fields[:4]))
