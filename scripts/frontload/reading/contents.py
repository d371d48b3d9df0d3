"""Prefetch lists of files that were written again with the same contents.

A list identifies a recorded file by size and time. An image that is built again, or a package that
is installed again, has the same contents with another time. The build-id of an ELF file shows this,
and for other files a hash, which is in the list on request. Reading whole files for their hashes
takes too long at a start, so a list is renewed beforehand.
"""

from dataclasses import replace

from frontload.base import files
from frontload.base.errors import Failure
from frontload.reading import record
from frontload.reading.listing import File, PrefetchList


def add_hashes(touched: PrefetchList) -> list[str]:
    """Adds the hashes of the files without a build-id. Returns the paths of files that cannot be
    read, or have changed since they were recorded."""
    left_out = []
    for file in touched.in_order():
        if file.build_id:
            continue
        found = _hash(file)
        if found:
            touched.sha256[file] = found
        else:
            left_out.append(file.path)
    return left_out


def _hash(file: File) -> str | None:
    """The hash of a file that is as recorded, before and after it is read."""
    try:
        with open(file.path, "rb") as stream:
            found = files.sha256(stream)
        return found if record.identity(file.path) == file else None
    except (OSError, Failure):
        return None


def renew(touched: PrefetchList) -> tuple[PrefetchList, int, list[str]]:
    """The list for the files as they are here: those with the same contents get their times. Also
    their number, and the paths of files that are missing or have other contents: as they were."""
    found, renewed, others = PrefetchList(touched.runs), 0, []
    for file, pages in touched.pages.items():
        kept = file
        try:
            here = record.identity(file.path)
        except (OSError, Failure):
            here = None
        if here is None or (here != file and not _has_contents(here, file, touched)):
            others.append(file.path)
        elif here != file:
            kept, renewed = here, renewed + 1
        found.pages[kept] = pages
        if file in touched.sha256:
            found.sha256[kept] = touched.sha256[file]
    return found, renewed, others


def _has_contents(here: File, file: File, touched: PrefetchList) -> bool:
    """Whether a file with another time has the recorded contents."""
    if replace(here, changed_ns=file.changed_ns) != file:
        return False
    return bool(file.build_id) or (file in touched.sha256
                                   and _hash(here) == touched.sha256[file])
