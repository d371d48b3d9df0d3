"""Writes recorded starts for tests, straight from the schema "frontload-faults/1".

Independent of what records them on purpose: a test says what happened, in order of time.
"""

import json
import subprocess
from pathlib import Path

PAGE = 4096
MS = 1_000_000


def elf_file(llvm: Path, path: Path, /, **changes) -> dict:
    """A linked file as a recording describes it; everything of it is taken to be cold."""
    found = json.loads(subprocess.run(
        [llvm / "llvm-readobj", "--elf-output-style=JSON", "--sections", "--segments", path],
        capture_output=True, check=True).stdout)[0]
    sections = [row["Section"] for row in found["Sections"]]
    segments = [row["ProgramHeader"] for row in found["ProgramHeaders"]]
    note = next((s for s in sections if s["Name"]["Name"] == ".note.gnu.build-id"), None)
    start = note and note["Offset"] + 16
    return {
        "path": str(path), "size": path.stat().st_size,
        "build_id": path.read_bytes()[start:start + 20].hex() if note else None,
        "file_system": "ext4", "read_ahead_kib": 128, "page_size": PAGE,
        "sections": [{"name": s["Name"]["Name"], "offset": s["Offset"], "size": s["Size"],
                      "address": s["Address"]} for s in sections
                     if s["Type"]["Name"] not in ("SHT_NULL", "SHT_NOBITS") and s["Size"]],
        "segments": [{"address": s["VirtualAddress"], "offset": s["Offset"],
                      "file_bytes": s["FileSize"], "memory_bytes": s["MemSize"],
                      "flags": "".join(letter if s["Flags"]["Value"] & bit else "-"
                                       for letter, bit in (("r", 4), ("w", 2), ("x", 1)))}
                     for s in segments if s["Type"]["Name"] == "PT_LOAD"],
        "before": "", "after": "", **changes}


def plain_file(path: str, size: int = 64 * PAGE, sections=(), **changes) -> dict:
    """A file that is not here. `sections` are (name, offset, size), `flags` those of its only
    segment."""
    flags = changes.pop("flags", None)
    return {
        "path": path, "size": size, "build_id": None, "file_system": "ext4", "read_ahead_kib": 128,
        "page_size": PAGE,
        "sections": [{"name": name, "offset": offset, "size": length, "address": offset}
                     for name, offset, length in sections],
        "segments": [{"address": 0, "offset": 0, "file_bytes": size, "memory_bytes": size,
                      "flags": flags}] if flags else [],
        "before": None, "after": None, **changes}


class FaultsWriter:
    """A start of one process, as a document; every event comes a millisecond after the last."""

    def __init__(self, *files: dict, command=("app",), variant: str = "app", **changes):
        self.time = 0
        self.files = list(files)
        self.faults = {name: [] for name in ("time_ns", "major", "file", "offset", "address",
                                             "code_file", "code_offset", "process", "thread",
                                             "kernel")}
        self.access: list[str] = []
        self.fills = {name: [] for name in ("time_ns", "file", "offset", "bytes", "process",
                                            "thread")}
        self.phases: list[dict] = []
        self.document = {
            "schema": "frontload-faults/1", "frontload": "0", "host": {"kernel": "Linux 6.18"},
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
        if self.files[file]["after"] is not None:
            read = set(_pages(self.files[file]["after"])) | set(range(first, first + pages))
            self.files[file]["after"] = " ".join(f"{start}+{count}"
                                                 for start, count in _runs(sorted(read)))
        return self.fault(file, offset, major=1, **more)

    def to_json(self, **changes) -> dict:
        return {**self.document, "files": self.files, "phases": self.phases,
                "faults": {**self.faults, "access": "".join(self.access)}, "fills": self.fills,
                **changes}

    def to_bytes(self, **changes) -> bytes:
        return json.dumps(self.to_json(**changes)).encode()


def _pages(text: str) -> list[int]:
    runs = [tuple(map(int, run.split("+"))) for run in text.split()]
    return [page for first, count in runs for page in range(first, first + count)]


def _runs(pages: list[int]) -> list[tuple[int, int]]:
    found: list[list[int]] = []
    for page in pages:
        if found and sum(found[-1]) == page:
            found[-1][1] += 1
        else:
            found.append([page, 1])
    return [tuple(run) for run in found]


def places(value, path=()):
    """The paths of all values in a document."""
    yield path
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from places(each, (*path, key))
