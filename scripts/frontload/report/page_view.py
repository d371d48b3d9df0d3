"""The contents of a report's page, in order, ready for the template.

This only calculates figures and measures none: everything comes from the report's document.

A file of the page stands for the files of one name of the variants, and for the programs of their
commands, whose names differ.
"""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from frontload.base.arrays import np
from frontload.base.spans import Spans
from frontload.faults import waits
from frontload.profile.trace import GRANULE
from frontload.report import page_text as text
from frontload.report.document import Document, Figure, Figures, File, Variant

# A strip is the map of a file from its first byte to its last, in columns. Each column is filled
# from below with the share of its touched bytes, and above it with the share read for nothing.
COLUMNS = 1000
HEIGHT = 24  # in the units of the SVG; a part that was read is at least one of them high
# Sections with a smaller share of a map have no room for their name.
_MIN_LABEL = 0.045
Shown = dict[str, Any]  # an entry for the template


_FIGURES: tuple[tuple[Figure, str, str, Callable], ...] = (
    ("major_faults", "major faults", "times the program stopped until the device had answered",
     text.number),
    ("read_bytes", "read", "of all files, from the device into the page cache", text.byte_count),
    ("read_runs", "extents read", "contiguous pages; each is a seek on a disk", text.number),
    ("backward_reads", "reads backwards",
     "reads that begin before the previous read of the same file", text.number),
    ("requests", "requests", "what the device was asked for", text.number),
    ("blocks", "blocks", "of the image, which are decompressed or fetched as a whole", text.number),
    ("minor_faults", "minor faults", "pages that were in memory and had to be mapped",
     text.number),
    ("wasted_bytes", "read for nothing", "read, and never touched by the program",
     text.byte_count),
    ("max_rss_bytes", "peak memory", "resident at its peak", text.byte_count),
    ("wall_ns", "time of this run", "while it was recorded; times are measured by "
     "frontload measure", text.duration),
)


def figures(variants: list[Variant]) -> list[Shown]:
    """The key figures that at least one variant has. The verdict is better, worse or same: the last
    variant beside the first."""
    found = []
    summaries = [variant["summary"] for variant in variants]
    for key, label, meaning, show in _FIGURES:
        values = [summary.get(key) for summary in summaries]
        if all(value is None for value in values):
            continue
        first, last = values[0], values[-1]
        verdict = "same"
        if first is not None and last is not None and abs(last - first) >= 0.005 * first:
            verdict = "better" if last < first else "worse" if last > first else "same"
        less = "fewer" if show is text.number else "less"
        found.append({"label": label, "meaning": meaning, "verdict": verdict,
                      "values": [show(value) for value in values],
                      "change": text.change(first, last, less) if len(values) > 1 else ""})
    return found


def verdict(variants: list[Variant]) -> dict[str, str]:
    """The parts of the page in one sentence: how and at what cost the last variant starts, and the
    first one."""
    first, last = variants[0]["summary"], variants[-1]["summary"]
    condition = text.name(variants[-1]["condition"])
    compared = [f"{text.change(before, after, 'fewer')} {noun}" for before, after, noun in (
        (first["major_faults"], last["major_faults"], "faults"),
        (first["read_bytes"], last["read_bytes"], "bytes"))
        if before and after and abs(before - after) >= 0.005 * before]
    return {"how": f"from {condition}" if condition in ("cold", "warm") else condition,
            "last": _cost(last), "first": _cost(first), "compared": " and ".join(compared)}


def _cost(summary: Figures) -> str:
    faults = summary["major_faults"]
    said = f"{text.number(faults)} major fault{'' if faults == 1 else 's'}"
    if summary["read_bytes"] is not None:
        said += f" and {text.byte_count(summary['read_bytes'])} read"
    return said


@dataclass(frozen=True)
class ComparedFile:
    """One file as named by the page, and its index in each variant's files (None: not there)."""

    paths: tuple[str | None, ...]
    indexes: tuple[int | None, ...]
    size: int  # the largest
    is_program: bool

    @property
    def path(self) -> str:
        """Its path, or its paths if each variant has its own."""
        return " → ".join(dict.fromkeys(path for path in self.paths if path is not None))

    @property
    def label(self) -> str:
        """The same with base names only."""
        return " → ".join(dict.fromkeys(os.path.basename(path) or path for path in self.paths
                                        if path is not None))


def compare_files(variants: list[Variant]) -> list[ComparedFile]:
    """The files of all variants, the program first, then by bytes read."""
    found: dict[tuple[bool, str], dict[int, int]] = {}
    for number, variant in enumerate(variants):
        program = os.path.basename(variant["command"][0])
        names = Counter(os.path.basename(file["path"]) for file in variant["files"])
        for index, file in enumerate(variant["files"]):
            name = os.path.basename(file["path"])
            # Namesakes in one variant are told apart by their paths.
            key = (False, file["path"] if names[name] > 1 else name)
            if name == program and number not in found.get((True, ""), {}):
                key = (True, "")
            found.setdefault(key, {})[number] = index
    compared = []
    for (is_program, _), indexes in found.items():
        files = [variant["files"][indexes[number]] if number in indexes else None
                 for number, variant in enumerate(variants)]
        compared.append((not is_program, -max(file["read_bytes"] or 0 for file in files if file),
                         ComparedFile(tuple(file and file["path"] for file in files),
                                      tuple(map(indexes.get, range(len(variants)))),
                                      max(file["size"] for file in files if file), is_program)))
    return [file for *_, file in sorted(compared, key=lambda each: (*each[:2], each[2].path))]


def file_maps(document: Document, files: list[ComparedFile]) -> list[Shown]:
    """For each compared file its path and, for each variant that has it, its figures and strip."""
    found = []
    for file in files:
        rows = []
        for variant, index in zip(document["variants"], file.indexes, strict=True):
            if index is None:
                continue
            entry = variant["files"][index]
            rows.append({
                "variant": variant["name"], "path": entry["path"], "size": entry["size"],
                "strip": strip(entry, file.size, document["page_size"]),
                "read": entry["read_bytes"], "touched": entry["touched_bytes"],
                "unasked": entry["unasked_bytes"],
                "width": entry["size"] / file.size if file.size else 0,
                "sections": _labels(entry, file.size)})
        found.append({"path": file.path, "rows": rows})
    return found


def _labels(file: File, length: int) -> list[Shown]:
    return [{"name": section["name"], "left": 100 * section["offset"] / length,
             "width": 100 * section["size"] / length,
             "label": section["size"] / length >= _MIN_LABEL}
            for section in sorted(file["sections"], key=lambda section: section["offset"])
            if length and section["size"] / length >= 0.0005]


def strip(file: File, length: int, page_size: int) -> Shown | None:
    """The map of one file, in a strip for `length` bytes: two SVG paths in a box of COLUMNS by
    HEIGHT. None if its reads are unknown; so is `touched`. `asked`: paths of what is asked for
    beforehand, each on top of the next; none if that is unknown."""
    if file["read"] is None or length <= 0:
        return None
    edges = np.arange(COLUMNS + 1) * (length / COLUMNS)
    start, end = np.floor(edges[:-1]).astype(int), np.ceil(edges[1:]).astype(int)

    def spans(runs: str | None, unit: int = page_size) -> Spans:
        return Spans.from_text(runs or "", unit, file["size"])

    def heights(what: Spans) -> np.ndarray:
        return np.ceil(what.between(start, end) / (end - start) * HEIGHT - 1e-6).astype(int)

    read, front, listed = (spans(file[key]) for key in ("read", "front", "listed"))
    is_known = file["unasked_bytes"] is not None
    return {"read": _path(heights(read)), "touched": None if file["touched"] is None else _path(
                np.minimum(heights(spans(file["touched"], GRANULE)), heights(read))),
            "asked": {kind: _path(heights(what)) for kind, what in (
                ("unasked", front | listed | read), ("listed", front | listed), ("front", front),
                ("both", front & listed))} if is_known else {}}


def _path(heights: np.ndarray) -> str:
    """An outline of the columns; those of one height are one rectangle."""
    changes = np.flatnonzero(np.diff(heights)) + 1
    starts = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [len(heights)]])
    return "".join(f"M{start} {HEIGHT}V{HEIGHT - heights[start]}H{end}V{HEIGHT}z"
                   for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
                   if heights[start])


def byte_rows(document: Document, files: list[ComparedFile]) -> list[Shown]:
    """Where the bytes go: one row for each section of each file, with the cells of all variants."""
    variants = document["variants"]
    rows: dict[tuple[int, str], Shown] = {}
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
    return sorted(rows.values(), key=lambda row: -max(
        cell["read"] or 0 for cell in row["cells"] if cell))


def phases(variants: list[Variant]) -> list[Shown]:
    """For each variant the processes with their phases, each with its time and its waits."""
    found = []
    for variant in variants:
        processes: dict[int, list[Shown]] = {}
        for phase in variant["phases"]:
            end, (disk, other) = phase["end_ns"], waits.split(phase["waits_ns"])
            processes.setdefault(phase["process"], []).append({
                **phase, "duration": None if end is None else end - phase["start_ns"],
                "disk_wait": disk, "other_wait": other})
        found.append({"variant": variant["name"], "processes": [
            {"name": variant["processes"][number]["command"], "phases": entries}
            for number, entries in sorted(processes.items())]})
    return found


def missing(variants: list[Variant]) -> list[Shown]:
    """Facts that could not be recorded; missing for the same reason in many variants, once."""
    found: dict[tuple, list[str]] = {}
    for variant in variants:
        for entry in variant["missing"]:
            key = entry["what"], entry["why"], entry.get("remedy") or ""
            found.setdefault(key, []).append(variant["name"])
    return [{"what": what, "why": why, "remedy": remedy,
             "variants": names if len(names) < len(variants) else []}
            for (what, why, remedy), names in found.items()]


def gain(advice: Shown) -> str:
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


def machine(document: Document) -> list[str]:
    """The machine in a few words each."""
    return [f"{key.removesuffix('_bytes').replace('_', ' ')}: "
            + (text.byte_count(value) if key.endswith("_bytes") and isinstance(value, int)
               else str(value))
            for key, value in document["host"].items()]
