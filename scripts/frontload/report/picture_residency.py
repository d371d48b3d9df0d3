"""The residency map: every page of a file as one dot, in rows from its beginning to its end."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from frontload.profile.trace import GRANULE
from frontload.report import canvas
from frontload.report.spans import Spans
from frontload.report.theme import Theme

_LEAST_COLUMNS, _MOST_DOTS = 16, 1 << 18
_LEAST_LABEL = 0.025  # of the height, for the name of a section


def draw(document: dict, places: list[int | None], theme: Theme) -> Figure:
    """The file of each variant."""
    variants, page = document["variants"], document["page_size"]
    files = [None if place is None else variant["files"][place]
             for variant, place in zip(variants, places, strict=True)]
    most = max(file["size"] for file in files if file)
    # A dot is one page, or several if they would be too many to be seen.
    dot = page * max(1, math.ceil(most / page / _MOST_DOTS))
    dots = math.ceil(most / dot)
    columns = max(_LEAST_COLUMNS, 1 << round(math.log2(math.sqrt(dots * 1.1))))
    rows = math.ceil(dots / columns)
    figure, axes = canvas.panels(len(variants), 6.2, 6.4)
    for variant, file, panel in zip(variants, files, axes, strict=True):
        panel.set_title(canvas.text(variant["name"]))
        panel.set_xticks([])
        panel.spines[:].set_visible(False)
        if file is not None:
            _map(panel, file, page, dot, columns, rows, theme)
    canvas.label_vertical(axes, "offset in the file, MB")
    axes[0].yaxis.set_major_formatter(
        lambda row, position: f"{row * columns * dot / 1e6:g}")
    axes[0].set_yticks(_ticks(rows, columns * dot))
    unit = f"{page >> 10} KiB page" if dot == page else f"stretch of {dot >> 10} KiB"
    keys = [Patch(color=theme.unread, label="not read"), Patch(color=theme.read, label="read")]
    if any(file and file["touched"] is not None for file in files):
        keys.append(Patch(color=theme.touched, label="touched (the darker the more)"
                          if theme.name == "light" else "touched (the brighter the more)"))
    canvas.legend_below(figure, keys, len(keys))
    figure.suptitle(f"What was read of {canvas.file_name(variants, places)}: each dot is a {unit}, "
                    f"a row {columns * dot >> 10:,} KiB", x=0.01, ha="left", weight="bold",
                    fontsize=13)
    return figure


def _map(panel: Axes, file: dict, page: int, dot: int, columns: int, rows: int,
         theme: Theme) -> None:
    start = np.arange(math.ceil(file["size"] / dot), dtype=np.int64) * dot
    read = _share(file["read"], page, file["size"], start, dot)
    touched = _share(file["touched"], GRANULE, file["size"], start, dot)
    paper, unread, is_read, used = (np.array(to_rgb(colour)) for colour in
                                    (theme.paper, theme.unread, theme.read, theme.touched))
    colours = unread + (is_read - unread) * read[:, None]
    # Even a page of which a few bytes are touched is to be told from one that was wasted.
    shade = np.where(touched > 0, 0.25 + 0.75 * touched, 0)[:, None] * (read > 0)[:, None]
    colours = colours + (used - colours) * shade
    image = np.tile(paper, (rows * columns, 1))
    image[:len(colours)] = colours
    panel.imshow(image.reshape(rows, columns, 3), aspect="auto", interpolation="nearest",
                 extent=(0, columns, rows, 0))
    per_row, last = columns * dot, -1.0
    for section in file["sections"]:
        first, end = section["offset"] / per_row, (section["offset"] + section["size"]) / per_row
        middle = (first + min(end, rows)) / 2
        if end - first >= _LEAST_LABEL * rows and middle - last >= 0.03 * rows:
            panel.plot([1.012 * columns] * 2, [first + 0.1, min(end, rows) - 0.1], clip_on=False,
                       color=theme.pale_ink, linewidth=1, solid_capstyle="butt")
            panel.text(1.025 * columns, middle, canvas.text(section["name"], 18), va="center",
                       color=theme.pale_ink, fontsize=8)
            last = middle
    panel.set_xlim(0, columns)


def _share(text: str | None, unit: int, size: int, start: np.ndarray, dot: int) -> np.ndarray:
    """How much of each dot is in a set."""
    if text is None:
        return np.zeros(len(start))
    spans = Spans.from_text(text, unit, size)
    return spans.between(start, start + dot) / np.minimum(dot, size - start)


def _ticks(rows: int, per_row: int) -> list[float]:
    """Rows at round megabytes."""
    step = 10 ** math.floor(math.log10(max(rows * per_row, 1)))
    while rows * per_row / step < 5:
        step /= 2
    return [position * step / per_row for position in range(int(rows * per_row / step) + 1)]
