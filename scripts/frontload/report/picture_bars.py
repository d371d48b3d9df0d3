"""Bars: which sections the bytes came from, and where the time went."""

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from frontload.base.errors import count
from frontload.report import canvas
from frontload.report.theme import Theme

_LEAST_SECTIONS, _MOST_SECTIONS, _MOST_BARS = 4, 14, 30
_OTHERS = "all others"
_MOST_PROCESSES = 8  # of one variant, besides the first
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
    canvas.legend_below(figure, keys, 3)
    figure.suptitle("Where the bytes went", x=0.01, ha="left", weight="bold", fontsize=13)
    return figure


def phases(document: dict, theme: Theme) -> Figure:
    """A bar of time for each variant, of the phases of its first process; below it a thin one for
    each other process, those that took longest."""
    variants = document["variants"]
    rows = [row for variant in variants for row in _processes(variant)]
    places, place = [], -0.5
    for row in rows:
        places.append(place + row.room / 2)
        place += row.room
    figure, (panel,) = canvas.panels(1, 10, 1.5 + 0.85 * (place + 0.5))
    most = max([*(row.end for row in rows), 1])
    for number, row in zip(places, rows, strict=True):
        width = 0.5 * row.room
        panel.barh(number, row.end - row.start, width, left=row.start, color=theme.unread,
                   linewidth=0)
        for phase in row.phases:
            length = _end(row.variant, phase) - phase["start_ns"]
            panel.barh(number, length, width, left=phase["start_ns"], edgecolor=theme.paper,
                       linewidth=0.8, color=_colour(phase["name"], theme))
            if row.is_first and length >= _LEAST_LABEL * most:
                panel.text(phase["start_ns"] + length / 2, number,
                           f"{_time(length)}\n{count(phase['major_faults'], 'fault')}",
                           ha="center", va="center", fontsize=8, color=theme.paper, weight="bold")
        panel.text(row.end + 0.008 * most, number, row.says, va="center",
                   fontsize=8.5 if row.is_first else 7,
                   color=theme.ink if row.is_first else theme.pale_ink)
    panel.set_yticks(places, [row.name for row in rows])
    for label, row in zip(panel.get_yticklabels(), rows, strict=True):
        label.set_fontsize(9 if row.is_first else 7)
    panel.tick_params(axis="y", length=0, labelcolor=theme.ink)
    panel.set_ylim(place, -0.5)
    panel.set_xlim(0, 1.15 * most)
    panel.xaxis.set_major_formatter(canvas.milliseconds)
    panel.set_xlabel("ms since exec; recorded, so a little slower than otherwise")
    panel.grid(True, axis="x")
    names = dict.fromkeys(phase["name"] for row in rows for phase in row.phases)
    keys = [Patch(color=_colour(name, theme), label=canvas.text(name)) for name in names]
    canvas.legend_below(figure, [*keys, Patch(color=theme.unread, label="no phase")],
                        len(names) + 1)
    figure.suptitle("Where the time went", x=0.01, ha="left", weight="bold", fontsize=13)
    return figure


@dataclass(frozen=True)
class _Bar:
    """One process in the picture of phases; `room` is its share of the height."""

    variant: dict
    name: str
    phases: list[dict]
    start: int
    end: int
    says: str
    is_first: bool

    @property
    def room(self) -> float:
        return 1 if self.is_first else 0.35


def _processes(variant: dict) -> list[_Bar]:
    """The first process of a variant, and of the others those that took longest, in their order."""
    found: dict[int, list[dict]] = {0: []}
    for phase in variant["phases"]:
        found.setdefault(phase["process"], []).append(phase)
    bars = []
    for number, own in sorted(found.items()):
        known = variant["processes"][number:number + 1]
        start = known[0]["start_ns"] if known else 0
        ends = [*(each["end_ns"] for each in known), *(_end(variant, phase) for phase in own)]
        if number == 0:
            end = max([variant["summary"]["wall_ns"] or 0, *(end for end in ends if end)],
                      default=0)
            majors = variant["summary"]["major_faults"]
            says = f"{_time(end)}\n{count('?' if majors is None else majors, 'major fault')}"
            bars.append(_Bar(variant, canvas.text(variant["name"], 28), own, 0, end, says, True))
            continue
        end = max(end for end in ends if end)
        majors = sum(phase["major_faults"] for phase in own)
        says = f"{_time(end - start)}, {count(majors, 'fault')} in these phases"
        name = known[0]["command"] if known else f"process {number}"
        bars.append(_Bar(variant, canvas.text(name, 28), own, start, end, says, False))
    longest = sorted(bars[1:], key=lambda bar: bar.start - bar.end)[:_MOST_PROCESSES]
    return [bar for bar in bars if bar.is_first or bar in longest]


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
