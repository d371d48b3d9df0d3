"""In which order a start touches pages: what perf's page faults add to samples.

A sample says which pages were touched. perf, where it is permitted, records each fault and when it
was; while the sampler has the kernel map pages one by one, that is each page's first touch. What
was touched without a fault that perf saw (before the sampler began, or along with a neighbour)
comes last.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from frontload.profile.sample import PageSample
from frontload.tracing import perf_records as records
from frontload.tracing.space import AddressSpace, Region

EVENTS = ("major-faults", "minor-faults")


class PageOrder:
    """The faults of processes, by the path of the file."""

    def __init__(self, found: Iterable[records.Record], page_size: int):
        self._page_size = page_size
        self._paths: dict[str, int] = {}
        self._spaces: defaultdict[int, AddressSpace] = defaultdict(AddressSpace)
        self._pages: defaultdict[tuple[int, int], dict[int, None]] = defaultdict(dict)
        for record in found:
            self._take(record)

    def _take(self, record: records.Record) -> None:
        if isinstance(record, records.Mapping):
            is_file = record.inode and record.path.startswith("/")
            file = self._paths.setdefault(record.path, len(self._paths)) if is_file else -1
            self._spaces[record.pid].add(Region(record.start, record.start + record.size,
                                                record.offset, file, "w" in record.protection))
        elif isinstance(record, records.Fork) and record.pid != record.parent:
            self._spaces[record.pid] = self._spaces[record.parent].copy()
        elif isinstance(record, records.Comm) and record.exec:
            self._spaces.pop(record.pid, None)
            for key in [key for key in self._pages if key[0] == record.pid]:
                del self._pages[key]
        elif isinstance(record, records.Fault):
            file, offset = self._spaces[record.pid].place(record.address)
            if file >= 0:
                self._pages[record.pid, file].setdefault(offset // self._page_size)

    def of(self, sample: PageSample) -> PageSample:
        """The sample with its pages in order."""
        touched = []
        for module, mine in zip(sample.modules, sample.touched, strict=True):
            there = set(mine.pages.tolist())
            seen = self._pages.get((sample.pid, self._paths.get(module.path, -1)), {})
            first = [page for page in seen if page in there]
            if first:
                rest = sorted(there.difference(first))
                mine = replace(mine, pages=np.array(first + rest, np.int64), ordered=True)
            touched.append(mine)
        return replace(sample, touched=touched)


def read(path: Path, page_size: int) -> PageOrder:
    """The order in which a perf.data has them."""
    return PageOrder(records.read(path), page_size)
