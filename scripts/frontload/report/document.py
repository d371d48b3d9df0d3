"""Declares the document of a report, schema "frontload-report/1": a JSON object, `Document` below.

Times are whole nanoseconds since the exec of the command; sizes and offsets are bytes. An
unknown value is null. Texts are as they were found. A name may hold anything, so a reader has to
escape each name that it shows.
"""

from typing import Any, Literal, TypedDict

from frontload.faults.document import Process

Figure = Literal[
    "major_faults", "minor_faults",  # with those that the kernel only counted
    "read_bytes", "read_runs",  # contiguous stretches of pages
    "requests",  # of the device
    "blocks",  # of the compressed image, of which a page was read
    "wall_ns", "max_rss_bytes",
    "touched_bytes",  # of the files whose touched bytes are known
    "wasted_bytes", "density",  # of these files
    "backward_reads", "files_read"]
Figures = dict[Figure, float | None]
Section = TypedDict("Section", {"name": str, "offset": int, "size": int})
File = TypedDict("File", {
    "path": str, "size": int, "sections": list[Section],
    "read": str | None,  # pages, as extents `first+number` separated by spaces
    "touched": str | None,  # the same of granules of 16 bytes
    # Pages that a start can ask for beforehand: by the front (or another linker's note), and by the
    # prefetch lists given; `unasked_bytes`: read, and in neither
    "front": str | None, "listed": str | None, "unasked_bytes": int | None,
    "major_faults": int | None, "minor_faults": int | None, "read_bytes": int | None,
    "touched_bytes": int | None})
Events = TypedDict("Events", {  # columns of equal length, in order of time
    "kind": str,  # one character each: M major fault, m minor fault, F read
    "time_ns": list[int],
    "file": list[int],  # index; -1 for memory that belongs to no file
    "offset": list[int],  # in the file: of the touched byte, or of the first byte of a read
    "bytes": list[int],  # of a read
    "cause": list[int],  # index into `causes`; the rules are in events.py
    "section": list[int],  # index into `section_names`, -1 for none
    "symbol": list[int],  # index into `symbols`: what is at the offset; -1 if not known
    "by": list[int],  # index into `symbols`: the code that touched it; -1 if not known
    "backward": list[int],  # 1 for a read that begins before the previous read of the same file,
                            # and for the major fault that waited for it
    "process": list[int],  # index
    "thread": list[int]})  # its number
Phase = TypedDict("Phase", {
    "name": str, "process": int, "start_ns": int, "end_ns": int | None,
    "waits_ns": dict[str, int] | None,  # while no thread ran, by "disk" or the system call
    "major_faults": int | None, "minor_faults": int | None, "read_bytes": int | None})
SectionBytes = TypedDict("SectionBytes", {  # see accounting.py
    "file": int, "section": str, "size": int, "touched": int | None,
    "read": int | None,  # those of all rows of a file add up to its `read_bytes`
    "wasted": int | None, "density": float | None})
Wasted = TypedDict("Wasted", {
    "name": str, "file": int, "section": str | None, "object": str | None, "size": int,
    "read": int, "touched": int, "wasted": int})
Variant = TypedDict("Variant", {  # a recorded start
    "name": str, "command": list[str], "condition": str,
    "device": str | None,  # the kind of device that the kernel simulated by slowing one down
    "block_bytes": int | None,  # of the compressed image there, in a file
    "missing": list[dict[str, str]],  # `what` is not known about this start, `why`, `remedy`
    "summary": Figures,
    "processes": list[Process],  # `parent` is an index
    "files": list[File],  # that were read or faulted in, those with the most bytes read first
    "events": Events,
    "causes": list[str], "section_names": list[str], "symbols": list[str],
    "phases": list[Phase],  # by process and time
    "bytes": list[SectionBytes],
    "waste": dict[str, list[Wasted]] | None,  # the 50 most wasteful `functions`, `data`, and, if
                                              # the map of the link was given, `objects`
    "advice": list[dict[str, Any]]})  # `id`, `text`, `how`, `gain`: see advice.py
Compared = TypedDict("Compared", {  # with the base, figure by figure
    "variant": int, "ratios": Figures, "differences": Figures})
Comparison = TypedDict("Comparison", {"base": int, "variants": list[Compared]})
Document = TypedDict("Document", {
    "schema": str, "frontload": str,  # the version that wrote it
    "title": str,
    "host": dict[str, str | int],  # what `frontload faults` says of the machine
    "page_size": int,  # the unit of `read`
    "variants": list[Variant],  # the first is the base
    "comparison": Comparison | None})  # null for one variant
