"""The cost of a start with all of its files, and which of them to mend first, by frontload-predict.

For one start or several programs' starts, each with its prefetch list and its weight. The document
has the schema "frontload-predict-starts/1".

Seconds are a latency for each request that the program waits for and for each range of a list (or
for as many requests of a list as the device works on at once), and the time of the bytes. Sharing
of requests by two files is not counted.
"""

import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

from frontload import __version__
from frontload.base.spans import Spans
from frontload.device.kinds import PredictedDevice
from frontload.measure.prediction import ask_predictor
from frontload.reading import blocks, listing
from frontload.reading.listing import PAGE, READ, File, PrefetchList

SCHEMA, _QUESTION = "frontload-predict-starts/1", "frontload-whole-start/1"
# Ways to start: as it is; with a list (frontload-run --files); with fronts (each ELF file with its
# touched pages side by side, in the order of first touch; a real front is no larger, as it has the
# touched functions and data of these pages); with both.
AS_IT_IS, LIST, FRONTS, BOTH = "as_it_is", "list", "fronts", "fronts_and_list"
_Count = Literal["major_faults", "requests", "asked_ranges", "read_bytes"]
_COUNTS: tuple[_Count, ...] = get_args(_Count)
# The sums over the lists, each as often as its weight. What a list asks for of two files that
# follow each other in the list and on the device is one request. `asked_requests`: those that a
# list makes; `asked_ranges`: of which a disk has to find the beginning; `seconds`: the device's.
Cost = dict[Literal[_Count, "asked_requests", "seconds"], float]
Ways = dict[str, Cost]
_Costs = dict[str, dict[str, int]]  # of a file, by way, as frontload-predict has them
List = TypedDict("List", {
    "path": str, "weight": int, "runs": int, "files": int, "touched_bytes": int})
PlannedFile = TypedDict("PlannedFile", {
    "path": str, "lists": int,
    "touched_bytes": int,  # by the start that touches most
    "can_have_front": bool,
    "devices": dict[str, Ways]})  # by name
Document = TypedDict("Document", {
    "schema": str, "frontload": str, "devices": list[PredictedDevice], "lists": list[List],
    "starts": dict[str, Ways],  # by device
    "files": list[PlannedFile]})  # the first gains most by a front, on the first device, without a
                                  # list


@dataclass(frozen=True)
class Input:
    """A start, which happens `weight` times as often as one of weight 1."""

    path: str
    weight: int = 1


def predict(inputs: Sequence[Input], options: Sequence[str] = ()) -> Document:
    """The document; `options` choose frontload-predict's devices."""
    devices: list[PredictedDevice] = _ask("--list-devices", *options, "--whole-start=-")["devices"]
    described: list[List] = []
    totals: dict[str, Ways] = {}
    files: dict[str, PlannedFile] = {}
    for given in inputs:
        start = listing.read(given.path)
        in_order = [file for file, pages in start.pages.items() if pages]
        going_on = blocks.going_on(start, in_order)
        described.append({"path": given.path, "weight": given.weight, "runs": start.runs,
                          "files": len(in_order), "touched_bytes": start.size()})
        for file, costs in zip(in_order, _costs(start, in_order, options), strict=True):
            row = files.setdefault(file.path, {
                "path": file.path, "lists": 0, "touched_bytes": 0,
                "can_have_front": bool(file.build_id), "devices": {}})
            row["lists"] += 1
            row["touched_bytes"] = max(row["touched_bytes"], sum(
                each.end - each.begin for each in start.ranges(file)))
            for device in devices:
                # A device that works on many requests at once has begun the first by then.
                shares = device["parallel"] == 1 and file in going_on
                found = _ways(costs[device["name"]], bool(file.build_id), shares)
                for to in (row["devices"], totals):
                    _add(to.setdefault(device["name"], {}), found, given.weight)
    for device in devices:
        for ways in (totals.get(device["name"], {}),
                     *(row["devices"][device["name"]] for row in files.values())):
            for cost in ways.values():
                cost["seconds"] = seconds(cost, device)
    first = devices[0]["name"]
    rows = sorted(files.values(), key=lambda row: (-gain(row["devices"][first], FRONTS),
                                                   row["path"]))
    return {"schema": SCHEMA, "frontload": __version__, "devices": devices, "lists": described,
            "starts": totals, "files": rows}


def gain(ways: Ways, way: str, base: str = AS_IT_IS) -> float:
    """The seconds that one way saves."""
    return ways[base]["seconds"] - ways[way]["seconds"]


def seconds(cost: Cost, device: PredictedDevice) -> float:
    """The time that a device takes: see above."""
    waited = cost["requests"] - cost["asked_requests"]
    asked = cost["asked_ranges"] if device["parallel"] == 1 \
        else math.ceil(cost["asked_requests"] / device["parallel"])
    return (waited + asked) * device["latency_seconds"] \
        + cost["read_bytes"] / device["bytes_per_second"]


def _ways(costs: _Costs, can_have_front: bool, shares: bool) -> Ways:
    """frontload-predict's costs of a file, by way; as it is, it may share the first request of a
    list with the file before it (the place of a new front is not known)."""
    names = {AS_IT_IS: "as_it_is", LIST: "list",
             FRONTS: "front" if can_have_front else "as_it_is",
             BOTH: "front_and_list" if can_have_front else "list"}
    found: Ways = {}
    for way, name in names.items():
        cost = costs[name]
        # All requests of a list but the first are queued.
        asked = cost["queued_requests"] + 1 if cost["asked_ranges"] else 0
        found[way] = {**{key: cost[key] for key in _COUNTS}, "asked_requests": asked}
        if shares and name == "list":
            found[way]["requests"] -= 1
            found[way]["asked_requests"] -= 1
    return found


def _add(to: Ways, ways: Ways, weight: int) -> None:
    for way, cost in ways.items():
        sums = to.setdefault(way, {key: 0 for key in cost})
        for key, value in cost.items():
            sums[key] += value * weight


def _costs(start: PrefetchList, files: Iterable[File], options: Sequence[str]
           ) -> list[dict[str, _Costs]]:
    with question((file.path, file.size, bool(file.build_id), touched(start, file))
                  for file in files) as path:
        return _ask(f"--whole-start={path}", *options)["files"]


@contextmanager
def question(files: Iterable[tuple[str, int, bool, list[list[int]]]]) -> Iterator[str]:
    """A file for frontload-predict: paths, sizes, whether they are mapped, what is touched."""
    keys = "path", "size", "is_mapped", "touched"
    with tempfile.NamedTemporaryFile("w", prefix="frontload-predict.", suffix=".json") as text:
        json.dump({"schema": _QUESTION,
                   "files": [dict(zip(keys, file, strict=True)) for file in files]}, text)
        text.flush()
        yield text.name


def listed(path: str, asked_for: Spans) -> tuple[str, int, bool, list[list[int]]]:
    """Of a `question`, for --listed: a file of which lists ask for these whole pages."""
    return (os.path.realpath(path), os.path.getsize(path), True, [
        [begin // PAGE, (end - begin) // PAGE, 0] for begin, end in
        zip(asked_for.start.tolist(), asked_for.end.tolist(), strict=True)])


def touched(start: PrefetchList, file: File) -> list[list[int]]:
    """The touched pages of a file, in the order of first touch: the first page, how many follow it
    in the file and in that order, and 1 if they are read by read(2)."""
    found: list[list[int]] = []
    rank = 0
    for touch, page in sorted(((touch.rank, touch.how == READ), page)
                              for page, touch in start.pages[file].items()):
        last = found[-1] if found else None
        if last and last[0] + last[1] == page and touch == (rank, bool(last[2])):
            last[1] += 1
        else:
            found.append([page, 1, int(touch[1])])
        rank = touch[0] + 1
    return found


def _ask(*arguments: str) -> Any:
    return ask_predictor(*arguments, evidence="the prefetch list")
