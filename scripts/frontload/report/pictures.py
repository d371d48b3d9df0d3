"""Draws a report's document: PNG and SVG files, for paper (light) and for screens (dark).

    faults               where in all files a start read, and when: time goes down, reads are
                         strokes as wide as what they brought, major faults are dots in the colour
                         of their cause, minor faults faint ones; a line leads from each read to the
                         next, red where it goes backwards
    faults-FILE          the same for one file
    residency-FILE       the pages of a file, row by row as in a book: not read, read, and the
                         darker the more of a page was touched
    sections             which sections the bytes came from: touched and wasted
    phases               the time of each phase of the start, and its major faults

Every picture has the variants side by side or one below the other, on the same scale.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from frontload.base.files import write_if_changed
from frontload.report import canvas, picture_bars, picture_faults, picture_residency
from frontload.report.theme import THEMES

FORMATS = ("png", "svg")
_MOST_FILES = 6
_LEAST_PAGES = 16  # of a file other than the program, for pictures of its own
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")


def export(document: dict, folder: os.PathLike | str, formats: Iterable[str] = FORMATS,
           themes: Iterable[str] = tuple(THEMES)) -> list[Path]:
    """Writes every picture in every format and theme; returns the paths."""
    written = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    for theme in map(THEMES.__getitem__, themes):
        canvas.set_up(theme)
        for name, draw in _pictures(document):
            figure = draw(theme)
            for format in formats:
                path = Path(folder) / f"{name}.{theme.name}.{format}"
                write_if_changed(path, canvas.save(figure, format))
                written.append(path)
            canvas.close(figure)
    return written


def _pictures(document: dict) -> Iterator[tuple[str, Callable]]:
    """The name of each picture, and what draws it in a theme."""
    yield "faults", lambda theme: picture_faults.all_files(document, theme)
    for name, places in _same_files(document):
        yield (f"faults-{name}",
               lambda theme, places=places: picture_faults.one_file(document, places, theme))
        yield (f"residency-{name}",
               lambda theme, places=places: picture_residency.draw(document, places, theme))
    yield "sections", lambda theme: picture_bars.sections(document, theme)
    yield "phases", lambda theme: picture_bars.phases(document, theme)


def _same_files(document: dict) -> list[tuple[str, list[int | None]]]:
    """The files that were read most, each with its number in every variant. The programs of the
    variants belong together, whatever they are called; other files do by their path."""
    groups: dict[str, list[int | None]] = {}
    sizes: dict[str, int] = {}
    for variant_number, variant in enumerate(document["variants"]):
        program = program_of(variant)
        for number, file in enumerate(variant["files"]):
            if not file["read_bytes"] or (
                    number != program and file["size"] < _LEAST_PAGES * document["page_size"]):
                continue
            key = "" if number == program else file["path"]
            places = groups.setdefault(key, [None] * len(document["variants"]))
            places[variant_number] = number
            sizes[key] = max(sizes.get(key, 0), file["read_bytes"])
    keys = sorted(groups, key=lambda key: (key != "", -sizes[key], key))[:_MOST_FILES]
    names: dict[str, list[int | None]] = {}
    for key in keys:
        name = _UNSAFE.sub("_", os.path.basename(key) or "program")
        while name in names:
            name += "_"
        names[name] = groups[key]
    return list(names.items())


def program_of(variant: dict) -> int | None:
    """The number of the program's own file: by the name in the command, else what was read most."""
    name = os.path.basename(variant["command"][0])
    return next((number for number, file in enumerate(variant["files"])
                 if os.path.basename(file["path"]) == name), 0 if variant["files"] else None)
