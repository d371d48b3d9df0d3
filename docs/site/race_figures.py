"""What docs/comparison.md shows of the race: a table, and a picture for each theme.

docs/race.md has all of it, as bench/table wrote it. Here the rows that the comparison is about are
taken out of it, so that nobody copies figures by hand.
"""

import re
from pathlib import Path
from typing import NamedTuple

import canvas
from canvas import THEMES, Theme

# The rows of a race, by the beginning of their names, as the comparison calls them.
TECHNIQUES = {
    "lld": "lld, as it is",
    "gcc PGO": "gcc PGO",
    "the same with `-flto`": "gcc PGO with LTO",
    "clang PGO": "clang PGO, split functions",
    "lld, order of an LLVM temporal profile": "LLVM's temporal profile",
    "lld `--bp-startup-sort=function`": "lld's balanced partitioning",
    "BOLT": "BOLT, order of first calls",
    "lld, order file of exact first calls": "order file of first calls",
    "lld, the whole file read first": "the whole file read first",
    "**ld.frontload**": "a front",
    "**ld.frontload `--front-prefetch`**": "a front, prefetched",
}
OURS = ("a front", "a front, prefetched")
PROGRAMS = {"cc1": "clang, 207 MB", "cpython": "CPython", "git": "git", "wasm-tools": "wasm-tools"}
BEGIN, END = "<!-- docs/site wrote this table from race.md -->", "<!-- up to here -->"
UNKNOWN = "—"


class Cost(NamedTuple):
    """What a cold start costs, as the race's page writes it."""

    faults: str
    megabytes: str
    seconds: str  # on the slow device, by its requests

    @property
    def is_known(self) -> bool:
        return self.faults != UNKNOWN

    def text(self) -> str:
        if not self.is_known:
            return UNKNOWN
        return f"{self.faults}, {self.megabytes} MB, {float(self.seconds):.2f} s"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|\n ").split("|")]


def _technique(name: str) -> str | None:
    """The longest beginning of a row's name decides: "lld" is that of many."""
    name = re.sub(r" \(\d+\)$", "", name)
    if name in TECHNIQUES:
        return TECHNIQUES[name]
    fitting = [begin for begin in TECHNIQUES if begin in ("BOLT", "gcc PGO", "clang PGO")
               and name.startswith(begin + ",") | name.startswith(begin + " ")]
    return TECHNIQUES[fitting[0]] if fitting else None


def read(markdown: str) -> dict[str, dict[str, Cost]]:
    """The costs in a page of a race, by program and technique."""
    found: dict[str, dict[str, Cost]] = {}
    rows, columns = None, None
    for line in markdown.splitlines():
        if line.startswith("## "):
            rows, columns = found.setdefault(line[3:], {}), None
        elif line.startswith("|") and rows is not None:
            cells = _cells(line)
            if columns is None:
                columns = [line.split("|").index(f" {name} ") - 1
                           for name in ("major faults", "MB read", "slow s, by requests")]
            elif (technique := _technique(cells[0])) and technique not in rows:
                rows[technique] = Cost(*(cells[column] for column in columns))
    return found


def table(race: dict[str, dict[str, Cost]]) -> str:
    lines = ["|  | " + " | ".join(PROGRAMS.values()) + " |", "| --- " * (len(PROGRAMS) + 1) + "|"]
    for technique in TECHNIQUES.values():
        costs = [race[program].get(technique) for program in PROGRAMS]
        name = f"**{technique}**" if technique in OURS else technique
        lines.append("| " + " | ".join([name, *(cost.text() if cost else UNKNOWN
                                                for cost in costs)]) + " |")
    return "\n".join(lines)


def draw(race: dict[str, dict[str, Cost]], theme: Theme) -> bytes:
    """The seconds of each technique on the slow device, a panel for each program, as SVG."""
    canvas.set_up(theme)
    figure, panels = canvas.pyplot.subplots(2, 2, figsize=(7.6, 6.4), sharey=True,
                                            layout="constrained")
    names = list(TECHNIQUES.values())
    for (program, title), axes in zip(PROGRAMS.items(), panels.flat, strict=True):
        costs = race[program]
        most = max(float(cost.seconds) for cost in costs.values() if cost.is_known)
        for row, name in enumerate(names):
            cost = costs.get(name)
            if not cost or not cost.is_known:
                axes.text(0.01 * most, row, "not built", va="center", color=theme.pale_ink,
                          size=8)
                continue
            seconds = float(cost.seconds)
            axes.barh(row, seconds, height=0.7,
                      color=theme.of_report.touched if name in OURS else theme.of_report.unknown)
            axes.text(seconds + 0.015 * most, row, f"{seconds:.2f} s", va="center", size=8,
                      color=theme.ink)
        axes.set_title(title, loc="left", size=10)
        axes.set_yticks(range(len(names)), names, size=8)
        for label in axes.get_yticklabels():
            label.set_weight("bold" if label.get_text() in OURS else "normal")
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, 1.16 * most)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return canvas.save(figure)


def pages(root: Path) -> dict[Path, bytes]:
    """What the comparison has from the race: its page with the table, and its pictures."""
    page = root / "docs/comparison.md"
    race = read((root / "docs/race.md").read_text(encoding="utf-8"))
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    written = {page: f"{before}{BEGIN}\n{table(race)}\n{END}{after}".encode()}
    for theme in THEMES.values():
        written[root / f"docs/comparison.{theme.name}.svg"] = draw(race, theme)
    return written
