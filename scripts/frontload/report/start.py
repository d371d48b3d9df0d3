"""All facts about one recorded start: the recording, and additions of its files and traces."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frontload.base.errors import BadData
from frontload.profile.link_map import LinkMap
from frontload.report import waste
from frontload.report.events import Events, events
from frontload.report.places import Places
from frontload.report.recorded import Recording
from frontload.report.touched import TouchedBytes, Touches


@dataclass(frozen=True)
class Start:
    """One recorded start and facts about its files; lists are by the file's number."""

    recording: Recording
    places: list[Places]
    touched: list[TouchedBytes | None]
    waste: list[waste.Waste | None]
    events: Events
    map: str | None  # of the program's link

    @property
    def main(self) -> int | None:
        return self.recording.main

    def files(self) -> list[int]:
        """The files that were read or faulted in, those with the most bytes read first."""
        faulted = set(np.unique(self.events.file).tolist())
        shown = [number for number, file in enumerate(self.recording.files)
                 if number in faulted or (file.read is not None and file.read.size)]
        return sorted(shown, key=lambda number: (-self.read_bytes(number),
                                                 self.recording.files[number].path, number))

    def read_bytes(self, number: int) -> int:
        read = self.recording.files[number].read
        return 0 if read is None else read.size


def look(recording: Recording, touches: Touches | None = None, maps: Iterable[str] = (),
         binaries: Mapping[str, str] | None = None) -> Start:
    """Collects all facts about one recorded start; `binaries`: paths by build-id, of files that are
    not where they were recorded."""
    elsewhere = {**(touches.paths() if touches else {}), **(binaries or {})}
    places = [Places(file, elsewhere) for file in recording.files]
    touched = [touches.of(place, number == recording.main) if touches else None
               for number, place in enumerate(places)]
    link_map, path = _map_of(places, recording.main, maps)
    wasted = [None if file.read is None or its is None else
              waste.waste(place, file.read, its.spans,
                          link_map if number == recording.main else None)
              for number, (file, place, its) in enumerate(zip(recording.files, places, touched,
                                                              strict=True))]
    return Start(recording, places, touched, wasted, events(recording, places), path)


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
