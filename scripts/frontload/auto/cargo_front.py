"""The steps of a cargo program to its front: recorded runs, a startup profile, a build."""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frontload.auto import cargo
from frontload.auto.cargo import Program
from frontload.base import errors, files
from frontload.base.errors import Failure
from frontload.base.ready import Ready
from frontload.elf import file as elf
from frontload.profile import format as profile
from frontload.profile import inputs, merge, trace
from frontload.recording import run as recording


class _Recordings:
    """Kept files of a recorded program: its traces, the map of its link, and the program, because
    the traces are of that very file."""

    def __init__(self, program: Program):
        self.traces = program.work / "traces"
        self.binary = program.work / program.name
        self.map = program.work / f"{program.name}.map"


def record(program: Program, options: Sequence[str], arguments: Sequence[str], build_profile: str,
           *, data: bool, until: str | None, ready: Ready | None = None) -> int:
    """Builds the program, runs it with the arguments, or until it is ready, and records the run;
    returns its exit status. `build_profile`: cargo's profile that the options name."""
    kept = _Recordings(program)
    words = [f"-Map={kept.map}"]
    executable = cargo.link(program, options, words)
    if elf.read(executable).symbols is None:
        # Of a stripped release. Its symbols then have other hashes, but are matched again.
        variable = f"CARGO_PROFILE_{build_profile.upper().replace('-', '_')}_STRIP"
        executable = cargo.link(program, options, words, **{variable: "debuginfo"})
    if files.copy_if_changed(executable, kept.binary):
        shutil.rmtree(kept.traces, ignore_errors=True)
    return recording.run([str(executable), *arguments], kept.traces, data=data, until=until,
                         ready=ready)


def write_profile(program: Program) -> None:
    """Writes the startup profile of all recorded runs."""
    kept = _Recordings(program)
    if not kept.traces.is_dir():
        raise Failure(f"{program.name}: nothing is recorded yet",
                      note="record it first: cargo frontload record -- ARGUMENT...")
    traces = list(inputs.expand([(str(kept.traces), 1)]))
    # Only data needs the map, and an unneeded map causes a warning.
    has_data = any(trace.read(path).has_data for path, _ in traces)
    merger = merge.Merger(program.name, str(kept.binary), str(kept.map) if has_data else None)
    for path, weight in traces:
        merger.add(path, weight)
    result = merger.result()
    files.write_profile(program.profile, profile.to_bytes(result))
    errors.note(f"{program.profile}: {errors.count(len(result.touches), 'name')} from "
                f"{errors.count(result.runs, 'run')}")


def build(program: Program, options: Sequence[str], *, prefetch: bool, min_match: float) -> None:
    """Builds the program with the front that its startup profile asks for."""
    if not program.profile.exists():
        errors.warning(f"{program.profile}: there is no startup profile: built without a front")
        errors.note("make it with: cargo frontload record, cargo frontload profile")
        cargo.build(program, options)
        return
    report = program.work / "front.json"
    words = [f"--startup-profile={_named_by_content(program)}", f"--front-report={report}",
             f"--min-match={min_match:g}"]
    if prefetch:
        words.append("--front-prefetch")
    executable = cargo.link(program, options, words)
    placed: Any = files.parse_json(report.read_bytes(), report)
    if placed["front"] is None:
        errors.note(f"{executable}: built without a front, because a cold start may read more with "
                    f"one ({report} lists the starts)")
        return
    names = placed["names"]
    movable = names["total"] - names["unmovable"]
    errors.note(f"{executable}: {names['placed']} of {movable} names of {program.profile.name} are "
                f"in its front of {placed['front']['bytes']:,} bytes")


def _named_by_content(program: Program) -> Path:
    """A copy of the profile: cargo links again if an argument changes, not if a file changes."""
    data = program.profile.read_bytes()
    copy = program.work / f"{program.name}-{hashlib.sha256(data).hexdigest()[:16]}.startup"
    program.work.mkdir(parents=True, exist_ok=True)
    for old in program.work.glob(f"{program.name}-*.startup"):
        if old != copy:
            old.unlink()
    files.write_if_changed(copy, data)
    return copy
