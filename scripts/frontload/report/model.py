"""Makes the document of a report: all that its page shows, from recorded starts."""

import functools
import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypedDict, cast

from frontload import __version__
from frontload.base import console
from frontload.base.arrays import np
from frontload.base.demangle import demangled
from frontload.base.errors import Failure
from frontload.base.spans import Spans
from frontload.elf import file as elves
from frontload.faults.document import Process
from frontload.profile.trace import GRANULE
from frontload.reading.listing import PrefetchList
from frontload.report import accounting
from frontload.report.advice import advice
from frontload.report.document import (
    Compared,
    Comparison,
    Document,
    Figures,
    File,
    Phase,
    SectionBytes,
    Variant,
    Wasted,
)
from frontload.report.events import CAUSES, MAJOR, MINOR, READ
from frontload.report.recorded import File as RecordedFile
from frontload.report.recorded import Recording
from frontload.report.start import Start, look
from frontload.report.touched import Touches

SCHEMA = "frontload-report/1"
_FaultCounts = TypedDict("_FaultCounts", {"major_faults": int | None, "minor_faults": int | None})
_UNCOUNTED: _FaultCounts = {"major_faults": None, "minor_faults": None}
TRACES_REMEDY = ("record the same start with `frontload record --data -o DIR`, and give its traces "
                 "to the report")


def build(recordings: Sequence[Recording], *, traces: Iterable[str] = (),
          maps: Sequence[str] = (), binaries: Iterable[str] = (),
          title: str | None = None, lists: Mapping[str, PrefetchList] | None = None) -> Document:
    """The document of these starts, in this order.

    traces: of any of the programs, from `frontload record` with and without --data
    maps: of links of any of the programs
    binaries: linked files that are no longer where they were recorded
    lists: prefetch lists, by path
    """
    page_size = min((file.page_size for recording in recordings for file in recording.files),
                    default=4096)
    traces = list(traces)
    touches = Touches(traces) if traces else None
    known = _known(binaries, recordings)
    starts = [look(recording, touches, maps, known, lists)
              for recording in console.progress(recordings, "reading starts")]
    _check_maps(maps, starts)
    variants = [_variant(each, page_size) for each in starts]
    first = recordings[0]
    return {
        "schema": SCHEMA,
        "frontload": __version__,
        "title": title or os.path.basename(first.command[0]) or first.variant,
        "host": first.host,
        "page_size": page_size,
        "variants": variants,
        "comparison": _comparison(variants),
    }


def _known(binaries: Iterable[str], recordings: Sequence[Recording]) -> dict[str, str]:
    """Linked files by their build-id; one that was not recorded is an error."""
    recorded = {file.build_id for recording in recordings for file in recording.files}
    known = {}
    for path in binaries:
        build_id = elves.read(path).build_id.hex()
        if not build_id or build_id not in recorded:
            raise Failure(f"{os.fspath(path)}: is not among the recorded files",
                          note="it may have been linked again since; record it again")
        known[build_id] = path
    return known


def _check_maps(maps: Sequence[str], starts: Sequence[Start]) -> None:
    """A map that fits nowhere is an error, unless the program that it is of may be missing here."""
    if any(start.main is None or start.places[start.main].elf is None for start in starts):
        return
    for path in maps:
        if path not in [start.map for start in starts]:
            raise Failure(f"{os.fspath(path)}: is not the map of any of these programs",
                          note="give the map that -Wl,-Map=FILE wrote in their own link")


def dump(document: Document) -> bytes:
    return (json.dumps(document, separators=(",", ":")) + "\n").encode()


def _variant(start: Start, page_size: int) -> Variant:
    recording, seen = start.recording, start.events
    order = start.files()
    place = {number: index for index, number in enumerate(order)} | {-1: -1}
    files = [_file(start, number, page_size) for number in order]
    sections = _numbers(seen.section)
    symbols = _numbers(name for pair in zip(seen.symbol, seen.by, strict=True) for name in pair)
    shown = demangled(name for name in [*symbols, *(
        each.name for waste in start.waste if waste
        for each in (*waste["functions"], *waste["data"]))] if name)
    return {
        "name": recording.variant,
        "command": recording.command,
        "condition": recording.condition,
        "device": recording.device,
        "block_bytes": recording.block_bytes,
        "missing": _missing(start),
        "summary": _summary(start, files),
        "processes": [cast(Process, dict(process)) for process in recording.processes],
        "files": files,
        "events": {
            "kind": "".join(seen.kind.tolist()),
            "time_ns": seen.time_ns.tolist(),
            "file": [place[number] for number in seen.file.tolist()],
            "offset": seen.offset.tolist(),
            "bytes": seen.bytes.tolist(),
            "cause": seen.cause.tolist(),
            "section": [sections[name] for name in seen.section],
            "symbol": [symbols[name] for name in seen.symbol],
            "by": [symbols[name] for name in seen.by],
            "backward": seen.backward.astype(int).tolist(),
            "process": seen.process.tolist(),
            "thread": seen.thread.tolist(),
        },
        "causes": list(CAUSES),
        "section_names": list(filter(None, sections)),
        "symbols": [shown[name] for name in symbols if name],
        "phases": _phases(start),
        "bytes": [cast(SectionBytes, {"file": place[number], **asdict(row)}) for number in order
                  for row in accounting.rows(start.places[number], recording.reads[number],
                                             start.touched[number])],
        "waste": _waste(start, order, shown),
        "advice": [asdict(sentence) for sentence in advice(start)],
    }


def _numbers(texts: Iterable[str] | Iterable[bytes]) -> dict[Any, int]:
    """The texts that columns point to, each once, in the order of first use; -1 for none."""
    found = {text: number for number, text in enumerate(dict.fromkeys(filter(None, texts)))}
    return found | dict.fromkeys(["", b""], -1)


def _file(start: Start, number: int, page_size: int) -> File:
    file, read = start.recording.files[number], start.recording.reads[number]
    touched, front, listed = start.touched[number], start.places[number].front, start.listed[number]
    asked = [each for each in (front, listed) if each is not None]
    return {
        "path": file.path,
        "size": file.size,
        "sections": [{"name": section.name, "offset": section.offset, "size": section.size}
                     for section in file.sections],
        "read": None if read is None else read.to_text(page_size),
        "touched": None if touched is None else touched.to_text(GRANULE),
        "front": None if front is None else front.to_text(page_size),
        "listed": None if listed is None else listed.to_text(page_size),
        "unasked_bytes": functools.reduce(operator.sub, asked, read).size
                         if asked and read is not None else None,
        **(_UNCOUNTED if start.recording.totals
           else _counted(start, start.events.file == number)),
        "read_bytes": None if read is None else read.size,
        "touched_bytes": None if touched is None else touched.size,
    }


def _counted(start: Start, rows: np.ndarray) -> _FaultCounts:
    return {"major_faults": int((rows & start.events.of(MAJOR)).sum()),
            "minor_faults": int((rows & start.events.of(MINOR)).sum())}


def _summary(start: Start, files: list[File]) -> Figures:
    recording, seen = start.recording, start.events
    reads = [read for read in recording.reads if read is not None]
    both = [(read, its) for read, its in zip(recording.reads, start.touched, strict=True)
            if read is not None and its is not None]
    read = sum(each.size for each, _ in both)
    wasted = sum((each - used).size for each, used in both)
    touched = [each.size for each in start.touched if each is not None]
    totals = recording.totals or {
        f"{kind}_faults": int(seen.of(which).sum()) + recording.unlisted.get(kind, 0)
        for kind, which in (("major", MAJOR), ("minor", MINOR))}
    return {
        "major_faults": totals["major_faults"],
        "minor_faults": totals["minor_faults"],
        "read_bytes": sum(each.size for each in reads) if reads else None,
        "read_runs": sum(map(len, reads)) if reads else None,
        "requests": recording.requests,
        "blocks": sum(_blocks(file, read, recording.block_bytes) for file, read in zip(
            recording.files, recording.reads, strict=True) if read is not None)
                  if recording.block_bytes else None,
        "wall_ns": recording.wall_ns,
        "max_rss_bytes": recording.max_rss_bytes,
        "touched_bytes": sum(touched) if touched else None,
        "wasted_bytes": wasted if both else None,
        "density": accounting.density(read, wasted),
        "backward_reads": None if recording.fills is None and recording.totals else int(
            (seen.backward & seen.of(MAJOR if recording.fills is None else READ)).sum()),
        "files_read": sum(bool(file["read_bytes"]) for file in files),
    }


def _blocks(file: RecordedFile, read: Spans, size: int) -> int:
    edges = np.arange(0, file.size + size, size)
    return int((read.between(edges[:-1], edges[1:]) > 0).sum())


def _missing(start: Start) -> list[dict[str, str]]:
    recording = start.recording
    found = list(recording.missing)
    if recording.lost:
        found.append({"what": "some events", "why": f"the recorder lost {recording.lost} of them",
                      "remedy": "record again on a quieter machine"})
    main = None if recording.main is None else start.places[recording.main]
    if main is None or main.elf is None:
        path = recording.command[0] if main is None else main.file.path
        found.append({"what": "names of functions and data, and advice on relocations",
                      "why": f"{path} is not the file that was recorded, or is not there",
                      "remedy": "say where the program of the same build is now"})
        return found
    if recording.main is None or start.touched[recording.main] is None:
        found.append({"what": "touched bytes, and so what was read for nothing",
                      "why": "no trace of the program was given", "remedy": TRACES_REMEDY})
    elif start.lost:
        found.append({"what": f"{start.lost} of the touched bytes",
                      "why": "the traces come from another build, and these bytes were not found "
                             "in this one",
                      "remedy": TRACES_REMEDY})
    return found


def _phases(start: Start) -> list[Phase]:
    seen = start.events
    found: list[Phase] = []
    for phase in sorted(start.recording.phases, key=lambda each: (each.process, each.start_ns)):
        inside = phase.holds(seen.process, seen.time_ns)
        found.append({
            "name": phase.name, "process": phase.process,
            "start_ns": phase.start_ns, "end_ns": phase.end_ns, "waits_ns": phase.waits_ns,
            **_counted(start, inside), "read_bytes": None if start.recording.fills is None
            else int(seen.bytes[inside].sum()),
        })
    return found


def _waste(start: Start, order: list[int], shown: dict[bytes, str]
           ) -> dict[str, list[Wasted]] | None:
    if not any(start.waste):
        return None
    found: dict[str, list[Wasted]] = {}
    for kind in ("functions", "data", "objects"):
        rows = [(place, each) for place, number in enumerate(order)
                for each in (start.waste[number] or {}).get(kind, ())]
        rows.sort(key=lambda row: -row[1].wasted)
        found[kind] = [{
            "name": shown.get(each.name) or _text(each.name), "file": place,
            "section": each.section, "object": None if each.object is None else _text(each.object),
            "size": each.size, "read": each.read, "touched": each.touched, "wasted": each.wasted,
        } for place, each in rows[:accounting.TOP]]
    return found


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _comparison(variants: list[Variant]) -> Comparison | None:
    if len(variants) < 2:
        return None
    base = variants[0]["summary"]
    found: list[Compared] = []
    for number, variant in enumerate(variants[1:], 1):
        figures = {name: (value, base[name]) for name, value in variant["summary"].items()}
        found.append({
            "variant": number,
            "ratios": {name: round(value / before, 4) if value is not None and before else None
                       for name, (value, before) in figures.items()},
            "differences": {name: None if value is None or before is None
                            else round(value - before, 4)
                            for name, (value, before) in figures.items()},
        })
    return {"base": 0, "variants": found}
