"""A recording as JSON, "frontload-faults/1": described in docs/faults.md.

Times are nanoseconds since the command's exec was requested. Files and processes are positions in
their lists; the columns of a table have the same length.
"""

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypedDict, TypeVar

from frontload import __version__
from frontload.base.missing import Missing
from frontload.faults import files, phases
from frontload.faults.history import History
from frontload.faults.phases import Phase, Phases
from frontload.faults.recording import Recording
from frontload.faults.waits import Wait
from frontload.machine import host as measure_host
from frontload.measure.launcher import Sample
from frontload.measure.on_device import OwnDevice
from frontload.pagecache.residency import Residency
from frontload.tracing import perf

SCHEMA = "frontload-faults/1"
_SECTOR = 512
Row = TypeVar("Row")
Recorder = TypedDict("Recorder", {
    "tool": str, "events": list[str], "lost": int,
    # Faults that are not listed, `major` and `minor`: see _unlisted.
    "before_exec": dict[str, int], "unlisted": dict[str, int] | None, "written_fills": int})
Until = TypedDict("Until", {"symbol": str, "time_ns": int | None})
Process = TypedDict("Process", {
    "pid": int, "parent": int | None, "command": str, "start_ns": int, "end_ns": int | None})
StartPhase = TypedDict("StartPhase", {
    "process": int, "name": str, "start_ns": int, "end_ns": int,
    "waits_ns": dict[str, int] | None})  # by reason
Faults = TypedDict("Faults", {
    "time_ns": list[int], "major": list[int], "file": list[int], "offset": list[int],
    "address": list[int], "code_file": list[int], "code_offset": list[int],
    "process": list[int], "thread": list[int],
    "kernel": list[int],  # 1: taken in kernel mode
    "access": str})  # x, r, w or ? of each
Fills = TypedDict("Fills", {
    "time_ns": list[int], "file": list[int], "offset": list[int], "bytes": list[int],
    "process": list[int], "thread": list[int]})
Waits = TypedDict("Waits", {
    "time_ns": list[int], "duration_ns": list[int],
    "reason": list[str],  # disk, or the name of a system call
    "process": list[int], "thread": list[int]})
Requests = TypedDict("Requests", {
    "time_ns": list[int], "device": list[str],
    "offset": list[int],  # on the device
    "bytes": list[int], "thread": list[int]})
Document = TypedDict("Document", {  # null: not recorded
    "schema": str, "frontload": str, "host": measure_host.Host, "command": list[str],
    "variant": str, "condition": str, "recorder": Recorder, "missing": list[dict[str, str]],
    "sample": dict[str, Any],  # launcher.Sample
    "until": Until | None, "files": list[files.File], "processes": list[Process],
    "phases": list[StartPhase], "faults": Faults | None, "fills": Fills | None,
    "waits": Waits | None, "requests": Requests | None,
    "device": dict[str, Any] | None})  # on_device.OwnDevice; null: the files stay where they are


def make(recording: Recording, command: Sequence[str], variant: str, condition: str,
         before: Mapping[str, Residency], missing: Sequence[Missing] = (),
         device: OwnDevice | None = None) -> Document:
    """The document. `before`: the residency of some files just before the run; `missing`: what was
    missing before it."""
    history, missing = recording.history, list(missing)
    if history.lost:
        missing.append(Missing(
            f"{history.lost} records", "perf's buffers were full", "record as root, where buffers "
            "are larger" if recording.recorder.buffer_kib < 1024 else "record again"))
    known = {os.path.realpath(path): residency for path, residency in before.items()}
    for path in known:
        _learn(history, path)
    without_name = files.name_inodes(history)
    if without_name:
        missing.append(Missing("the names of some files", f"{without_name} inodes were filled "
                               "into the page cache without being mapped, and the kernel knows no "
                               "name for them", ""))
    paths = list(dict.fromkeys(path for path in history.paths if path is not None))
    after = {os.path.realpath(path): residency for path, residency in recording.after.items()}
    described = [files.describe(path, known.get(path), after.get(path)) for path in paths]
    # By the history's number of a file; the last one is for number -1.
    place = [*(-1 if path is None else paths.index(path) for path in history.paths), -1]
    seen = history.zero is not None
    if recording.events and not seen:
        missing.append(Missing("faults, fills, requests and phases", "the command's exec is not "
                               "among perf's records", "record again"))
    zero = history.zero or 0
    sample = recording.sample
    found = phases.find(history, recording.loading, zero + sample.wall_ns, zero + sample.ready_ns
                        if sample.ready and sample.ready_ns is not None
                        and sample.ready_ns < sample.wall_ns else None)
    until: Until | None = None
    if recording.loading and recording.loading.until:
        until = {"symbol": recording.loading.until,
                 "time_ns": None if found.until is None else found.until - zero}
    waits = history.threads.waits(zero) if seen and set(perf.RESTS) <= set(recording.events) \
        else None
    fills = _fills(history, place, zero) if seen and perf.FILLS in recording.events else None
    return {
        "schema": SCHEMA,
        "frontload": __version__,
        "host": measure_host.describe_host(),
        "command": list(command),
        "variant": variant,
        "condition": condition,
        "recorder": {"tool": recording.recorder.tool, "events": list(recording.events),
                     "lost": history.lost, "before_exec": history.before_exec,
                     "unlisted": _unlisted(recording) if seen else None,
                     "written_fills": sum(fill.written for fill in history.fills)},
        "missing": [dataclasses.asdict(each) for each in [*missing, *found.missing]],
        "sample": dataclasses.asdict(sample),
        "until": until,
        "files": described,
        "processes": [{"pid": image.pid, "parent": image.parent, "command": image.name,
                       "start_ns": (image.start if number else zero) - zero,
                       "end_ns": _end(image.end, zero, sample)}
                      for number, image in enumerate(history.images)],
        "phases": _phases(found, history, waits, zero),
        "faults": _faults(history, place, zero) if seen else None,
        "fills": fills,
        "waits": None if waits is None else _waits(waits, zero),
        "requests": _requests(recording, described, fills, zero) if seen else None,
        "device": dataclasses.asdict(device) if device else None,
    }


def dump(document: Document) -> bytes:
    """One line for each entry of the first level: columns are long, and not for reading."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
             for key, value in document.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _unlisted(recording: Recording) -> dict[str, int]:
    """How many more faults the kernel counted than were recorded: pages that it mapped unasked
    (arguments of exec, mlock). Below 0: a child that was not waited for."""
    faults = recording.history.faults
    major = sum(fault.major for fault in faults)
    listed = {"major": major, "minor": len(faults) - major}
    return {kind: getattr(recording.sample, f"{kind}_faults") - listed[kind]
            - recording.history.before_exec[kind] for kind in listed}


def _learn(history: History, path: str) -> None:
    """Adds a file that the user named, and that no mapping may have named."""
    try:
        status = os.stat(path)
    except OSError:
        return
    if path not in history.paths:
        history.file((os.major(status.st_dev), os.minor(status.st_dev)), status.st_ino, path)


def _table(rows: Iterable[Row], **columns: Callable[[Row], object]) -> Any:
    return {name: [column(row) for row in rows] for name, column in columns.items()}


def _faults(history: History, place: list[int], zero: int) -> Faults:
    return _table(
        history.faults, time_ns=lambda each: each.time - zero, major=lambda each: int(each.major),
        file=lambda each: place[each.file],
        offset=lambda each: -1 if place[each.file] < 0 else each.offset,
        address=lambda each: each.address, code_file=lambda each: place[each.code_file],
        code_offset=lambda each: -1 if place[each.code_file] < 0 else each.code_offset,
        process=lambda each: each.process, thread=lambda each: each.thread,
        kernel=lambda each: int(each.kernel)) | {
            "access": "".join(fault.access for fault in history.faults)}


def _fills(history: History, place: list[int], zero: int) -> Fills:
    return _table(
        [fill for fill in history.fills if fill.time >= zero and not fill.written],
        time_ns=lambda each: each.time - zero, file=lambda each: place[each.file],
        offset=lambda each: -1 if place[each.file] < 0 else each.offset,
        bytes=lambda each: each.bytes, process=lambda each: each.process,
        thread=lambda each: each.thread)


def _waits(found: Sequence[Wait], zero: int) -> Waits:
    return _table(found, time_ns=lambda each: each.start - zero,
                  duration_ns=lambda each: each.end - each.start, reason=lambda each: each.reason,
                  process=lambda each: each.process, thread=lambda each: each.thread)


def _end(end: int | None, zero: int, sample: Sample) -> int | None:
    """When a process ended; None if only the signal that ends a program that is ready ended it."""
    if end is None or (sample.ready and end - zero > sample.wall_ns):
        return None
    return end - zero


def _phases(found: Phases, history: History, waits: Sequence[Wait] | None, zero: int
            ) -> list[StartPhase]:
    """A wait belongs to the phase in which it begins; a wait of a child without phases, to its
    parent's phase."""
    have = {phase.process for phase in found.phases}
    owners = list(range(len(history.images)))
    for number, image in enumerate(history.images):
        if number not in have and image.parent is not None:
            owners[number] = owners[image.parent]

    def waited(phase: Phase) -> Counter[str]:
        sums: Counter[str] = Counter()
        for wait in waits or ():
            if owners[wait.process] == phase.process and phase.start <= wait.start < phase.end:
                sums[wait.reason] += wait.end - wait.start
        return sums

    return [{"process": phase.process, "name": phase.name, "start_ns": phase.start - zero,
             "end_ns": phase.end - zero, "waits_ns": None if waits is None else waited(phase)}
            for phase in found.phases]


def _requests(recording: Recording, described: list[files.File], fills: Fills | None,
              zero: int) -> Requests | None:
    """The reads of the devices that files were read from, while the command ran. The process behind
    each read is unknown."""
    if recording.requests is None:
        return None
    read = set(fills["file"]) if fills else {-1}
    devices = set()
    for number, file in enumerate(described):
        if number in read or -1 in read:  # a file without a name may be on any of them
            with suppress(OSError):
                devices.add(files.disk(os.stat(file["path"]).st_dev))
    end = zero + recording.sample.wall_ns
    chosen = [request for request in recording.requests
              if request.device in devices and request.kind.startswith("R")
              and zero <= request.time <= end]
    return _table(chosen, time_ns=lambda each: each.time - zero,
                  device=lambda each: f"{each.device[0]}:{each.device[1]}",
                  offset=lambda each: each.sector * _SECTOR,
                  bytes=lambda each: each.sectors * _SECTOR, thread=lambda each: each.tid)
