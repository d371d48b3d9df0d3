"""Which parts of a folder's files a start touches: by prefetch lists, and by the files' fronts."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from frontload.base.errors import BadData, Diagnostics, Failure
from frontload.elf import front
from frontload.elf.file import read as read_elf
from frontload.reading import listing
from frontload.reading.listing import PAGE

_ELF = b"\x7fELF"
# The runtime of an AppImage mounts it at a path that is new each time.
_MOUNTED = "/.mount_"


@dataclass
class Hot:
    """The hot parts of one file: for each page, the share of starts that touch it."""

    rank: int  # of its first touch
    pages: dict[int, float] = field(default_factory=dict)

    def share(self, begin: int, end: int) -> float:
        """The largest share of starts that touch one of these bytes."""
        return max((self.pages.get(page, 0.0) for page in range(begin // PAGE, -(-end // PAGE))),
                   default=0.0)


def find(folder: Path, lists: Sequence[str], root: str, messages: Diagnostics
         ) -> dict[str, Hot]:
    """The hot files of a folder by their paths in it, in the order of first touch.

    `root`: where the folder was when the lists were recorded. Fronts count only of listed files, or
    of all files if there is no list.
    """
    merged = listing.PrefetchList()
    for each in listing.find(lists):
        merged.add(listing.read(each))
    found: dict[str, Hot] = {}
    changed = []
    for file in merged.in_order():
        name = _inside(file.path, root)
        path = folder / (name or "")
        if name is None or not path.is_file() or path.is_symlink():
            continue
        # The times of an image are whole seconds, or those of its build.
        if path.stat().st_size != file.size:
            changed.append(name)
            continue
        found[name] = Hot(len(found), {page: touch.runs / max(merged.runs, 1)
                                       for page, touch in merged.pages[file].items()})
    if changed:
        messages.warning(f"{changed[0]}: has another size than in the list, and counts as cold"
                         + (f"; {len(changed) - 1} more" if len(changed) > 1 else ""))
    if lists and not found:
        raise Failure(f"{folder}: the lists name no file there",
                      note="--root has the folder in which they were recorded")
    for name in list(found) or sorted(_files(folder)):
        if ranges := _front(folder / name):
            hot = found.setdefault(name, Hot(len(found)))
            for begin, end in ranges:
                hot.pages.update(dict.fromkeys(range(begin // PAGE, -(-end // PAGE)), 1.0))
    return found


def _inside(path: str, root: str) -> str | None:
    """The path in the folder of a listed path; None if it is elsewhere."""
    if _MOUNTED in path:
        return path.partition(_MOUNTED)[2].partition("/")[2] or None
    prefix = root.rstrip("/") + "/"
    return path.removeprefix(prefix) if path.startswith(prefix) else None


def _files(folder: Path) -> list[str]:
    return [os.path.relpath(os.path.join(at, name), folder)
            for at, _, names in os.walk(folder) for name in names]


def _front(path: Path) -> list[front.Range]:
    """What the program or library asks for when it starts."""
    if path.is_symlink() or not path.is_file():
        return []
    with open(path, "rb") as stream:
        if stream.read(len(_ELF)) != _ELF:
            return []
    try:
        return front.ranges_of(read_elf(str(path)))  # its tail is for other starts
    except BadData:  # a damaged file is packed like any other
        return []
