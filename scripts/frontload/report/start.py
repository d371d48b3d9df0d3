"""All facts about one recorded start: the recording, and additions of its files and traces."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from frontload.base.arrays import np
from frontload.base.errors import BadData
from frontload.base.spans import Spans
from frontload.profile.link_map import LinkMap
from frontload.reading import asked
from frontload.reading.listing import PrefetchList
from frontload.report import accounting
from frontload.report.accounting import Waste
from frontload.report.events import MAJOR, Events, events
from frontload.report.places import Places
from frontload.report.recorded import Recording
from frontload.report.touched import Touches


@dataclass(frozen=True)
class Start:
    """One recorded start and facts about its files; lists are by the file's number."""

    recording: Recording
    places: list[Places]
    touched: list[Spans | None]
    listed: list[Spans | None]  # what given prefetch lists ask for; None without lists
    lost: int  # touched bytes whose places are unknown
    waste: list[Waste | None]
    events: Events
    map: str | None  # of the program's link

    @property
    def main(self) -> int | None:
        return self.recording.main

    def files(self) -> list[int]:
        """The files that were read or faulted in, those with the most bytes read first."""
        faulted = set(np.unique(self.events.file).tolist())
        shown = [number for number in range(len(self.recording.files))
                 if number in faulted or self.read_of(number).size]
        return sorted(shown, key=lambda number: (-self.read_of(number).size,
                                                 self.recording.files[number].path, number))

    def read_of(self, number: int) -> Spans:
        """What was read of a file; nothing if that is unknown."""
        read = self.recording.reads[number]
        return Spans.none() if read is None else read

    def majors_in(self, number: int, where: Spans | None = None) -> np.ndarray:
        """The rows of the major faults in a file, or in a part of it."""
        rows = np.flatnonzero((self.events.file == number) & self.events.of(MAJOR))
        return rows if where is None else rows[where.holds(self.events.offset[rows])]


def look(recording: Recording, touches: Touches | None = None, maps: Iterable[str] = (),
         binaries: Mapping[str, str] | None = None,
         lists: Mapping[str, PrefetchList] | None = None) -> Start:
    """Collects all facts about one recorded start; `binaries`: paths by build-id, of files that are
    not where they were recorded; `lists`: what it may ask for beforehand, by path."""
    places = [Places(file, binaries) for file in recording.files]
    found = [touches.of(place, number == recording.main) if touches else (None, 0)
             for number, place in enumerate(places)]
    touched = [spans for spans, _ in found]
    link_map, path = _map_of(places, recording.main, maps)
    wasted = [None if read is None or its is None else
              accounting.waste(place, read, its, link_map if number == recording.main else None)
              for number, (read, place, its) in enumerate(zip(recording.reads, places, touched,
                                                              strict=True))]
    listed = [asked.union(asked.by_lists(lists, file.path)) if lists else None
              for file in recording.files]
    return Start(recording, places, touched, listed, sum(lost for _, lost in found), wasted,
                 events(recording, places), path)


def _map_of(places: Sequence[Places], main: int | None, maps: Iterable[str]
            ) -> tuple[LinkMap | None, str | None]:
    """The first map that is of the program's link; a map may be of another variant."""
    elf = None if main is None else places[main].elf
    if elf is None:
        return None, None
    for path in maps:
        try:
            return LinkMap(path, elf), path
        except BadData:
            continue
    return None, None
