"""Advice on how the kernel reads: the readahead of the device, and reading whole files at once.

**The replay.** A fault that finds no page reads a window of the device's readahead around it, half
of it before the fault. Since Linux 6.17 a fault in code reads from its page on, at most to the end
of the mapping (mm/filemap.c, do_sync_mmap_readahead). The replay takes the faults of a recording in
their order, with windows of another size: a fault whose page is in an earlier window reads nothing.
The replay does not see touches of mapped pages, nor windows that were read before anything waited
for them. So it first replays the recorded readahead, by both rules. It uses the rule that comes
nearer to the recording, and only if that is near enough.
"""

from collections.abc import Iterator

import numpy as np

from frontload.base.errors import count
from frontload.elf.relocations_report import size_text
from frontload.report.events import READ
from frontload.report.places import Places
from frontload.report.sentence import Gain, Sentence, majors_in, read_of
from frontload.report.spans import Spans
from frontload.report.start import Start

_NEAR = 0.1
_MIN_FAULTS = 16
_MIN_KIB, _MAX_KIB = 16, 4096
# Worth a sentence: a quarter less faults or bytes, for at most a tenth more of the other.
_LESS, _MORE = 0.75, 1.1


def replay(offsets: np.ndarray, size: int, window: int, page: int,
           ends: np.ndarray | None = None) -> tuple[int, int]:
    """How many of these faults read, and how many bytes, with windows of this size. `ends` says for
    each fault how far it may read from its page on, or 0 if it reads around itself."""
    ends = np.zeros(len(offsets), np.int64) if ends is None else ends
    pages, which = np.unique(offsets // page, return_inverse=True)
    is_read = np.zeros(len(pages), bool)
    windows, half, whole = [], window // page // 2, max(window // page, 1)
    for index, number, end in zip(which.tolist(), pages[which].tolist(), ends.tolist(),
                                  strict=True):
        if not is_read[index]:
            first = number if end else max(number - half, 0)
            last = max(min(first + whole, -(-end // page)), number + 1) if end else first + whole
            windows.append((first * page, min(last * page, size)))
            is_read[slice(*np.searchsorted(pages, [first, last]).tolist())] = True
            is_read[index] = True  # a window may be less than a page
    return len(windows), Spans(*np.array(windows, np.int64).reshape(-1, 2).T).size


def readahead(start: Start) -> Iterator[Sentence]:
    """Another readahead of the device, if it saves much and costs little."""
    if start.main is None:
        return
    file, seen = start.recording.files[start.main], start.events
    recorded, read = len(majors_in(start, start.main)), read_of(start, start.main).size
    reads = int(((seen.file == start.main) & seen.of(READ)).sum()) or recorded
    rows = (seen.file == start.main) & (seen.kind != "F") & (seen.offset < file.size)
    if not file.read_ahead_kib or recorded < _MIN_FAULTS or not read:
        return

    def with_window(kib: int, ends: np.ndarray | None) -> tuple[int, int]:
        return replay(seen.offset[rows], file.size, kib << 10, file.page_size, ends)

    def off(result: tuple[int, int]) -> float:
        return max(abs(result[0] - reads) / reads, abs(result[1] - read) / read)

    of_code = _ends_of_code(start.places[start.main], seen.offset[rows])
    now, ends = min(((with_window(file.read_ahead_kib, each), each) for each in (None, of_code)),
                    key=lambda found: off(found[0]))
    if off(now) > _NEAR:
        return
    sizes = [kib for power in range(2, 14) if _MIN_KIB <= (kib := 1 << power) <= _MAX_KIB]
    found = [(then, kib) for kib in sizes if (then := with_window(kib, ends))
             and ((then[0] <= _LESS * now[0] and then[1] <= _MORE * now[1])
                  or (then[1] <= _LESS * now[1] and then[0] <= _MORE * now[0]))]
    if not found:
        return
    (faults, size), kib = min(found)
    yield Sentence(
        "readahead",
        f"With a readahead of {kib} KiB instead of {file.read_ahead_kib} KiB, the same accesses to "
        f"{file.name} would take about {count(faults, 'read')} instead of {now[0]:,}, and read "
        f"about {size_text(size)} instead of {size_text(now[1])} (from a replay of this start).",
        f"write {kib} to the device's /sys/class/bdi/DEVICE/read_ahead_kb (blockdev --setra "
        f"{kib * 2})", Gain(
            (now[0] - faults) * recorded // now[0], now[1] - size))


def _ends_of_code(place: Places, offsets: np.ndarray) -> np.ndarray:
    """For each offset in code the end of its mapping, else 0."""
    found, is_code = np.zeros(len(offsets), np.int64), place.segment_flags(offsets) == "x"
    for segment in place.file.segments:
        if "x" in segment.flags:
            found[is_code & segment.holds(offsets)] = segment.offset + segment.file_bytes
    return found


def whole_file(start: Start) -> Iterator[Sentence]:
    """A file that is mostly read anyway can be read from beginning to end."""
    for number, file in enumerate(start.recording.files):
        faults, read = len(majors_in(start, number)), read_of(start, number).size
        if faults < _MIN_FAULTS or 2 * read < file.size:
            continue
        yield Sentence(
            "whole-file",
            f"This start read {size_text(read)} of the {size_text(file.size)} of {file.name}, in "
            f"{count(faults, 'major fault')}. Reading the whole file beforehand takes at most one "
            f"fault, and {size_text(file.size - read)} more.",
            f"read {file.name} before it is used (posix_fadvise, POSIX_FADV_WILLNEED, in pieces no "
            "larger than the readahead)", Gain(faults - 1, read - file.size))
