"""The versions of a startup profile, from the oldest to the newest: those that git has of a file,
or files.
"""

import os
from dataclasses import dataclass

from frontload.base import errors, files
from frontload.base.errors import BadData, Failure
from frontload.blame.git import Commit, Repository
from frontload.profile import format as profile
from frontload.profile.startup_profile import Profile


@dataclass(frozen=True)
class Version:
    """`commit` is None for a file, and for changes that are in no commit yet."""

    label: str
    profile: Profile
    path: str
    commit: Commit | None = None


def of_files(paths: list[str]) -> list[Version]:
    return [Version(path, profile.read(path), path) for path in paths]


def of_git(repository: Repository, path: str) -> list[Version]:
    """All versions that differ from the one before, and the file itself if it is not checked in as
    it is, or as a merge has made it. One that cannot be read, such as of an old format, is told and
    left out."""
    found, last, left_out = [], None, 0
    for commit, name in repository.versions(path):
        data = repository.contents(commit.hash, name)
        if data is None or data == last:
            continue
        last = data
        try:
            found.append(Version(str(commit), _parse(data, f"{commit.short}:{name}"), name, commit))
        except BadData as problem:
            left_out += 1
            errors.warning(f"{problem}: this version is left out")
    if os.path.isfile(path):
        with files.open_input(path) as stream:
            data = stream.read()
        if data != last:
            name = repository.inside(path)
            # A merge is none of the versions above, whatever it made of the file.
            commit = repository.newest(name) if data == repository.contents("HEAD", name) else None
            found.append(Version(str(commit or f"{path} (not committed)"), _parse(data, path), name,
                                 commit))
    if not found:
        raise Failure(f"{path}: git has no version of it" + (
            " that can be read" if left_out else ""), note="check it in, or give its versions as "
            "files, the oldest first")
    return found


def _parse(data: bytes, path: str) -> Profile:
    found = profile.parse(data, path)
    if not found.touches:
        raise BadData(path, "the startup profile has no entries", note="leave this version out")
    return found
