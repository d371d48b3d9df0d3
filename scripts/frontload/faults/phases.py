"""The phases of each process's start, from what was seen of it; unseen phases are left out.

exec          the kernel replaces the program: until the first instruction, which always faults
loader        ld.so finds and maps the libraries: until the last of these mappings
relocation    the loader adjusts addresses: until it tells debuggers that all is consistent
constructors  of the libraries and of the program: until main
main          until the program says that it has started
started       from there on
request       from when the program is ready until it has answered the request that was made then

A program without a loader (static) has no such phases: it relocates itself and runs constructors
before main, and all of that is `constructors`.
"""

from dataclasses import dataclass

from frontload.base.missing import Missing
from frontload.faults.history import History, Image
from frontload.faults.loading import ENTRY, LOADER_TELLS, MAIN, UNTIL, Loading


@dataclass(frozen=True)
class Phase:
    process: int
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Phases:
    phases: list[Phase]
    until: int | None  # when the function that ends startup was entered
    missing: list[Missing]


def find(history: History, loading: Loading | None, end: int, ready: int | None = None) -> Phases:
    """The phases of all images; times are absolute. `end` is when the recording ended, `ready` when
    a request was made."""
    stops = _Stops(history, loading)
    phases: list[Phase] = []
    for number, image in enumerate(history.images):
        phases += _of_image(number, image, stops, image.end or end, ready)
    until = stops.first(history.images[0], UNTIL) if history.images else None
    return Phases(phases, until, _missing(history, loading, stops))


class _Stops:
    """The milestones that an image reached."""

    def __init__(self, history: History, loading: Loading | None):
        self.twice = loading is not None and loading.tells_twice
        self._paths = history.paths
        self._kinds: dict[tuple[str | None, int], str] = {} if loading is None else {
            (milestone.path, milestone.offset): milestone.kind for milestone in loading.milestones}

    def times(self, image: Image, kind: str) -> list[int]:
        return [time for time, file, offset in image.stops
                if file >= 0 and self._kinds.get((self._paths[file], offset)) == kind]

    def first(self, image: Image, kind: str) -> int | None:
        return next(iter(self.times(image, kind)), None)

    def relocated(self, image: Image) -> int | None:
        """When the loader told debuggers that all is consistent."""
        told = self.times(image, LOADER_TELLS)
        count = 2 if self.twice else 1
        return told[count - 1] if len(told) >= count else None


def _of_image(number: int, image: Image, stops: _Stops, end: int,
              ready: int | None) -> list[Phase]:
    begun, first = image.executed, image.first_instruction
    if begun is None or first is None:
        return []
    moments = [("exec", begun)]
    relocated = stops.relocated(image)
    entered = stops.first(image, MAIN) or stops.first(image, ENTRY)
    if relocated is not None:
        mapped = [time for time in image.mappings if first < time < relocated]
        moments += [("loader", first), ("relocation", max(mapped, default=first)),
                    ("constructors", relocated)]
    elif entered is not None:
        moments.append(("constructors", first))
    if entered is not None:
        moments.append(("main", entered))
        started = stops.first(image, UNTIL)
        if started is not None:
            moments.append(("started", started))
        if ready is not None and moments[-1][1] < ready < end:
            moments.append(("request", ready))
        ends = [*(time for _, time in moments[1:]), end]
    elif relocated is not None:  # nothing shows where the constructors end
        ends = [time for _, time in moments[1:]]
        moments.pop()
    else:
        ends = [first]
    return [Phase(number, name, start, max(start, stop))
            for (name, start), stop in zip(moments, ends, strict=True)]


def _missing(history: History, loading: Loading | None, stops: _Stops) -> list[Missing]:
    if loading is None or not history.images:
        return []
    missing = []
    kinds = {milestone.kind for milestone in loading.milestones}
    images = [image for image in history.images if stops.first(image, MAIN) or
              stops.first(image, ENTRY)]
    if ENTRY in kinds:
        missing.append(Missing("the end of the constructors", f"{loading.program} has no symbol "
                               "main: its own constructors count as main",
                               "record the program before it is stripped"))
    if not images:
        missing.append(Missing("the phase main", f"{loading.program} was not seen to enter it", ""))
    if loading.interpreter is None:
        missing.append(Missing("the phases loader and relocation", f"{loading.program} is static: "
                               "it relocates itself, in the phase constructors", ""))
    elif images and not any(stops.relocated(image) for image in images):
        missing.append(Missing("the phases loader and relocation", f"{loading.interpreter} was "
                               "not seen to tell debuggers that it has relocated the program: "
                               "they are in the phase constructors", ""))
    if loading.until and not any(stops.first(image, UNTIL) for image in history.images):
        missing.append(Missing("the phase started", f"{loading.until} was not entered", ""))
    others = sum(image.executed is not None and image not in images for image in history.images)
    if others and images:
        missing.append(Missing("the phases after relocation of programs other than the command's",
                               f"there {'is' if others == 1 else 'are'} {others} such; main is "
                               f"watched only in {loading.program}", "record them on their own"))
    return missing
