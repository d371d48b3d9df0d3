"""Prefetch lists from startup profiles: of builds that were never recorded.

frontload-predict finds what a start with a profile touches of one file
(tools/predict/startup_pages.h says how). This pairs profiles with files, and makes a list of them.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from frontload.base import files
from frontload.base.errors import Diagnostics, Failure
from frontload.elf import dependencies
from frontload.measure.prediction import ask_predictor
from frontload.profile import format as profile_format
from frontload.profile import match
from frontload.profile.format import unescape
from frontload.reading.listing import MAP, PrefetchList, Touch
from frontload.reading.record import identity

_PREFIX = len(profile_format.MAGIC) + 1


@dataclass(frozen=True)
class Touched:
    """What a start with a profile touches of a file. `pages`: first page and number of pages, in
    the order of first touch, no page twice. `found`: how many names of the profile the file has;
    `missing`: those that it lacks, of those that count."""

    pages: list[tuple[int, int]]
    found: int
    missing: list[bytes]


def pages_of(profile: PathLike[str] | str, binary: PathLike[str] | str) -> Touched:
    answer = ask_predictor("--startup-profile", profile, "--", binary,
                           evidence="the profile and the program")
    return Touched([(first, count) for first, count in answer["pages"]], answer["found"],
                   [unescape(name.encode()) for name in answer["missing"]])


def is_profile(path: PathLike[str] | str) -> bool:
    """Whether a file begins like a startup profile; a pipe, which can be read only once, is none.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        return False
    with files.open_input(path, note="make it with frontload profile") as stream:
        return stream.read(_PREFIX) == profile_format.MAGIC + b" "


def make(profiles: Sequence[str], binaries: Sequence[str], min_match: float,
         diagnostics: Diagnostics) -> PrefetchList:
    """The list of one start: of each profile's file, which is one of `binaries` or a library that
    the first of them needs. Fails if less than `min_match` percent of a profile's names is found.
    """
    scope = list(binaries)
    if len(profiles) > len(binaries):
        scope += [each for each in dependencies.needed(binaries[0])
                  if os.path.realpath(each) not in map(os.path.realpath, binaries)]
    found, rank = PrefetchList(runs=1), 0
    for profile, binary in _pairs(profiles, binaries, scope):
        touched = pages_of(profile, binary)
        match.judge(profile, touched.found, touched.missing, min_match, diagnostics)
        pages = found.pages.setdefault(identity(os.path.realpath(binary)), {})
        for first, count in touched.pages:
            for page in range(first, first + count):
                pages[page] = Touch(rank, 1, MAP)
                rank += 1
    return found


def _pairs(profiles: Sequence[str], binaries: Sequence[str], scope: Sequence[str]
           ) -> list[tuple[str, str]]:
    """Each profile with its file, in the order of `scope`: by name, and what is left by itself."""
    left, pairs = list(profiles), {}
    if len(profiles) > 1 or len(binaries) > 1:
        names = {path: plain_name(os.fsdecode(profile_format.read(path).program))
                 for path in profiles}
        for binary in scope:
            mine = next((path for path in left if names[path] in (
                plain_name(binary), plain_name(os.path.realpath(binary)))), None)
            if mine:
                pairs[binary] = mine
                left.remove(mine)
    lonely = [binary for binary in binaries if binary not in pairs]
    if len(left) == len(lonely) == 1:
        pairs[lonely.pop()] = left.pop()
    for path in left:
        raise Failure(f"{path}: is of no given file, and of no library that {binaries[0]} needs",
                      note="name its program or library with --binary")
    for binary in lonely:
        raise Failure(f"{binary}: no given profile is of this file",
                      note="make one: frontload profile --program NAME")
    return [(pairs[binary], binary) for binary in scope if binary in pairs]


def plain_name(path: str) -> str:
    """A file's name without the version behind .so, as profiles are named."""
    return re.sub(r"(\.so)\.\d.*$", r"\1", os.path.basename(path))
