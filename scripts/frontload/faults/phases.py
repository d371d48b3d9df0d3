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
from itertools import compress

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
    stops = [_stops(history, loading, image) for image in history.images]
    phases: list[Phase] = []
    for number, image in enumerate(history.images):
        phases += _of_image(number, image, stops[number], image.end or end, ready)
    until = stops[0].get(UNTIL) if stops else None
    return Phases(phases, until, _missing(history, loading, stops))


def _stops(history: History, loading: Loading | None, image: Image) -> dict[str, int]:
    """When an image first reached each kind of milestone. The loader counts when it tells debuggers
    that all is consistent."""
    if loading is None:
        return {}
    kinds = {(each.path, each.offset): each.kind for each in loading.milestones}
    found: dict[str, int] = {}
    told = 0
    for time, file, offset in image.stops:
        kind = kinds.get((str(history.paths[file]), offset)) if file >= 0 else None
        told += kind == LOADER_TELLS
        if kind and (kind != LOADER_TELLS or told == 1 + loading.tells_twice):
            found.setdefault(kind, time)
    return found


def _of_image(number: int, image: Image, stops: dict[str, int], end: int,
              ready: int | None) -> list[Phase]:
    begun, first = image.executed, image.first_instruction
    if begun is None or first is None:
        return []
    moments = [("exec", begun)]
    relocated, entered = stops.get(LOADER_TELLS), stops.get(MAIN) or stops.get(ENTRY)
    if relocated is not None:
        mapped = [time for time in image.mappings if first < time < relocated]
        moments += [("loader", first), ("relocation", max(mapped, default=first)),
                    ("constructors", relocated)]
    elif entered is not None:
        moments.append(("constructors", first))
    if entered is not None:
        moments.append(("main", entered))
        if UNTIL in stops:
            moments.append(("started", stops[UNTIL]))
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


def _missing(history: History, loading: Loading | None, stops: list[dict[str, int]]
             ) -> list[Missing]:
    if loading is None or not history.images:
        return []
    missing = []
    kinds = {milestone.kind for milestone in loading.milestones}
    entered = [MAIN in each or ENTRY in each for each in stops]
    if ENTRY in kinds:
        missing.append(Missing("the end of the constructors", f"{loading.program} has no symbol "
                               "main: its own constructors count as main",
                               "record the program before it is stripped"))
    if not any(entered):
        missing.append(Missing("the phase main", f"{loading.program} was not seen to enter it", ""))
    if loading.interpreter is None:
        missing.append(Missing("the phases loader and relocation", f"{loading.program} is static: "
                               "it relocates itself, in the phase constructors", ""))
    elif any(entered) and not any(LOADER_TELLS in each for each in compress(stops, entered)):
        missing.append(Missing("the phases loader and relocation", f"{loading.interpreter} was "
                               "not seen to tell debuggers that it has relocated the program: "
                               "they are in the phase constructors", ""))
    if loading.until and not any(UNTIL in each for each in stops):
        missing.append(Missing("the phase started", f"{loading.until} was not entered", ""))
    others = sum(image.executed is not None and not is_ours
                 for image, is_ours in zip(history.images, entered, strict=True))
    if others and any(entered):
        missing.append(Missing("the phases after relocation of programs other than the command's",
                               f"there {'is' if others == 1 else 'are'} {others} such; main is "
                               f"watched only in {loading.program}", "record them on their own"))
    return missing
