"""Writes recorded starts for tests, straight from the schema "frontload-faults/1".

Independent of what records them on purpose: a test says what happened, in order of time.
"""

import json
import subprocess
from collections import defaultdict
from itertools import groupby
from pathlib import Path

from trace_writer import build_id

PAGE = 4096
MS = 1_000_000


def elf_file(llvm: Path, path: Path, /, **changes) -> dict:
    """A linked file as a recording describes it; everything of it is taken to be cold."""
    found = json.loads(subprocess.run(
        [llvm / "llvm-readobj", "--elf-output-style=JSON", "--sections", "--segments", path],
        capture_output=True, check=True).stdout)[0]
    sections = [row["Section"] for row in found["Sections"]]
    segments = [row["ProgramHeader"] for row in found["ProgramHeaders"]]
    return _file(
        path, path.stat().st_size,
        [(s["Name"]["Name"], s["Offset"], s["Size"], s["Address"]) for s in sections
         if s["Type"]["Name"] not in ("SHT_NULL", "SHT_NOBITS") and s["Size"]],
        [(s["VirtualAddress"], s["Offset"], s["FileSize"], s["MemSize"],
          "".join(letter if s["Flags"]["Value"] & bit else "-"
                  for letter, bit in (("r", 4), ("w", 2), ("x", 1))))
         for s in segments if s["Type"]["Name"] == "PT_LOAD"],
        **{"build_id": build_id(path).hex() or None, "before": "", "after": "", **changes})


def plain_file(path: str, size: int = 64 * PAGE, sections=(), *, flags=None, **changes) -> dict:
    """A file that is not here. `sections` are (name, offset, size), `flags` those of its only
    segment."""
    return _file(path, size, [(*section, section[1]) for section in sections],
                 [(0, 0, size, size, flags)] if flags else [], **changes)


def _file(path, size, sections, segments, /, **changes) -> dict:
    return {
        "path": str(path), "size": size, "build_id": None, "file_system": "ext4",
        "read_ahead_kib": 128, "page_size": PAGE,
        "sections": [dict(zip(("name", "offset", "size", "address"), section, strict=True))
                     for section in sections],
        "segments": [dict(zip(("address", "offset", "file_bytes", "memory_bytes", "flags"), segment,
                              strict=True)) for segment in segments],
        "before": None, "after": None, **changes}


class FaultsWriter:
    """A start of one process, as a document; every event comes a millisecond after the last."""

    def __init__(self, *files: dict, command=("app",), variant: str = "app", **changes):
        self.time = 0
        self.files = list(files)
        self.read: dict[int, set[int]] = defaultdict(set)
        self.faults = {name: [] for name in ("time_ns", "major", "file", "offset", "address",
                                             "code_file", "code_offset", "process", "thread",
                                             "kernel")}
        self.access: list[str] = []
        self.fills = {name: [] for name in ("time_ns", "file", "offset", "bytes", "process",
                                            "thread")}
        self.phases: list[dict] = []
        self.document = {
            "schema": "frontload-faults/1", "frontload": "0",
            "host": {"kernel": "Linux 6.18", "memory_bytes": "as of another version"},
            "command": list(command), "variant": variant, "condition": "cold",
            "recorder": {"tool": "perf", "events": [], "lost": 0}, "missing": [],
            "sample": {"exit_status": 0, "wall_ns": 100 * MS, "max_rss_kib": 1000}, "until": None,
            "processes": [{"pid": 7, "parent": None, "command": "app", "start_ns": 0,
                           "end_ns": None}], "requests": None, **changes}

    def phase(self, name: str) -> "FaultsWriter":
        """What follows is in this phase, and no longer in the one before."""
        if self.phases:
            self.phases[-1]["end_ns"] = self.time + 1
        self.phases.append({"process": 0, "name": name, "start_ns": self.time + 1,
                            "end_ns": 1000 * MS})
        return self

    def fault(self, file: int, offset: int, *, major: int = 0, code: tuple[int, int] = (-1, -1),
              kernel: int = 0, access: str = "r", thread: int = 7) -> "FaultsWriter":
        self.time += MS
        row = (self.time, major, file, offset, 0x1000 + max(offset, 0), *code, 0, thread, kernel)
        for name, value in zip(self.faults, row, strict=True):
            self.faults[name].append(value)
        self.access.append(access)
        return self

    def fill(self, file: int, offset: int, size: int = PAGE, thread: int = 7) -> "FaultsWriter":
        self.time += MS
        for name, value in zip(self.fills, (self.time, file, offset, size, 0, thread),
                               strict=True):
            self.fills[name].append(value)
        return self

    def major(self, file: int, offset: int, pages: int = 1, **more) -> "FaultsWriter":
        """A major fault, and the pages from its own on that were read for it."""
        first = offset // PAGE
        for page in range(first, first + pages):
            self.fill(file, page * PAGE, thread=more.get("thread", 7))
        self.read[file].update(range(first, first + pages))
        if self.files[file]["after"] is not None:
            runs = [[page for _, page in run] for _, run in groupby(
                enumerate(sorted(self.read[file])), key=lambda each: each[1] - each[0])]
            self.files[file]["after"] = " ".join(f"{run[0]}+{len(run)}" for run in runs)
        return self.fault(file, offset, major=1, **more)

    def to_json(self, **changes) -> dict:
        return {**self.document, "files": self.files, "phases": self.phases,
                "faults": {**self.faults, "access": "".join(self.access)}, "fills": self.fills,
                **changes}

    def to_bytes(self, **changes) -> bytes:
        return json.dumps(self.to_json(**changes)).encode()


def places(value, path=()):
    """The paths of all values in a document."""
    yield path
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from places(each, (*path, key))
