"""Bars: which sections the bytes came from, and where the time went."""

import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from frontload.errors import count
from frontload.report import canvas
from frontload.report.theme import Theme

_LEAST_SECTIONS, _MOST_SECTIONS, _MOST_BARS = 4, 14, 30
_OTHERS = "all others"
_BAR = 0.8  # of the distance from one section or variant to the next
_LEAST_LABEL = 0.07  # of the width


def sections(document: dict, theme: Theme) -> Figure:
    """For each section the bytes that were read, of all files together; a bar for each variant."""
    variants = document["variants"]
    sums = [_by_section(variant) for variant in variants]
    names = sorted({name for found in sums for name in found},
                   key=lambda name: (-max(found.get(name, (0, 0, 0))[0] for found in sums), name))
    names = [name for name in names if any(found.get(name, (0, 0, 0))[0] for found in sums)]
    names = _gathered(names, sums, max(_LEAST_SECTIONS, min(_MOST_SECTIONS,
                                                            _MOST_BARS // len(variants))))
    height = _BAR / len(variants)
    figure, (panel,) = canvas.panels(1, 10, 1.6 + len(names) * max(0.34, 0.19 * len(variants)))
    most = max((found[name][0] for found in sums for name in names if name in found), default=1)
    for number, (variant, found) in enumerate(zip(variants, sums, strict=True)):
        place = np.arange(len(names)) - _BAR / 2 + height * (number + 0.5)
        read = np.array([found.get(name, (0, 0, 0))[0] for name in names], float)
        wasted, unknown = (np.array([found.get(name, (0, 0, 0))[column] for name in names], float)
                           for column in (1, 2))
        for length, colour in ((read, theme.unknown), (read - unknown, theme.read),
                               (read - unknown - wasted, theme.touched)):
            panel.barh(place, length, height * 0.88, color=colour, linewidth=0)
        for where, amount in zip(place.tolist(), read.tolist(), strict=True):
            label = f"{canvas.text(variant['name'], 24)}  " if len(variants) > 1 else ""
            panel.text(amount + 0.006 * most, where, f"{label}{_size(amount)}", va="center",
                       fontsize=7.5, color=theme.pale_ink)
    panel.set_yticks(range(len(names)), [canvas.text(name, 28) for name in names])
    panel.tick_params(axis="y", length=0, labelcolor=theme.ink)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.set_xlim(0, 1.18 * most)
    panel.xaxis.set_major_formatter(canvas.megabytes)
    panel.set_xlabel("MB read")
    panel.grid(True, axis="x")
    keys = []
    if any(row["wasted"] is not None for variant in variants for row in variant["bytes"]):
        keys += [Patch(color=theme.touched, label="touched"),
                 Patch(color=theme.read, label="wasted")]
    if any(row["read"] and row["wasted"] is None for variant in variants
           for row in variant["bytes"]):
        keys.append(Patch(color=theme.unknown, label="read, touched or not is not known"))
    figure.legend(handles=keys, loc="outside lower center", ncols=3)
    figure.suptitle("Where the bytes went", x=0.01, ha="left", weight="bold", fontsize=13)
    return figure


def phases(document: dict, theme: Theme) -> Figure:
    """A bar of time for each variant, of the phases of its first process."""
    variants = document["variants"]
    figure, (panel,) = canvas.panels(1, 10, 1.5 + 0.85 * len(variants))
    rows = [[phase for phase in variant["phases"] if phase["process"] == 0]
            for variant in variants]
    ends = [max([variant["summary"]["wall_ns"] or 0, *(_end(variant, phase) for phase in found)],
                default=0) for variant, found in zip(variants, rows, strict=True)]
    most = max([*ends, 1])
    for number, (variant, found, end) in enumerate(zip(variants, rows, ends, strict=True)):
        panel.barh(number, end, 0.5, color=theme.unread, linewidth=0)
        for phase in found:
            length = _end(variant, phase) - phase["start_ns"]
            panel.barh(number, length, 0.5, left=phase["start_ns"], edgecolor=theme.paper,
                       linewidth=0.8, color=_colour(phase["name"], theme))
            if length >= _LEAST_LABEL * most:
                panel.text(phase["start_ns"] + length / 2, number,
                           f"{_time(length)}\n{count(phase['major_faults'], 'fault')}",
                           ha="center", va="center", fontsize=8, color=theme.paper, weight="bold")
        faults = count(variant["summary"]["major_faults"], "major fault")
        panel.text(end + 0.008 * most, number, f"{_time(end)}\n{faults}", va="center",
                   fontsize=8.5, color=theme.ink)
    panel.set_yticks(range(len(variants)), [canvas.text(variant["name"], 28)
                                            for variant in variants])
    panel.tick_params(axis="y", length=0, labelcolor=theme.ink)
    panel.set_ylim(len(variants) - 0.5, -0.5)
    panel.set_xlim(0, 1.15 * most)
    panel.xaxis.set_major_formatter(canvas.milliseconds)
    panel.set_xlabel("ms since exec; recorded, so a little slower than otherwise")
    panel.grid(True, axis="x")
    names = dict.fromkeys(phase["name"] for found in rows for phase in found)
    figure.legend(handles=[Patch(color=_colour(name, theme), label=canvas.text(name))
                           for name in names] + [Patch(color=theme.unread, label="no phase")],
                  loc="outside lower center", ncols=len(names) + 1)
    figure.suptitle("Where the time went", x=0.01, ha="left", weight="bold", fontsize=13)
    return figure


def _gathered(names: list[str], sums: list[dict[str, tuple[int, int, int]]],
              most: int) -> list[str]:
    """The first of the names; what the others have goes together."""
    if len(names) <= most:
        return names
    for found in sums:
        rest = [found[name] for name in names[most - 1:] if name in found]
        found[_OTHERS] = tuple(map(sum, zip(*rest, strict=True))) if rest else (0, 0, 0)
    return [*names[:most - 1], _OTHERS]


def _by_section(variant: dict) -> dict[str, tuple[int, int, int]]:
    """The bytes of each name of sections: read; of these wasted; and of which it is not known."""
    found: dict[str, tuple[int, int, int]] = {}
    for row in variant["bytes"]:
        read, wasted, unknown = found.get(row["section"], (0, 0, 0))
        more = row["read"] or 0
        found[row["section"]] = (read + more, wasted + (row["wasted"] or 0),
                                 unknown + (more if row["wasted"] is None else 0))
    return found


def _end(variant: dict, phase: dict) -> int:
    return phase["end_ns"] or variant["summary"]["wall_ns"] or phase["start_ns"]


def _colour(name: str, theme: Theme) -> str:
    return theme.causes.get(canvas.PHASES.get(name, ""), theme.pale_ink)


def _size(amount: float) -> str:
    if not amount:
        return "0"
    return f"{amount / 1e6:.1f} MB" if amount >= 1e6 else f"{math.ceil(amount / 1e3)} kB"


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.1f} ms"
