"""The contents of a report's page, in order, ready for the template.

This only calculates figures and measures none: everything comes from the report's document.
"""

from collections.abc import Callable
from dataclasses import dataclass

from frontload.report import page_text as text
from frontload.report.page_files import ComparedFile
from frontload.report.page_strips import Strip, strip

# The rows of a table, and the maps of files, that are shown at first; the rest on request.
FIRST_ROWS = 15
FIRST_MAPS = 6
# Sections with a smaller share of a map have no room for their name.
_MIN_LABEL = 0.045


@dataclass(frozen=True)
class Figure:
    """One key figure in every variant."""

    label: str
    meaning: str
    values: list[str]
    change: str
    verdict: str  # better, worse or same: the last variant beside the first


_FIGURES: tuple[tuple[str, str, str, Callable], ...] = (
    ("major_faults", "major faults", "times the program stopped until the device had answered",
     text.number),
    ("read_bytes", "read", "of all files, from the device into the page cache", text.byte_count),
    ("read_runs", "stretches read", "contiguous pages; each is a seek on a disk", text.number),
    ("backward_reads", "reads backwards",
     "reads that begin before the previous read of the same file", text.number),
    ("requests", "requests", "what the device was asked for", text.number),
    ("minor_faults", "minor faults", "pages that were in memory and had to be mapped",
     text.number),
    ("wasted_bytes", "read for nothing", "read, and never touched by the program",
     text.byte_count),
    ("max_rss_bytes", "peak memory", "resident at its peak", text.byte_count),
    ("wall_ns", "time of this run", "while it was recorded; times are measured by "
     "frontload measure", text.duration),
)


def figures(variants: list[dict]) -> list[Figure]:
    """The key figures that at least one variant has."""
    found = []
    summaries = [variant["summary"] for variant in variants]
    for key, label, meaning, show in _FIGURES:
        values = [summary.get(key) for summary in summaries]
        if all(value is None for value in values):
            continue
        first, last = values[0], values[-1]
        verdict = "same"
        if len(values) > 1 and None not in (first, last) and abs(last - first) >= 0.005 * first:
            verdict = "better" if last < first else "worse" if last > first else "same"
        less = "fewer" if show is text.number else "less"
        found.append(Figure(label, meaning, [show(value) for value in values],
                            text.change(first, last, less) if len(values) > 1 else "", verdict))
    return found


def verdict(variants: list[dict]) -> list[tuple[str, bool]]:
    """The page in one sentence, as pieces; True marks names."""
    first, last = variants[0], variants[-1]
    now, how = last["summary"], _start_of(last["condition"])
    said = [(text.name(last["name"]), True), (f" starts {how} with ", False),
            (_cost(now), False)]
    if len(variants) > 1:
        base = first["summary"]
        said += [("; ", False), (text.name(first["name"]), True),
                 (f" needs {_cost(base)}", False)]
        compared = [f"{text.change(base[key], now[key], 'fewer')} {noun}"
                    for key, noun in (("major_faults", "faults"), ("read_bytes", "bytes"))
                    if base[key] and now[key] and abs(base[key] - now[key]) >= 0.005 * base[key]]
        if compared:
            said.append((": " + " and ".join(compared), False))
    elif now.get("density") is not None:
        said.append((f"; {text.share(now['density'])} of what is read is ever touched", False))
    return [*said, (".", False)]


def _start_of(condition: str) -> str:
    known = {"cold": "from cold", "selectively cold": "selectively cold", "warm": "from warm"}
    return known.get(condition, f"({text.name(condition)})")


def _cost(summary: dict) -> str:
    faults = summary["major_faults"]
    said = f"{text.number(faults)} major fault{'' if faults == 1 else 's'}"
    if summary["read_bytes"] is not None:
        said += f" and {text.byte_count(summary['read_bytes'])} read"
    return said


@dataclass(frozen=True)
class FileMap:
    """One compared file: for each variant its path, figures and strip."""

    number: int
    path: str
    rows: list[dict]
    is_first: bool  # shown at once


def file_maps(document: dict, files: list[ComparedFile]) -> list[FileMap]:
    found = []
    for number, file in enumerate(files):
        rows = []
        for variant, index in zip(document["variants"], file.indexes, strict=True):
            if index is None:
                continue
            entry = variant["files"][index]
            drawn = strip(entry, file.size, document["page_size"])
            rows.append({
                "variant": variant["name"], "path": entry["path"], "size": entry["size"],
                "strip": drawn, "read": entry["read_bytes"], "touched": entry["touched_bytes"],
                "major": entry["major_faults"], "minor": entry["minor_faults"],
                "width": entry["size"] / file.size if file.size else 0,
                "sections": _labels(entry, file.size), "says": _says(entry, drawn)})
        was_read = any(row["read"] or row["strip"] is None for row in rows)
        found.append(FileMap(number, file.path, rows, number < FIRST_MAPS and was_read))
    return sorted(found, key=lambda each: not each.is_first)


def some_unknown(maps: list[FileMap]) -> bool:
    """Whether there is a map of a file with unknown touched bytes."""
    return any(row["read"] and row["touched"] is None for entry in maps for row in entry.rows)


def folded(maps: list[FileMap]) -> dict:
    """Which maps are only shown on request: from the `start`th on (counted from 1, 0 for none)."""
    rest = [entry for entry in maps if not entry.is_first]
    read = sum(any(row["read"] for row in entry.rows) for entry in rest)
    plural = "" if len(rest) == 1 else "s"
    return {"start": len(maps) - len(rest) + 1 if rest else 0,
            "summary": f"{len(rest)} more file{plural}" + (
                "" if read else " that were used and not read" if plural
                else " that was used and not read")}


def _says(file: dict, drawn: Strip | None) -> str:
    """The map in words, for users who do not see it."""
    if drawn is None:
        return "how much of it was read is not known"
    said = f"{text.byte_count(file['read_bytes'])} of {text.byte_count(file['size'])} read"
    if file["touched_bytes"] is not None:
        said += f", {text.byte_count(file['touched_bytes'])} touched"
    return said


def _labels(file: dict, length: int) -> list[dict]:
    return [{"name": section["name"], "left": 100 * section["offset"] / length,
             "width": 100 * section["size"] / length,
             "label": section["size"] / length >= _MIN_LABEL}
            for section in sorted(file["sections"], key=lambda section: section["offset"])
            if length and section["size"] / length >= 0.0005]


def byte_rows(document: dict, files: list[ComparedFile]) -> list[dict]:
    """Where the bytes go: one row for each section of each file, with the cells of all variants."""
    variants = document["variants"]
    rows: dict[tuple[int, str], dict] = {}
    for number, variant in enumerate(variants):
        place = {file.indexes[number]: at for at, file in enumerate(files)}
        for entry in variant["bytes"]:
            if not entry["read"] and not entry["touched"]:
                continue
            at = place[entry["file"]]
            row = rows.setdefault((at, entry["section"]), {
                "section": entry["section"], "file": files[at].path, "label": files[at].label,
                "cells": [None] * len(variants)})
            row["cells"][number] = entry
    found = list(rows.values())
    most = max((cell["read"] or 0 for row in found for cell in row["cells"] if cell), default=0)
    for row in found:
        row["most"] = max(cell["read"] or 0 for cell in row["cells"] if cell)
        row["parts"] = [_parts(cell, most) for cell in row["cells"]]
    return sorted(found, key=lambda row: -row["most"])


def _parts(cell: dict | None, most: int) -> tuple[float, float]:
    """The little bar of a cell: touched and wasted, in percent of the longest."""
    if not cell or not cell["read"] or not most:
        return 0, 0
    touched = min(cell["touched"] or 0, cell["read"])
    return round(100 * touched / most, 2), round(100 * (cell["read"] - touched) / most, 2)


def missing(variants: list[dict]) -> list[dict]:
    """Facts that could not be recorded; missing for the same reason in many variants, once."""
    found: dict[tuple, list[str]] = {}
    for variant in variants:
        for entry in variant["missing"]:
            key = entry["what"], entry["why"], entry.get("remedy") or ""
            found.setdefault(key, []).append(variant["name"])
    return [{"what": what, "why": why, "remedy": remedy,
             "variants": names if len(names) < len(variants) else []}
            for (what, why, remedy), names in found.items()]


def gain(advice: dict) -> str:
    """The expected gain of an advice, in words."""
    expected = advice.get("gain") or {}
    faults, read = expected.get("major_faults"), expected.get("read_bytes")
    said = []
    if faults:
        said.append(f"{text.number(abs(faults))} {'fewer' if faults > 0 else 'more'} major "
                    f"fault{'' if abs(faults) == 1 else 's'}")
    if read:
        said.append(f"{text.byte_count(abs(read))} {'less' if read > 0 else 'more'} to read")
    return ", ".join(said)


def machine(document: dict) -> list[str]:
    """The machine in a few words each; further fields of a newer recorder as they are."""
    host = dict(document["host"])
    host.pop("page_size", None)
    processors, memory = host.pop("processors", None), host.pop("memory_bytes", None)
    said = [str(host.pop(key)) for key in ("kernel", "machine", "processor") if host.get(key)]
    if processors:
        said.append(f"{processors} processor{'' if processors == 1 else 's'}")
    if memory:
        said.append(f"{text.byte_count(memory)} of memory")
    said.append(f"pages of {document['page_size']} bytes")
    return said + [f"{key.replace('_', ' ')} {value}" for key, value in sorted(host.items())]
