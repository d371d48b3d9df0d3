"""A startup profile from samples: the names of touched pages, of one build or of several.

A page says less than an entry: all names on it may have been touched. Builds whose names lie in
other orders tell more (group_testing.py says how), such as nightly builds that are linked with
lld's --shuffle-sections, or releases. Names are compared as profiles compare them: kind, class,
name and file; what one release calls otherwise than another is one function where a link would
take it for that (same_names.py).

What tells of a function is the page of its entry, and, less surely, the pages that it goes on to.
Data gets no name here: what relocates a program has touched most of the pages that data is in, and
a link with a front finds the constants that functions need by their relocations.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from frontload.base import errors
from frontload.base.errors import BadData
from frontload.base.intervals import distinct, signed
from frontload.elf.file import Elf
from frontload.profile import group_testing
from frontload.profile.binaries import Binary
from frontload.profile.same_names import SameNames
from frontload.profile.sample import PageSample, Slice, TouchedPages
from frontload.profile.startup_profile import Name, Profile, Touch
from frontload.profile.symbol_names import SymbolNames, nameable
from frontload.profile.trace import Module

# Names that are less likely touched are left out. A wrong name costs a start its bytes, some
# hundreds; a missing one a fault, which reads 128 KiB. A front of cc1 (docs/sampling.md) from four
# builds in other orders has 208 faults and reads 21.7 MB with 0.2, 155 and 15.5 with 0.05, 156 and
# 15.8 with 0.02. How likely a name is shows in its runs, so that doubtful names come last in a
# front.
LIKELY = 0.05
# A page that so many of a build's samples touch tells as much as one that all touch: starts of one
# kind among several have functions that no other start needs. What fewer touch, starts that went
# astray may have.
_OFTEN = 0.1
# From so many touched pages on, in each build, pages tell next to nothing (docs/sampling.md).
_CROWDED = 0.8
_FAR = 1 << 40  # a rank behind all others
_LAST_PAGES = 64  # of a long function: what lies behind tells nothing of it


class Process(NamedTuple):
    """What a process has touched of a linked file."""

    binary: Binary
    page_size: int
    touched: TouchedPages


@dataclass
class _Runs:
    """Runs, and the builds that their processes executed, which may be several in one run."""

    count: int = 0
    builds: dict[str, "Build"] = field(default_factory=dict)


def usual_page_size(sizes: Iterable[int]) -> int:
    """The one that most samples have; of several the smallest. 0 if there are no samples."""
    return max(sorted(Counter(sizes).items()), key=lambda item: item[1], default=(0, 0))[0]


class Sampled:
    """The sampled runs of a program, whose pages all have one size."""

    def __init__(self, page_size: int):
        # Where any pages are known exactly, windows of 64 KiB only blur them.
        self._exact, self._windows = _Runs(), _Runs()
        self._page_size = page_size

    def process(self, binary: Binary, sample: PageSample, module: Module) -> Process:
        """What a sample has of a module; one that does not go with the others is refused."""
        if sample.page_size != self._page_size:
            raise BadData(sample.path, f"is of pages of {sample.page_size} bytes, others of "
                          f"{self._page_size}", note="merge the samples of each machine apart")
        return Process(binary, sample.page_size, sample.touched[sample.modules.index(module)])

    def add(self, processes: Sequence[Process], weight: int) -> None:
        """Counts one run, as `weight` runs. Its processes may have executed different builds."""
        for runs, exact in ((self._exact, True), (self._windows, False)):
            mine: defaultdict[str, list[Process]] = defaultdict(list)
            for each in processes:
                if each.touched.exact == exact:
                    mine[each.binary.path].append(each)
            for path, together in mine.items():
                if path not in runs.builds:
                    runs.builds[path] = Build(together[0].binary.linked)
                runs.builds[path].add(together, weight)
            if mine:
                runs.count += weight

    @property
    def _used(self) -> _Runs:
        return self._exact if self._exact.count else self._windows

    def profile(self, known: Mapping[Name, Touch]) -> Profile:
        """What they add up to. `known`: what is known of the program from elsewhere."""
        if not self._used.count:
            return Profile(b"", 0)
        return _profile([self._used.builds[path] for path in sorted(self._used.builds)],
                        self._used.count, known)

    def remarks(self) -> list[str]:
        """What to say of them."""
        found, used = [], self._used.builds.values()
        if self._exact.count and self._windows.count:
            found.append("left out what is only known in windows of 64 KiB, of "
                         f"{errors.count(self._windows.count, 'run')}, "
                         "because of others each page is known")
        elif self._windows.count:
            found.append("the samples tell of windows of 64 KiB only, in which few functions need "
                         "have been touched; sample where userfaultfd is permitted (Linux 6.7 or "
                         "newer; in a container, by its seccomp profile)")
        told = min((each.told() for each in used), default=1)
        if told < 1:
            found.append(f"the samples of a build tell of {told:.0%} of its pages with functions; "
                         "of three times as many samples as each file has slices, it is 95%")
        if used and min(each.crowded() for each in used) > _CROWDED:
            found.append("nearly all pages with functions are touched, so that they tell little of "
                         "each function; a build with fewer of them on a page would: "
                         "-falign-functions=1024, or 4096")
        elif len(used) == 1:
            found.append("these are samples of one build: samples of builds whose functions lie in "
                         "other orders (ld.lld --shuffle-sections) would tell apart what shares "
                         "pages")
        return found


class Build:
    """One build of the program: where its functions lie, and which of its pages were touched."""

    def __init__(self, elf: Elf):
        symbols = elf.linked_symbols("give the copy from before strip with --binary PATH")
        code, _ = nameable(elf, symbols)
        named = SymbolNames("function", elf, symbols, np.flatnonzero(code))
        self.names = named.names(np.arange(len(named.ranges.start)))
        self._begin = _offsets(elf, signed(named.ranges.start))
        self._size = signed(named.ranges.end) - signed(named.ranges.start)
        self._file_size = os.path.getsize(elf.path)
        self.runs = 0
        # How many of these tell of all pages, or of a slice.
        self._told: defaultdict[Slice | None, int] = defaultdict(int)
        self._touched: defaultdict[int, int] = defaultdict(int)
        # Of the runs whose order is known: how many touched a page, and the sums of its places.
        self._ordered: defaultdict[int, int] = defaultdict(int)
        self._position: defaultdict[int, int] = defaultdict(int)
        self.page_size = 0

    def add(self, processes: Sequence[Process], weight: int) -> None:
        """Counts a run of this build, as `weight` runs."""
        self.runs += weight
        pages: set[int] = set()
        in_order: dict[int, None] = {}
        parts = {each.touched.part for each in processes}
        for part in [None] if None in parts else parts:
            self._told[part] += weight
        between = 1  # of how many touched pages one is told
        for each in processes:
            self.page_size = each.page_size
            pages.update(each.touched.pages.tolist())
            between = max(between, each.touched.part.count if each.touched.part else 1)
            if each.touched.ordered:
                in_order.update(dict.fromkeys(each.touched.pages.tolist()))
        for page in pages:
            self._touched[page] += weight
        for position, page in enumerate(in_order):
            self._ordered[page] += weight
            self._position[page] += weight * position * between

    @property
    def ordered(self) -> bool:
        return bool(self._ordered)

    def shares(self, pages: np.ndarray) -> np.ndarray:
        """In which share of the samples that tell of it each page was touched; NaN if none does."""
        told = np.full(len(pages), self._told.get(None, 0))
        for part, runs in self._told.items():
            if part is not None:
                told[part.has(pages)] += runs
        touched = np.array([self._touched.get(page, 0) for page in pages.tolist()], float)
        return np.divide(touched, told, out=np.full(len(pages), np.nan), where=told > 0)

    def _of_pages_with_functions(self) -> np.ndarray:
        return self.shares(distinct(self._begin[self._begin >= 0] // self.page_size))

    def crowded(self) -> float:
        """The share of the pages with functions that most samples touch."""
        shares = self._of_pages_with_functions()
        return np.count_nonzero(shares > 0.5) / max(1, np.count_nonzero(~np.isnan(shares)))

    def told(self) -> float:
        """The share of the pages with functions that any sample tells of."""
        shares = self._of_pages_with_functions()
        return np.count_nonzero(~np.isnan(shares)) / max(1, len(shares))

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Group numbers, the pages that they lie on, and 1 where they begin, else less."""
        placed = np.flatnonzero(self._begin >= 0)
        first = self._begin[placed] // self.page_size
        last = (self._begin[placed] + np.maximum(self._size[placed], 1) - 1) // self.page_size
        count = np.minimum(last - first + 1, _LAST_PAGES)
        # Functions hardly overlap, so that they go on to no more pages than the file has. Symbols
        # that say otherwise could ask for any memory: beyond twice as many pages, functions are
        # only where they begin.
        further = np.cumsum(count - 1)
        count[further > 2 * (self._file_size // self.page_size + 1)] = 1
        group = np.repeat(placed, count)
        step = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
        return group, np.repeat(first, count) + step, \
            np.where(step == 0, 1.0, group_testing.HALF)

    def places(self) -> np.ndarray:
        """The order in which groups are to be taken: of first touch if it is known, as a share of
        all pages of which it is, and NaN where there is none; else of address."""
        if not self.ordered:
            return self._begin.astype(float)
        pages = self._begin // self.page_size
        return np.array([self._position[page] / self._ordered[page] / len(self._ordered)
                         if page in self._ordered else np.nan for page in pages.tolist()])


def _offsets(elf: Elf, address: np.ndarray) -> np.ndarray:
    """Where addresses lie in the file; -1 for those that do not."""
    offsets = np.full(len(address), -1, np.int64)
    for segment in elf.segments:
        inside = (address >= segment.address) & (address < segment.address + segment.file_bytes)
        offsets[inside] = address[inside] - segment.address + segment.offset
    return offsets


def _profile(builds: list[Build], runs: int, known: Mapping[Name, Touch]) -> Profile:
    """What the samples of some builds add up to. `known` is what an older profile has: names that
    it has are likelier, and keep its order."""
    same = SameNames()
    known_names = same.add(list(known))
    number: dict[Name, int] = {}
    called: dict[int, list[Name]] = {}  # by the last build that has touched pages of it
    tests, shares, cells = [], [], 0
    best: list[np.ndarray] = []
    for build in builds:
        group, page, reach = build.edges()
        pages, cell = np.unique(page, return_inverse=True)
        share = build.shares(pages)
        names = np.array([number.setdefault(name, len(number)) for name in same.add(build.names)],
                         np.int64)
        begins = reach == 1
        of_group = np.zeros(len(build.names))
        of_group[group[begins]] = share[cell[begins]]
        # Of several places that have the same name, the one that is touched the most.
        order = np.lexsort((-of_group, names))
        chosen = order[np.append(True, np.diff(names[order]) != 0)[:len(order)]]
        called.update(_names_of(names, build, np.nan_to_num(of_group)))
        # Of what no sample tells of, that which is known from elsewhere stays.
        for index, spelled in _names_of(names, build, np.isnan(of_group)).items():
            called.setdefault(index, spelled)
        kept = np.isin(group, chosen) & ~np.isnan(share[cell])
        tests.append((names[group[kept]], cell[kept] + cells, reach[kept]))
        shares.append(np.minimum(np.nan_to_num(share) / _OFTEN, 1))
        cells += len(pages)
        best.append(np.column_stack([names[chosen], of_group[chosen],
                                     build.places()[chosen]]))
    # What an older profile has of each name: its rank, and which share of its runs touched it,
    # which is how likely they do, too. All runs touch some name, such as the entry.
    known_runs = max((touch.runs for touch in known.values()), default=1)
    ranks, before = np.full(len(number), _FAR), np.zeros(len(number))
    for name, touch in zip(known_names, known.values(), strict=True):
        if name in number:
            index = number[name]
            ranks[index] = min(ranks[index], touch.rank)
            before[index] = max(before[index], touch.runs / known_runs)
    prior = np.clip(before, group_testing.PRIOR, group_testing.KNOWN)
    likely = group_testing.probabilities(
        group_testing.Evidence(*(np.concatenate(column) for column in zip(*tests, strict=True)),
                            np.concatenate(shares)), prior)
    # A page that is touched for other names, too, is touched at least as often as a known one: then
    # that has the share that it had. One that was doubtful and is now convicted has that of its
    # pages.
    is_known, is_likely = before > 0, likely > 0.5
    most = np.where(is_known & ~(is_likely & (before <= 0.5)), before, 1)
    certain = np.where(is_likely, 1, np.where(is_known, np.minimum(likely / prior, 1), likely))
    return _assemble(builds, runs, called, best, likely, _Known(ranks, before, most, certain))


class _Known(NamedTuple):
    """What is known of each name from elsewhere: its rank, which share of the runs touched it then,
    the largest share that may have touched it, and how much of its share is sure."""

    ranks: np.ndarray
    before: np.ndarray
    most: np.ndarray
    certain: np.ndarray


def _names_of(numbers: np.ndarray, build: Build, share: np.ndarray) -> dict[int, list[Name]]:
    """What the build calls each number that has touched pages, with all its names that have some.
    """
    found: defaultdict[int, list[Name]] = defaultdict(list)
    for group in np.flatnonzero(share).tolist():
        found[numbers[group]].append(build.names[group])
    return found


def _assemble(builds: list[Build], runs: int, called: Mapping[int, list[Name]],
              best: list[np.ndarray], likely: np.ndarray, known: _Known) -> Profile:
    touched, weight = np.zeros(len(likely)), np.zeros(len(likely))
    place = np.full(len(likely), np.nan)
    ordered = any(build.ordered for build in builds)
    for build, found in zip(builds, best, strict=True):
        index = found[:, 0].astype(np.int64)
        told = ~np.isnan(found[:, 1])
        touched[index[told]] += found[told, 1] * build.runs
        weight[index[told]] += build.runs
        if ordered and build.ordered:
            # A page may be touched earlier than the name, for another one, but not later.
            place[index] = np.fmax(place[index], found[:, 2])
        elif not ordered:
            place[index] = np.where(np.isnan(place[index]), found[:, 2], place[index])
    place[np.isnan(place)] = np.inf
    untold = weight == 0
    touched[untold], weight[untold] = known.before[untold], 1
    chosen = np.flatnonzero((untold | (likely > LIKELY)) & (touched > 0)).tolist()
    chosen.sort(key=lambda index: (known.ranks[index], place[index], called[index]))
    made = Profile(b"", runs)
    for index in chosen:
        share = known.certain[index] * min(touched[index] / weight[index], known.most[index])
        touch = max(1, min(runs, round(share * runs)))
        for name in called[index]:
            made.touches.setdefault(name, Touch(touch, len(made.touches)))
    return made
