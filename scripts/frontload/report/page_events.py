"""The events of a report in the form that the page's script draws.

Files are numbered as the page compares them (page_view), names are made readable once, and times
become microseconds: the picture cannot show less.
"""

from collections.abc import Mapping
from typing import Any

from frontload.report.document import Document, Events, Variant
from frontload.report.page_text import name
from frontload.report.page_view import ComparedFile

# More dots neither fit into a picture nor into a page that opens at once: minor faults, which cost
# the least, are left out then.
MOST_EVENTS = 40_000
_Pool = dict[str, int]  # names, each once, with their numbers


def picture_data(document: Document, files: list[ComparedFile]) -> dict[str, object]:
    """The script's data for all fault pictures, as one document for JSON."""
    sections: _Pool = {}
    symbols: _Pool = {}
    variants = [_variant(variant, number, files, sections, symbols)
                for number, variant in enumerate(document["variants"])]
    return {
        "files": [{"name": name(file.path), "label": name(file.label), "size": file.size}
                  for file in files],
        "causes": [name(cause) for cause in document["variants"][0]["causes"]],
        "sections": list(sections), "symbols": list(symbols), "variants": variants,
    }


def _variant(variant: Variant, number: int, files: list[ComparedFile], sections: _Pool,
             symbols: _Pool) -> dict[str, object]:
    page_file = {index: place for place, file in enumerate(files)
                 if (index := file.indexes[number]) is not None}
    kept, left_out = _choose(variant["events"])

    columns: Mapping[str, Any] = variant["events"]

    def column(key: str) -> list:
        return [columns[key][at] for at in kept]

    def names(key: str, texts: list[str], pool: _Pool) -> list[int]:
        """A column of names; those of events that are not shown stay out of the page."""
        return [-1 if at < 0 else _number(texts[at], pool) for at in column(key)]

    return {
        "name": name(variant["name"]),
        "files": {place: name(variant["files"][index]["path"])
                  for index, place in page_file.items()},
        "end": _end(variant) // 1000,
        "leftOut": left_out, "block": variant["block_bytes"],
        "sections": {page_file[index]: [
            [_number(each["name"], sections), each["offset"], each["size"]]
            for each in file["sections"] if each["size"] > 0]
            for index, file in enumerate(variant["files"])},
        "processes": [f"{name(process['command'])} ({process['pid']})"
                      for process in variant["processes"]],
        "time": [time // 1000 for time in column("time_ns")],
        "kind": "".join(column("kind")),
        "file": [page_file[index] for index in column("file")],
        "section": names("section", variant["section_names"], sections),
        "symbol": names("symbol", variant["symbols"], symbols),
        "by": names("by", variant["symbols"], symbols),
        **{key: column(key) for key in ("offset", "bytes", "cause", "backward", "process",
                                        "thread")},
    }


def _number(text: str, pool: _Pool) -> int:
    return pool.setdefault(name(text), len(pool))


def _choose(events: Events) -> tuple[list[int], int]:
    """The events to draw, which are those of files, and how many minor faults are left out."""
    kept = [at for at, file in enumerate(events["file"]) if file >= 0]
    if len(kept) <= MOST_EVENTS:
        return kept, 0
    others = [at for at in kept if events["kind"][at] != "m"]
    return others, len(kept) - len(others)


def _end(variant: Variant) -> int:
    """When the picture ends: with the last phase or event, whichever is later."""
    ends = [phase["end_ns"] for phase in variant["phases"] if phase["end_ns"] is not None]
    return max([*ends, *variant["events"]["time_ns"][-1:], 1000])
