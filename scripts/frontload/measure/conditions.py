"""The conditions that a run starts from: how each is set up, and verified.

cold              all that the kernel lets go is dropped from the page cache. Pages that other
                  processes have mapped (their C library) or locked stay; the result says how many
                  of them are of files that the run was seen to read
selectively cold  only named files are evicted, and the rest of the system stays warm: as for a user
                  who starts a program after not using it for a while
warm              all pages of the named files are present
as it is          the page cache is left alone, and nothing is verified

named    the files that the measurement is about: by default the variant's binary. Before every run
         they are verified to be cold or warm; otherwise the run is refused
seen     further files that the run was seen to read (see seen.py): they are observed, evicted on
         request, and the result reports which of their pages stay
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from frontload.base.errors import Diagnostics, Failure

if TYPE_CHECKING:  # loading numpy takes a while, and the conditions alone do not need it
    from frontload.pagecache.residency import Residency

COLD, SELECTIVELY_COLD, WARM = "cold", "selectively cold", "warm"
AS_IT_IS = "as it is"
ORDER = COLD, SELECTIVELY_COLD, WARM  # of measurement

Known = TypeVar("Known")


def all_known(values: Sequence[Known | None]) -> list[Known] | None:
    """The values; None if one of them is None."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


@dataclass(frozen=True)
class FileState:
    """One file around one run. None: the kernel hides it from us (see pagecache.may_look)."""

    before: "Residency | None"
    after: "Residency | None"
    named: bool = True

    @property
    def read(self) -> "Residency | None":
        """The pages that the run brought in."""
        if self.before is None or self.after is None:
            return None
        return self.after.without(self.before)


class Conditions:
    """Brings files into conditions, by the given page cache."""

    def __init__(self, cache: ModuleType, diagnostics: Diagnostics | None = None, *,
                 allow_warm: bool = False, evict_seen: bool = False):
        self._diagnostics = diagnostics or Diagnostics()
        self._cache, self._allow_warm, self._evict_seen = cache, allow_warm, evict_seen
        self._visible: dict[str, bool] = {}

    def check(self, files: Iterable[str], conditions: Sequence[str]) -> None:
        """Refuses files that cannot be measured, before anything is run."""
        if COLD in conditions and not self._cache.may_drop_everything():
            raise Failure("cold: only root can drop everything from the page cache",
                          note="measure as root, or use --selectively-cold, with --evict-seen for "
                               "all files that the command reads")
        for file in files:
            self._visible[file] = self._check(file, conditions)

    def _check(self, file: str, conditions: Sequence[str]) -> bool:
        if not os.path.isfile(file):
            os.stat(file)  # its error says why the file is not there
            raise Failure(f"{file}: is not a regular file",
                          note="name files whose pages the page cache can hold")
        with open(file, "rb") as stream:
            if stream.read(2) == b"#!":
                self._diagnostics.warning(f"{file}: is a script: its faults belong to its "
                                          "interpreter, whose file stays in the cache unless "
                                          "--evict names it")
        if self._cache.may_look(file):
            return True
        if any(condition != WARM for condition in conditions) and not self._allow_warm:
            self._cache.residency(file)  # its error says why
        return False

    def invisible(self) -> list[str]:
        """The files whose residency the kernel does not tell us."""
        return [file for file, visible in self._visible.items() if not visible]

    def bring_about(self, condition: str, named: Sequence[str],
                    seen: Sequence[str]) -> "dict[str, Residency | None]":
        """Returns the resident pages of each file just before the run."""
        visible = [file for file in named if self._visible[file]]
        hidden = [file for file in named if not self._visible[file]]
        if condition == WARM:
            for file in visible:
                self._cache.make_warm(file)
            for file in hidden:
                self._cache.load(file)
        else:
            if condition == COLD:
                self._cache.drop_everything()
            if self._allow_warm:
                hidden, visible = list(named), []
            for file in hidden:
                self._cache.drop(file)
            if visible:
                self._cache.make_cold(*visible)
            if seen and (condition == COLD or self._evict_seen):
                self._cache.try_to_drop(*seen)
        before = {file: self._cache.residency(file) if self._visible[file] else None
                  for file in named}
        return before | {file: self._cache.residency(file) for file in seen}

    def after(self, before: "dict[str, Residency | None]",
              named: Sequence[str]) -> dict[str, FileState]:
        """The resident pages of each file once all reads of the run have ended."""
        self._cache.settle(*(file for file, state in before.items() if state is not None))
        return {file: FileState(state, None if state is None else self._cache.residency(file),
                                file in named)
                for file, state in before.items()}
