"""Makes the document of a report: all that its page shows, from recorded starts.

This declares the format, schema "frontload-report/1", a JSON object. Times are whole nanoseconds
since the exec of the command; sizes and offsets are bytes. A value that nobody knows is null. Texts
are as they were found. A name may hold anything, so a reader that shows it has to escape it.

    schema, frontload   "frontload-report/1", and the version that wrote it
    title               a text
    host                what `frontload faults` says of the machine
    page_size           the unit of `read`
    variants            one object for each recorded start, see below; the first is the base
    comparison          null for one variant; else {"base": 0, "variants": [{"variant": i,
                        "ratios": {figure: variant / base}, "differences": {figure: variant - base}
                        }, ...]} of the figures of `summary`; null where either figure is null

A variant has
    name, command, condition
    device      null, or the kind of device that the kernel simulated by slowing one down, a text
    missing     [{"what", "why", "remedy"}]: what is not known about this start
    summary     major_faults, minor_faults (including those that the kernel only counted),
                read_bytes, read_runs (contiguous stretches of pages), requests (of the device),
                wall_ns, max_rss_bytes, touched_bytes (of the files whose touched bytes are known),
                wasted_bytes and density (of these files), backward_reads, files_read
    processes   [{"pid", "parent" (index or null), "command", "start_ns", "end_ns"}]
    files       [{"path", "size", "sections": [{"name", "offset", "size"}],
                "read": pages, "touched": granules of 16 bytes, both as text, the runs
                `first+number` separated by spaces; "major_faults", "minor_faults", "read_bytes",
                "touched_bytes"}], those with the most bytes read first; files that were neither
                read nor faulted in are left out
    events      columns of equal length, in order of time:
                    kind      one character each: M major fault, m minor fault, F read
                    time_ns
                    file      index; -1 for memory that belongs to no file
                    offset    in the file: of the touched byte, or of the first byte of a read
                    bytes     of a read
                    cause     index into `causes`; the rules are in events.py
                    section   index into `section_names`, -1 for none
                    symbol    index into `symbols`: what is at the offset; -1 if not known
                    by        index into `symbols`: the code that touched it; -1 if not known
                    backward  1 for a read that begins before the previous read of the same file,
                              and for the major fault that waited for it
                    process   index
                    thread    its number
    causes, section_names, symbols    what the columns point to
    phases      [{"name", "process", "start_ns", "end_ns", "waits_ns", "major_faults",
                "minor_faults", "read_bytes"}], by process and time; waits_ns says for how long
                no thread ran, by what was waited for: "disk" or a system call (null: unknown)
    bytes       [{"file", "section", "size", "touched", "read", "wasted", "density"}]; see
                accounting.py. The `read` of a file's rows add up to its read_bytes
    waste       null if touched bytes are not known, otherwise {"functions", "data", "objects"},
                each [{"name", "file", "section", "object", "size", "read", "touched", "wasted"}],
                the 50 most wasteful; objects only if the map of the link was given
    advice      [{"id", "text", "how", "gain": {"major_faults", "read_bytes"}}]; see advice.py
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from frontload import __version__
from frontload.base.demangle import demangled
from frontload.base.errors import Failure
from frontload.elf import file as elves
from frontload.profile.trace import GRANULE
from frontload.report import accounting
from frontload.report.advice import advice
from frontload.report.events import CAUSES, MAJOR, MINOR, READ
from frontload.report.recorded import Recording
from frontload.report.start import Start, look
from frontload.report.touched import Touches

SCHEMA = "frontload-report/1"
TRACES_REMEDY = ("record the same start with `frontload record --data -o DIR`, and give its traces "
                 "to the report")


def build(recordings: Sequence[Recording], *, traces: Iterable[str] = (),
          maps: Sequence[str] = (), binaries: Iterable[str] = (),
          title: str | None = None) -> dict:
    """The document of these starts, in this order.

    traces: of any of the programs, from `frontload record` with and without --data
    maps: of links of any of the programs
    binaries: linked files that are no longer where they were recorded
    """
    page_size = min((file.page_size for recording in recordings for file in recording.files),
                    default=4096)
    traces = list(traces)
    touches = Touches(traces) if traces else None
    known = _known(binaries, recordings)
    starts = [look(recording, touches, maps, known) for recording in recordings]
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


def dump(document: dict) -> bytes:
    return (json.dumps(document, separators=(",", ":")) + "\n").encode()


def _variant(start: Start, page_size: int) -> dict:
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
        "missing": _missing(start),
        "summary": _summary(start, files),
        "processes": [dict(process) for process in recording.processes],
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
        "bytes": [{"file": place[number], **asdict(row)} for number in order
                  for row in accounting.rows(start.places[number], recording.reads[number],
                                             start.touched[number])],
        "waste": _waste(start, order, shown),
        "advice": [asdict(sentence) for sentence in advice(start)],
    }


def _numbers(texts: Iterable) -> dict:
    """The texts that columns point to, each once, in the order of first use; -1 for none."""
    found = {text: number for number, text in enumerate(dict.fromkeys(filter(None, texts)))}
    return found | dict.fromkeys(["", b""], -1)


def _file(start: Start, number: int, page_size: int) -> dict:
    file, read = start.recording.files[number], start.recording.reads[number]
    touched = start.touched[number]
    return {
        "path": file.path,
        "size": file.size,
        "sections": [{"name": section.name, "offset": section.offset, "size": section.size}
                     for section in file.sections],
        "read": None if read is None else read.to_text(page_size),
        "touched": None if touched is None else touched.to_text(GRANULE),
        **(dict.fromkeys(("major_faults", "minor_faults")) if start.recording.totals
           else _counted(start, start.events.file == number)),
        "read_bytes": None if read is None else read.size,
        "touched_bytes": None if touched is None else touched.size,
    }


def _counted(start: Start, rows: np.ndarray) -> dict[str, int]:
    return {name: int((rows & start.events.of(kind)).sum())
            for name, kind in (("major_faults", MAJOR), ("minor_faults", MINOR))}


def _summary(start: Start, files: list[dict]) -> dict:
    recording, seen = start.recording, start.events
    reads = [read for read in recording.reads if read is not None]
    both = [(read, its) for read, its in zip(recording.reads, start.touched, strict=True)
            if read is not None and its is not None]
    read = sum(each.size for each, _ in both)
    wasted = sum((each - used).size for each, used in both)
    touched = [each.size for each in start.touched if each is not None]
    listed = _counted(start, np.ones(len(seen), bool))
    return {
        **(recording.totals or {key: number + recording.unlisted.get(key.partition("_")[0], 0)
                                for key, number in listed.items()}),
        "read_bytes": sum(each.size for each in reads) if reads else None,
        "read_runs": sum(map(len, reads)) if reads else None,
        "requests": recording.requests,
        "wall_ns": recording.wall_ns,
        "max_rss_bytes": recording.max_rss_bytes,
        "touched_bytes": sum(touched) if touched else None,
        "wasted_bytes": wasted if both else None,
        "density": accounting.density(read, wasted),
        "backward_reads": None if recording.fills is None and recording.totals else int(
            (seen.backward & seen.of(MAJOR if recording.fills is None else READ)).sum()),
        "files_read": sum(bool(file["read_bytes"]) for file in files),
    }


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


def _phases(start: Start) -> list[dict]:
    seen, found = start.events, []
    for phase in sorted(start.recording.phases, key=lambda each: (each.process, each.start_ns)):
        inside = phase.holds(seen.process, seen.time_ns)
        found.append({
            "name": phase.name, "process": phase.process,
            "start_ns": phase.start_ns, "end_ns": phase.end_ns, "waits_ns": phase.waits_ns,
            **_counted(start, inside), "read_bytes": None if start.recording.fills is None
            else int(seen.bytes[inside].sum()),
        })
    return found


def _waste(start: Start, order: list[int], shown: dict[bytes, str]) -> dict | None:
    if not any(start.waste):
        return None
    found = {}
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


def _comparison(variants: list[dict]) -> dict | None:
    if len(variants) < 2:
        return None
    base = variants[0]["summary"]
    found = []
    for number, variant in enumerate(variants[1:], 1):
        figures = variant["summary"].items()
        found.append({
            "variant": number,
            "ratios": {name: round(value / base[name], 4) if value is not None and base[name]
                       else None for name, value in figures},
            "differences": {name: None if value is None or base[name] is None
                            else round(value - base[name], 4) for name, value in figures},
        })
    return {"base": 0, "variants": found}
