"""What starts ask for of a file before they need it, for `check`, `predict` and `report`.

The file's note has its front, or, if another linker made it, what `frontload finish` has noted. A
prefetch list is given, or is one that `frontload-run --learn` keeps. As at a start, a list counts
only if the file is still as it was listed.
"""

import glob
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypedDict

from frontload.base import console
from frontload.base.arrays import np
from frontload.base.console import say
from frontload.base.errors import Failure, count, percent, warning
from frontload.base.intervals import columns
from frontload.base.spans import Spans
from frontload.elf import front
from frontload.elf.file import Elf
from frontload.profile.coverage import Report
from frontload.reading import listing
from frontload.reading.listing import PAGE, PrefetchList

FRONT, NOTE, LIST, LEARNT, ALL = "front", "note", "list", "learnt", "all"
_TITLES = {FRONT: "the front", NOTE: "its note, of another linker",
           LEARNT: "learnt on this machine", ALL: "all of these"}
_MAX_NAME = 64  # instrument/prefetch/learnt_list.c
_MAX_SHOWN = 5
Share = TypedDict("Share", {
    "by": str,  # front; note (of another linker); list; learnt; or all of these
    "list": str | None,  # its path
    "names": int, "pages": int,  # of the profile, and of a start with it
    "bytes": int})  # that are asked for
Shares = TypedDict("Shares", {
    "pages": int,  # that a start with the profile touches, by frontload-predict
    "by": list[Share], "unasked_names": list[str], "unasked_pages": int})


class Asked(NamedTuple):
    """The whole pages that a note or list asks for."""

    by: str
    list: str | None
    pages: Spans


def by_note(elf: Elf) -> list[Asked]:
    """What the note asks for, if there is one."""
    begin, end = columns([*front.ranges_of(elf), *front.tail_of(elf)])
    pages = Spans(begin // PAGE * PAGE, -(-end // PAGE) * PAGE)
    return [Asked(FRONT if front.has_front(elf) else NOTE, None, pages)] if len(pages) else []


def read(paths: Sequence[str]) -> dict[str, PrefetchList]:
    """Lists that are given, by path; a folder has several."""
    return {path: listing.read(path) for path in listing.find(paths)}


def by_lists(lists: Mapping[str, PrefetchList], path: str, kind: str = LIST) -> list[Asked]:
    """What these lists ask for of the file at `path`; none of those that do not name it as it is
    here."""
    with suppress(OSError):
        here, status, found = os.path.realpath(path), os.stat(path), []
        for name, each in lists.items():
            for file in each.pages:
                if (file.path, file.size, file.changed_ns) == (here, status.st_size,
                                                               status.st_mtime_ns):
                    first = np.array(list(each.pages[file]), np.int64) * PAGE
                    found.append(Asked(kind, name, Spans(first, first + PAGE)))
        return found
    return []


def by_learnt_list(path: str) -> list[Asked]:
    """What `frontload-run --learn` has learnt last of the program at `path`, on this machine."""
    state, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    folder = Path(state if os.path.isabs(state) else os.path.join(home, ".local/state"),
                  "frontload")
    names = {os.fsdecode(os.fsencode(os.path.basename(each))[:_MAX_NAME])
             for each in (path, os.path.realpath(path))}
    found = []
    for name in names if folder.is_absolute() else ():
        for each in folder.glob(f"{glob.escape(name)}-{'[0-9a-f]' * 16}{listing.SUFFIX}"):
            with suppress(Failure, OSError):  # as at a start, without a message
                if each.is_file():
                    found += [(each.stat().st_mtime_ns, asked) for asked in by_lists(
                        {str(each): listing.read(each)}, path, LEARNT)]
    return [max(found, key=lambda each: each[0])[1]] if found else []


def of_program(elf: Elf, lists: Mapping[str, PrefetchList], path: str) -> list[Asked]:
    """All of these, and in the end what they ask for together, if they are several."""
    found = [*by_note(elf), *by_lists(lists, path)]
    for name in lists.keys() - {each.list for each in found}:
        warning(f"{name}: does not list {path} as it is here, so a start asks for nothing of it")
    found += by_learnt_list(path)
    if len(found) > 1:
        found.append(Asked(ALL, None, union(found)))
    return found


def union(asked: Sequence[Asked]) -> Spans:
    return Spans(*(np.concatenate([getattr(each.pages, side) for each in asked])
                   for side in ("start", "end"))) if asked else Spans.none()


def shares(asked: Sequence[Asked], report: Report, touched: Sequence[tuple[int, int]]) -> Shares:
    """How much of a profile each asks for; the last asks for all. `touched`: first page and number
    of pages, as of from_profile.pages_of."""
    first, number = (each * PAGE for each in columns(touched))
    has = [int(each.pages.between(first, first + number).sum()) // PAGE for each in asked]
    pages = int(number.sum()) // PAGE
    return {"pages": pages, "unasked_pages": pages - has[-1],
            "unasked_names": [name.name.decode("utf-8", "backslashreplace")
                              for name in report.unasked],
            "by": [{"by": each.by, "list": each.list, "names": names, "pages": mine,
                    "bytes": each.pages.size}
                   for each, names, mine in zip(asked, report.asked, has, strict=True)]}


def show(found: Shares, names: int) -> None:
    """A table of what each asks for, and the names that none of them asks for."""
    table = console.table("a start asks for", "names", "pages", "MB", numbers=range(1, 4))
    for row in found["by"]:
        console.add_row(table, _TITLES.get(row["by"]) or os.path.basename(row["list"] or ""),
                        percent(row["names"], names), percent(row["pages"], found["pages"] or 1),
                        f"{row['bytes'] / 1e6:.2f}")
    console.show(table)
    for row in found["by"]:
        if row["by"] == LEARNT:
            say(f"learnt by frontload-run --learn: {row['list'] or ''}")
    unasked = found["unasked_names"]
    if unasked or found["unasked_pages"]:
        say(
            f"nothing asks for {count(len(unasked), 'name')} and "
            f"{count(found['unasked_pages'], 'page')} of {found['pages']:,}"
            + (": " if unasked else "") + ", ".join(unasked[:_MAX_SHOWN])
            + (f", and {len(unasked) - _MAX_SHOWN} more" if len(unasked) > _MAX_SHOWN else ""))
