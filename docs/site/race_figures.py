"""The picture of the techniques in docs/cold-starts.md, for each theme: the seconds in the first
table of docs/reference/race.md, which bench/table wrote.
"""

from pathlib import Path

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
UNKNOWN = "—"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|\n ").split("|")]


def _technique(name: str) -> str | None:
    """The longest beginning of a row's name decides: "lld" begins many."""
    if name in TECHNIQUES:
        return TECHNIQUES[name]
    fitting = [begin for begin in TECHNIQUES if begin in ("BOLT", "gcc PGO", "clang PGO")
               and name.startswith(begin + ",")]
    return TECHNIQUES[fitting[0]] if fitting else None


def read(markdown: str) -> dict[str, dict[str, float]]:
    """The seconds in the first table of a race's page, by program and technique."""
    lines = [line for line in markdown.partition("\n## ")[0].splitlines() if line.startswith("|")]
    programs = _cells(lines[0])[1:]
    found: dict[str, dict[str, float]] = {program: {} for program in programs}
    for line in lines[2:]:
        name, *cells = _cells(line)
        if technique := _technique(name):
            for program, cell in zip(programs, cells, strict=True):
                if cell != UNKNOWN:
                    found[program][technique] = float(cell)
    return found


def draw(race: dict[str, dict[str, float]], theme: Theme) -> bytes:
    """The seconds of each technique on the slow device, a panel for each program, as SVG."""
    canvas.set_up(theme)
    figure, panels = canvas.pyplot.subplots(2, 2, figsize=(7.6, 6.4), sharey=True,
                                            layout="constrained")
    names = list(TECHNIQUES.values())
    for (program, title), axes in zip(PROGRAMS.items(), panels.flat, strict=True):
        costs = race[program]
        most = max(costs.values())
        for row, name in enumerate(names):
            if (seconds := costs.get(name)) is None:
                axes.text(0.01 * most, row, "not built", va="center", color=theme.pale_ink,
                          size=8)
                continue
            axes.barh(row, seconds, height=0.7,
                      color=theme.of_report["touched" if name in OURS else "unknown"])
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
    """The pictures of the comparison."""
    race = read((root / "docs/reference/race.md").read_text(encoding="utf-8"))
    return {root / f"docs/cold-starts/comparison.{theme.name}.svg": draw(race, theme)
            for theme in THEMES.values()}
