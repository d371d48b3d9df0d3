"""The picture of the techniques in docs/cold-starts.md, for each theme, with the seconds of
docs/race.json.
"""

import json
from pathlib import Path

import canvas
from canvas import THEMES, Theme

# The rows of a race, as the comparison calls them.
TECHNIQUES = {
    "default": "lld, as it is",
    "gcc-pgo": "gcc PGO",
    "gcc-pgo-lto": "gcc PGO with LTO",
    "clang-pgo": "clang PGO, split functions",
    "temporal": "LLVM's temporal profile",
    "bp-startup": "lld's balanced partitioning",
    "bolt": "BOLT, order of first calls",
    "order": "order file of first calls",
    "order+relr": "the same, packed relocations",
    "preread": "the whole file read first",
    "front": "a front",
    "front+prefetch": "a front, prefetched",
}
OURS = ("a front", "a front, prefetched")
PROGRAMS = {"cc1": "clang, 207 MB", "cpython": "CPython", "git": "git", "wasm-tools": "wasm-tools"}


def read(result: dict) -> dict[str, dict[str, float]]:
    """The computed seconds on a slow disk, by program and technique."""
    return {workload["name"]: {
        TECHNIQUES[variant["name"]]: variant["slow_by_requests_ns"] / 1e9
        for variant in workload["variants"] if variant["name"] in TECHNIQUES}
        for workload in result["workloads"]}


def draw(race: dict[str, dict[str, float]], theme: Theme) -> bytes:
    """The seconds of each technique on the slow device, a panel for each program, as SVG."""
    canvas.set_up(theme)
    figure, panels = canvas.pyplot.subplots(2, 2, figsize=(7.6, 6.4), sharey=True,
                                            layout="constrained")
    names = list(TECHNIQUES.values())
    for (program, title), axes in zip(PROGRAMS.items(), panels.flat, strict=True):
        if not (costs := race.get(program)):
            axes.set_visible(False)
            continue
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
    race = read(json.loads((root / "docs/race.json").read_text(encoding="utf-8")))
    return {root / f"docs/cold-starts/comparison.{theme.name}.svg": draw(race, theme)
            for theme in THEMES.values()}
