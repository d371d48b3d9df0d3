"""Advice on how the kernel reads: the readahead of the device, and reading whole files at once.

**The replay.** A fault that finds no page reads a window of the device's readahead around it, half
of it before (mm/filemap.c, do_sync_mmap_readahead). The faults of a recording, in their order, with
windows of another size: those whose page is in a window that was read before read nothing. This
knows of no touch that found its page mapped already, so it is only used where, with the readahead
that there was, it comes out near to what was recorded.
"""

from collections.abc import Iterator

import numpy as np

from frontload.errors import count
from frontload.relocations_report import size_text
from frontload.report.sentence import Gain, Sentence, majors_in, read_of
from frontload.report.spans import Spans
from frontload.report.start import Start

_NEAR = 0.1
_ENOUGH_FAULTS = 16
_LEAST_KIB, _MOST_KIB = 16, 4096
# Worth a sentence: a quarter less of one, for at most a tenth more of the other.
_LESS, _MORE = 0.75, 1.1


def replay(offsets: np.ndarray, size: int, window: int, page: int) -> tuple[int, int]:
    """How many of these faults read, and how many bytes, with windows of this size."""
    pages, which = np.unique(offsets // page, return_inverse=True)
    is_read = np.zeros(len(pages), bool)
    firsts, half, whole = [], window // page // 2, window // page
    for index, number in zip(which.tolist(), pages[which].tolist(), strict=True):
        if not is_read[index]:
            first = max(number - half, 0)
            firsts.append(first)
            is_read[slice(*np.searchsorted(pages, [first, first + whole]).tolist())] = True
            is_read[index] = True  # a window may be less than a page
    first = np.array(firsts, np.int64) * page
    return len(firsts), Spans(first, np.minimum(first + max(whole, 1) * page, size)).size


def readahead(start: Start) -> Iterator[Sentence]:
    """Another readahead of the device, if it saves much and costs little."""
    if start.main is None:
        return
    file, seen = start.recording.files[start.main], start.events
    recorded, read = len(majors_in(start, start.main)), read_of(start, start.main).size
    rows = (seen.file == start.main) & (seen.kind != "F") & (seen.offset < file.size)
    if not file.read_ahead_kib or recorded < _ENOUGH_FAULTS or not read:
        return

    def with_window(kib: int) -> tuple[int, int]:
        return replay(seen.offset[rows], file.size, kib << 10, file.page_size)

    now = with_window(file.read_ahead_kib)
    if abs(now[0] - recorded) > _NEAR * recorded or abs(now[1] - read) > _NEAR * read:
        return
    sizes = [kib for power in range(2, 14) if _LEAST_KIB <= (kib := 1 << power) <= _MOST_KIB]
    found = [(then, kib) for kib in sizes if (then := with_window(kib))
             and ((then[0] <= _LESS * now[0] and then[1] <= _MORE * now[1])
                  or (then[1] <= _LESS * now[1] and then[0] <= _MORE * now[0]))]
    if not found:
        return
    (faults, size), kib = min(found)
    yield Sentence(
        "readahead",
        f"with a readahead of {kib} KiB instead of {file.read_ahead_kib} KiB the same accesses to "
        f"{file.name} would take about {count(faults, 'major fault')} instead of {now[0]:,} and "
        f"read about {size_text(size)} instead of {size_text(now[1])} (by a replay of this start).",
        f"set {kib} in /sys/class/bdi/DEVICE/read_ahead_kb of the device (blockdev --setra "
        f"{kib * 2})", Gain(now[0] - faults, now[1] - size))


def whole_file(start: Start) -> Iterator[Sentence]:
    """A file of which most is read anyway can be read from its beginning to its end."""
    for number, file in enumerate(start.recording.files):
        faults, read = len(majors_in(start, number)), read_of(start, number).size
        if faults < _ENOUGH_FAULTS or 2 * read < file.size:
            continue
        yield Sentence(
            "whole-file",
            f"{size_text(read)} of the {size_text(file.size)} of {file.name} were read, in "
            f"{count(faults, 'major fault')}; read as a whole beforehand it takes at most one, and "
            f"{size_text(file.size - read)} more.",
            f"read {file.name} before it is started (posix_fadvise, POSIX_FADV_WILLNEED, in pieces "
            "no larger than the readahead)", Gain(faults - 1, read - file.size))
