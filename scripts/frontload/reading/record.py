"""Records what a start touches of all its files, page by page.

Without readahead, the page cache takes in exactly the touched pages, in the order of their touches,
by a mapping as by read(2), and the kernel reports each page that it takes in (docs/faults.md). So a
first run shows which files the command opens (strace), and a second one has cold copies of them on
a separate device without readahead.
"""

import itertools
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from frontload.base.errors import Diagnostics, Failure
from frontload.base.ready import Ready
from frontload.device import cold_device, kinds
from frontload.elf import file as elf
from frontload.faults import start
from frontload.faults.document import Faults, Fills
from frontload.measure import seen
from frontload.measure.conditions import SELECTIVELY_COLD
from frontload.measure.launcher import Launcher, Sample
from frontload.reading.listing import (
    MAP,
    PAGE,
    READ,
    SUFFIX,
    File,
    ReadingList,
    Touch,
    to_bytes,
)


def obstacle() -> str | None:
    """What is obviously missing for this way; None if nothing is."""
    return cold_device.obstacle() or (None if shutil.which("perf") else "perf is not found")


def record(command: Sequence[str], ready: Ready | None = None,
           diagnostics: Diagnostics | None = None) -> tuple[ReadingList, Sample]:
    """The touches of one start of the command. Needs root, for the device and for the kernel's
    events of the page cache."""
    opened = seen.opened(command, Launcher(end_with_us=True, ready=ready), only_read=True)
    identities = {path: identity(path) for path in opened}
    document, sample = start.record(command, condition=SELECTIVELY_COLD, evict=opened, warmup=1,
                                    ready=ready, device=kinds.custom(None, None, 0),
                                    diagnostics=diagnostics)
    faults, fills = document["faults"], document["fills"]
    if fills is None or faults is None:
        lacks = next(iter(document["missing"]), None)
        raise Failure("what enters the page cache cannot be recorded: "
                      + (f"{lacks['what']}: {lacks['why']}" if lacks else "perf tells nothing"),
                      note=lacks["remedy"] if lacks else None)
    return _made([identities.get(os.path.realpath(file["path"])) for file in document["files"]],
                 faults, fills), sample


def write(listing: ReadingList, command: str, folder: os.PathLike[str] | str) -> Path:
    """Writes a list into a folder, under the name of the command and a free number."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = itertools.count(1)
    while True:
        path = folder / f"{os.path.basename(command)}.{next(numbers)}{SUFFIX}"
        with suppress(FileExistsError), open(path, "xb") as file:
            file.write(to_bytes(listing))
            return path


def identity(path: str) -> File:
    """The present state of a file."""
    status = os.stat(path)
    try:
        build_id = elf.read(path).build_id.hex()
    except Failure:
        build_id = ""
    return File(path, status.st_size, status.st_mtime_ns, build_id)


def _made(files: Sequence[File | None], faults: Faults, fills: Fills) -> ReadingList:
    """The list from a recording without readahead."""
    mapped = {(file, offset // PAGE) for file, offset, major in zip(
        faults["file"], faults["offset"], faults["major"], strict=True) if major}
    found = ReadingList(runs=1)
    rank = 0
    for number, offset, size in zip(fills["file"], fills["offset"], fills["bytes"], strict=True):
        file = files[number] if number >= 0 else None
        if file is None:
            continue
        pages = found.pages.setdefault(file, {})
        for page in range(offset // PAGE, min(offset + size, file.size + PAGE - 1) // PAGE):
            if page not in pages:
                pages[page] = Touch(rank, 1, MAP if (number, page) in mapped else READ)
                rank += 1
    return found
