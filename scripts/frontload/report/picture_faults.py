"""The fault picture: where in the files a start read, from left to right, and when, downwards."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from frontload.base.errors import count
from frontload.report import canvas
from frontload.report.theme import Theme

_LEAST_SHARE = 0.05  # of the width, for files that are small
_GAP_SHARE = 0.01
_LEAST_PHASE = 0.1  # of the time, for its name
_LEAST_STROKE = 1 / 400  # of the width: a page of a large file would not be seen


@dataclass(frozen=True)
class _Strip:
    """Where a file lies on the horizontal axis: from `left`, `width` wide for `size` bytes."""

    number: int
    left: float
    width: float
    size: int

    def at(self, offset: np.ndarray) -> np.ndarray:
        return self.left + np.minimum(offset / self.size, 1) * self.width


def all_files(document: dict, theme: Theme) -> Figure:
    """All files that were read, one beside the other."""
    variants = document["variants"]
    figure, axes = canvas.panels(len(variants), 6.2, 6.4)
    for variant, panel in zip(variants, axes, strict=True):
        strips = _side_by_side(variant)
        _draw(panel, variant, strips, theme)
        panel.set_xticks([strip.left + strip.width / 2 for strip in strips],
                         [canvas.text(variant["files"][strip.number]["path"].rsplit("/", 1)[-1], 20)
                          for strip in strips], rotation=25 if len(strips) > 2 else 0,
                         ha="right" if len(strips) > 2 else "center", rotation_mode="anchor")
        panel.tick_params(axis="x", length=0)
        panel.set_xlabel("files; each from its first byte to its last")
    return _finish(figure, axes, document, theme, "Where this start read, and when")


def one_file(document: dict, places: list[int | None], theme: Theme) -> Figure:
    """One file of each variant, at its offsets."""
    variants = document["variants"]
    figure, axes = canvas.panels(len(variants), 6.2, 6.4)
    most = max(variant["files"][place]["size"] for variant, place
               in zip(variants, places, strict=True) if place is not None)
    for variant, place, panel in zip(variants, places, axes, strict=True):
        strips = []
        if place is not None:
            size = max(variant["files"][place]["size"], 1)
            strips = [_Strip(place, 0, size, size)]
        _draw(panel, variant, strips, theme, most)
        if strips:
            _sections_below(panel, variant["files"][place], most, theme)
        panel.set_xlim(-0.01 * most, 1.01 * most)
        panel.xaxis.set_major_formatter(canvas.megabytes)
        panel.set_xlabel("offset in the file, MB")
    return _finish(figure, axes, document, theme,
                   f"Where {canvas.file_name(variants, places)} was read, and when")


def _side_by_side(variant: dict) -> list[_Strip]:
    shown = [number for number, file in enumerate(variant["files"])
             if file["size"] and (file["read_bytes"] or file["major_faults"])]
    total = sum(variant["files"][number]["size"] for number in shown) or 1
    strips, left = [], 0.0
    for number in shown:
        size = variant["files"][number]["size"]
        width = max(size / total, _LEAST_SHARE)
        strips.append(_Strip(number, left, width, size))
        left += width + _GAP_SHARE
    return strips


def _draw(panel: Axes, variant: dict, strips: list[_Strip], theme: Theme,
          whole: float | None = None) -> None:
    events = variant["events"]
    kind = np.array(list(events["kind"]), "U1")
    time = np.array(events["time_ns"], float)
    offset, size, file, cause, backward = (np.array(events[name], np.int64) for name in
                                           ("offset", "bytes", "file", "cause", "backward"))
    colours = np.array([theme.causes[name] for name in variant["causes"]] + [theme.pale_ink])
    end = whole or (strips[-1].left + strips[-1].width if strips else 1)
    for strip in strips:
        panel.axvspan(strip.left, strip.left + strip.width, color=theme.unread, alpha=0.55,
                      linewidth=0, zorder=0)
    for strip in strips:
        mine = file == strip.number
        reads = np.flatnonzero(mine & (kind == "F"))
        start, stop = strip.at(offset[reads]), strip.at(offset[reads] + size[reads])
        _path(panel, start, stop, time[reads], backward[reads] == 1, theme)
        stop = np.maximum(stop, start + end * _LEAST_STROKE)
        panel.add_collection(LineCollection(
            np.stack([np.column_stack([start, time[reads]]),
                      np.column_stack([stop, time[reads]])], axis=1),
            colors=colours[cause[reads]], linewidths=2.4, capstyle="butt", zorder=3))
        minors = np.flatnonzero(mine & (kind == "m"))
        panel.scatter(strip.at(offset[minors]), time[minors], s=2.2, c=colours[cause[minors]],
                      alpha=0.4, linewidths=0, zorder=2)
        majors = np.flatnonzero(mine & (kind == "M"))
        panel.scatter(strip.at(offset[majors]), time[majors], s=8, c=colours[cause[majors]],
                      edgecolors=theme.paper, linewidths=0.15, zorder=4)
    panel.set_xlim(-0.01 * end, 1.01 * end)
    panel.grid(True, axis="y")
    seen = variant["summary"]
    read = "?" if seen["read_bytes"] is None else f"{seen['read_bytes'] / 1e6:.1f}"
    panel.set_title(f"{canvas.text(variant['name'])}\n", pad=8)
    counts = [count("?" if seen[key] is None else seen[key], noun)
              for key, noun in (("major_faults", "major fault"), ("backward_reads", "read"))]
    panel.text(0, 1.012, f"{counts[0]}, {read} MB read, {counts[1]} backwards",
               transform=panel.transAxes, color=theme.pale_ink, fontsize=9)


def _phases_beside(panel: Axes, variant: dict, longest: float, theme: Theme) -> None:
    """Where the phases of the first process begin and end, on the right."""
    last = max(variant["events"]["time_ns"][-1:], default=1)
    for phase in variant["phases"]:
        end = min(phase["end_ns"] or last, last)
        if phase["process"] or end <= phase["start_ns"]:
            continue
        colour = theme.causes.get(canvas.PHASES.get(phase["name"], ""), theme.pale_ink)
        panel.plot([1.006] * 2, [phase["start_ns"], end], color=colour, linewidth=3,
                   solid_capstyle="butt", clip_on=False, transform=panel.get_yaxis_transform())
        if end - phase["start_ns"] > _LEAST_PHASE * longest:
            panel.text(1.016, (phase["start_ns"] + end) / 2, canvas.text(phase["name"], 16),
                       rotation=270, va="center", ha="left", fontsize=7.5, color=theme.pale_ink,
                       transform=panel.get_yaxis_transform())


def _path(panel: Axes, start: np.ndarray, stop: np.ndarray, time: np.ndarray, backward: np.ndarray,
          theme: Theme) -> None:
    """From the end of each read to where the next begins."""
    if len(start) < 2:
        return
    lines = np.stack([np.column_stack([stop[:-1], time[:-1]]),
                      np.column_stack([start[1:], time[1:]])], axis=1)
    back = backward[1:]
    panel.add_collection(LineCollection(lines[~back], colors=theme.pale_ink, linewidths=0.4,
                                        alpha=0.45, zorder=1))
    panel.add_collection(LineCollection(lines[back], colors=theme.backward, linewidths=0.7,
                                        alpha=0.75, zorder=1.5))


def _sections_below(panel: Axes, file: dict, whole: int, theme: Theme) -> None:
    """The names of the sections that are wide enough for one, and where they begin."""
    ends = -1.0
    for section in file["sections"]:
        width = min(section["size"], file["size"])
        if width < 0.04 * whole:
            continue
        panel.axvline(section["offset"], color=theme.paper, linewidth=1.2, zorder=0.5)
        middle = section["offset"] + width / 2
        if middle - ends > 0.07 * whole:
            panel.text(middle, 0.006, canvas.text(section["name"], 18), ha="center", va="bottom",
                       color=theme.pale_ink, fontsize=7.5, transform=panel.get_xaxis_transform())
            ends = middle


def _finish(figure: Figure, axes: list[Axes], document: dict, theme: Theme, title: str) -> Figure:
    last = max((time for variant in document["variants"]
                for time in variant["events"]["time_ns"][-1:]), default=1)
    axes[0].set_ylim(1.03 * last, -0.01 * last)
    for variant, panel in zip(document["variants"], axes, strict=True):
        _phases_beside(panel, variant, last, theme)
    axes[0].yaxis.set_major_formatter(canvas.milliseconds)
    canvas.label_vertical(axes, "time since exec, ms")
    used = {variant["causes"][cause] for variant in document["variants"]
            for cause in variant["events"]["cause"]}
    keys = [Line2D([], [], color=colour, linewidth=3, label=name)
            for name, colour in theme.causes.items() if name in used]
    keys.append(Line2D([], [], color=theme.backward, linewidth=1, label="backwards"))
    canvas.legend_below(figure, keys, len(keys), handlelength=1.2, columnspacing=1.4)
    figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=13)
    return figure
