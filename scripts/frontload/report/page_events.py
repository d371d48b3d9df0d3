"""The events of a report in the form that the page's script draws.

Files are numbered as the page compares them (page_files), names are made readable once, and times
become steps of a microsecond: the picture cannot show less, and small numbers pack well.
"""

from frontload.report.page_files import ComparedFile
from frontload.report.page_text import name

# More dots neither fit into a picture nor into a page that opens at once. Minor faults, which cost
# the least, are left out first.
MOST_EVENTS = 40_000


def picture_data(document: dict, files: list[ComparedFile]) -> dict:
    """The script's data for all fault pictures, as one document for JSON."""
    sections = _Pool()
    symbols = _Pool()
    variants = [_variant(variant, number, files, sections, symbols)
                for number, variant in enumerate(document["variants"])]
    return {
        "files": [{"name": name(file.path), "label": name(file.label), "size": file.size}
                  for file in files],
        "causes": [name(cause) for cause in document["variants"][0]["causes"]],
        "sections": sections.names, "symbols": symbols.names, "variants": variants,
    }


class _Pool:
    """Names, each once, by number."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        shown = name(text)
        if shown not in self._numbers:
            self._numbers[shown] = len(self.names)
            self.names.append(shown)
        return self._numbers[shown]


def _variant(variant: dict, number: int, files: list[ComparedFile], sections: _Pool,
             symbols: _Pool) -> dict:
    page_file = {file.indexes[number]: place for place, file in enumerate(files)
                 if file.indexes[number] is not None}
    kept, left_out = _choose(variant["events"])
    events = variant["events"]
    section = [sections.number(text) for text in variant["section_names"]]
    # Only the symbols of shown events: a report may name thousands of others.
    names = variant["symbols"]

    def column(key):
        values = events.get(key)
        return None if values is None else [values[at] for at in kept]

    times = [time // 1000 for time in column("time_ns")]
    by = column("by")
    return {
        "name": name(variant["name"]),
        "files": {place: name(variant["files"][index]["path"])
                  for index, place in page_file.items()},
        "end": _end(variant) // 1000,
        "leftOut": left_out,
        "sections": {page_file[index]: [[section_of["name"], section_of["offset"],
                                         section_of["size"]] for section_of in
                                        _numbered(file["sections"], sections)]
                     for index, file in enumerate(variant["files"])},
        "processes": [f"{name(process['command'])} ({process['pid']})"
                      for process in variant.get("processes") or []],
        "time": [later - earlier for earlier, later in zip([0, *times], times, strict=False)],
        "kind": "".join(column("kind")),
        "file": [page_file[index] for index in column("file")],
        "offset": column("offset"),
        "bytes": column("bytes"),
        "cause": column("cause"),
        "section": [-1 if at < 0 else section[at] for at in column("section")],
        "symbol": [-1 if at < 0 else symbols.number(names[at]) for at in column("symbol")],
        "by": by and [-1 if at < 0 else symbols.number(names[at]) for at in by],
        "backward": column("backward"),
        "process": column("process"),
        "thread": column("thread"),
    }


def _numbered(sections: list[dict], pool: _Pool) -> list[dict]:
    return [{**section, "name": pool.number(section["name"])} for section in sections
            if section["size"] > 0]


def _choose(events: dict) -> tuple[list[int], int]:
    """The events to draw, which are those of files, and how many minor faults are left out."""
    of_files = [at for at, file in enumerate(events["file"]) if file >= 0]
    if len(of_files) <= MOST_EVENTS:
        return of_files, 0
    minor = [at for at in of_files if events["kind"][at] == "m"]
    room = max(0, MOST_EVENTS - (len(of_files) - len(minor)))
    step = len(minor) / room if room else float("inf")
    shown = {minor[int(place * step)] for place in range(room)}
    chosen = [at for at in of_files if events["kind"][at] != "m" or at in shown]
    return chosen, len(of_files) - len(chosen)


def _end(variant: dict) -> int:
    """When the picture ends: with the last phase or event, whichever is later."""
    ends = [phase["end_ns"] for phase in variant["phases"] if phase["end_ns"] is not None]
    return max([*ends, *variant["events"]["time_ns"][-1:], 1000])
