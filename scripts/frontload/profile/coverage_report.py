"""How much of a startup profile lies in the front of a file, as text for people and as JSON."""

import os
from typing import TypedDict

from frontload.base import console
from frontload.base.console import say
from frontload.base.errors import count, percent, printable
from frontload.profile.coverage import Reason, Report
from frontload.profile.startup_profile import Profile
from frontload.profile.summary import text

_MAX_SHOWN = 5  # missing names for each reason
Block = TypedDict("Block", {"section": str, "offset": int, "bytes": int})
Front = TypedDict("Front", {
    # prefix (of ld.frontload); of other linkers note (frontload finish), or blocks, one in each
    # section
    "is": str,
    "bytes": int, "file_bytes": int, "density": float,
    "ranges": list[dict[str, int]],  # of a prefix or note, in the order of a prefetch
    "blocks": list[Block] | None})
MissingName = TypedDict("MissingName", {
    "name": str, "kind": str, "class": str, "file": str | None, "reason": str,
    "section": str | None})
Document = TypedDict("Document", {
    "coverage": float,  # `placed` of `names`, in percent
    "names": int, "present": int, "placed": int,
    "left_out": int,  # of the front, by the link, on purpose
    "ambiguous": int, "inexact": int, "not_sought": int, "faded": int, "inlined": int,
    "front": Front,
    "classes": dict[str, dict[str, int]], "missing": list[MissingName]})


def _shown(name: bytes) -> str:
    return printable(text(name))


def show(binary: str, startup: Profile, report: Report) -> None:
    """A few lines, a table, and the first missing names for each reason."""
    say(f"{binary}: {report.placed} of {count(report.names, 'name')} of "
        f"{_shown(startup.program)} ({count(startup.recorded_runs(), 'run')}) in {report.place}: "
        f"{percent(report.placed, report.names)}")
    noun = report.place.split()[-1]
    say(f"{noun}: {report.front_size:,} of {os.path.getsize(binary):,} bytes, "
        f"{_where(report)}; density {report.density:.3f}")
    if report.ambiguous:
        say(f"names that stand for several symbols: {count(report.ambiguous, 'name')}")
    if report.inexact:
        say(f"found under the name they have now: {count(report.inexact, 'name')}")
    if report.not_sought:
        say(f"not looked for, having no symbol: "
            f"{count(report.not_sought, 'section or string', 'sections and strings')}")
    if report.faded:
        say(f"not counted, as starts touch them no more and they are gone: "
            f"{count(report.faded, 'name')}")
    if report.inlined:
        say(f"not counted, as only a build with hooks has them: "
            f"{count(report.inlined, 'name')}")
    table = console.table("class", "names", "present", f"in {noun}", "bytes", f"in {noun}",
                          numbers=range(1, 6))
    for name, found in report.classes.items():
        if found.names:
            console.add_row(table, name, found.names, found.present, found.placed,
                            f"{found.bytes_present:,}", f"{found.bytes_placed:,}")
    console.show(table)
    for reason in Reason:
        missing = [entry for entry in report.missing if entry.reason == reason]
        if missing:
            print(f"{reason}: {count(len(missing), 'name')}")
            for entry in missing[:_MAX_SHOWN]:
                place = f" ({_shown(entry.section)})" if entry.section else ""
                print(f"  {_shown(entry.name.name)}{place}")
            if len(missing) > _MAX_SHOWN:
                print(f"  and {len(missing) - _MAX_SHOWN} more (--json lists all)")


def _where(report: Report) -> str:
    if report.blocks is not None:
        return f"in {count(len(report.blocks), 'startup block')}"
    if len(report.ranges) == 1 and report.ranges[0][0] == 0:
        return "the start of the file"
    return f"in {count(len(report.ranges), 'range')} of the file"


def as_json(binary: str, report: Report) -> Document:
    """All figures, and all missing names."""
    blocks: list[Block] | None = None if report.blocks is None else [
        {"section": text(block.section), "offset": block.offset, "bytes": block.size}
        for block in report.blocks]
    return {
        "coverage": report.coverage,
        "names": report.names,
        "present": report.present,
        "placed": report.placed,
        "left_out": report.left_out,
        "ambiguous": report.ambiguous,
        "inexact": report.inexact,
        "not_sought": report.not_sought,
        "faded": report.faded,
        "inlined": report.inlined,
        "front": {
            "is": "blocks" if report.blocks is not None else "prefix" if report.has_front
                  else "note",
            "bytes": report.front_size,
            "file_bytes": os.path.getsize(binary),
            "density": report.density,
            "ranges": [{"offset": begin, "bytes": end - begin} for begin, end in report.ranges],
            "blocks": blocks,
        },
        "classes": {name: vars(found) for name, found in report.classes.items()},
        "missing": [{
            "name": text(entry.name.name), "kind": entry.name.kind,
            "class": entry.name.section_class, "file": text(entry.name.file) or None,
            "reason": str(entry.reason), "section": text(entry.section) or None,
        } for entry in report.missing],
    }
