"""Reading lists of files that were written again with the same contents.

A list tells by size and time whether a file is what was recorded. An image that is built again, or
a package that is installed again, has the same contents of another time: a build-id tells so of an
ELF file, and of the others a hash, which is in the list for those who ask for it. To read a whole
file for its hash is nothing to do at a start, so a list is renewed beforehand.
"""

import hashlib
from dataclasses import replace

from frontload.base.errors import Failure
from frontload.reading import record
from frontload.reading.listing import File, ReadingList


def add_hashes(touched: ReadingList) -> list[str]:
    """Adds the hashes of the files that have no build-id. Returns the paths of those that cannot be
    read, or are not what was recorded."""
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
    """The hash of a file that is what was recorded, from before its reading until after it."""
    try:
        with open(file.path, "rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        return found if record.identity(file.path) == file else None
    except (OSError, Failure):
        return None


def renew(touched: ReadingList) -> tuple[ReadingList, int, list[str]]:
    """The same of the files as they are here: those of the same contents have their times. Also how
    many these are, and the paths of the files that are not here or have other contents, of which
    nothing changes."""
    found, renewed, others = ReadingList(touched.runs), 0, []
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


def _has_contents(here: File, file: File, touched: ReadingList) -> bool:
    """Whether a file of another time is what was recorded."""
    if replace(here, changed_ns=file.changed_ns) != file:
        return False
    return bool(file.build_id) or (file in touched.sha256
                                   and _hash(here) == touched.sha256[file])
