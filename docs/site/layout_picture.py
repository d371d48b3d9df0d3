"""Draws what a front is: one file as lld lays it out, and as ld.frontload does.

It is a sketch, not a measurement: sections are as wide as is good to look at, and what startup
touches is sprinkled over them by a fixed rule. docs/layout.md has the order of the sections.
"""

import canvas
from canvas import THEMES, Theme

# A section's name, its width, the share of it that startup touches, and its cause in the theme.
Section = tuple[str, float, float, str]
BEFORE: tuple[Section, ...] = (
    ("headers,\nrelocations", 9, 0.9, "relocation"), ("constants", 20, 0.12, "constant"),
    ("unwinding", 9, 0.0, "exec"), ("code", 44, 0.10, "code"), ("data", 18, 0.55, "data"))
AFTER: tuple[Section, ...] = (
    ("headers", 3, 0.95, "relocation"), ("data", 11, 0.9, "data"),
    ("relocations,\nconstants", 5, 0.9, "constant"), ("code", 5, 0.9, "code"),
    ("more code", 39, 0.0, "code"), ("more constants", 17, 0.0, "constant"),
    ("unwinding", 9, 0.0, "exec"))
FRONT = 4  # so many of AFTER are the front
_PARTS = 0.6  # the width of a touched piece


def _touched(sections: tuple[Section, ...]) -> list[tuple[float, str]]:
    """The places of the touched pieces, spread as by chance, but always the same."""
    found, begin, number = [], 0.0, 7
    for _, width, share, cause in sections:
        for piece in range(int(width / _PARTS)):
            number = (number * 1103515245 + 12345) % (1 << 31)
            if number / (1 << 31) < share:
                found.append((begin + piece * _PARTS, cause))
        begin += width
    return found


def _strip(axes, sections: tuple[Section, ...], named: int, theme: Theme) -> None:
    begin = 0.0
    for number, (name, width, _, _) in enumerate(sections):
        axes.broken_barh([(begin, width - 0.25)], (0, 1), facecolor=theme.unread, linewidth=0)
        if number >= named:
            axes.text(begin + width / 2, -0.18, name, ha="center", va="top", size=8,
                      color=theme.pale_ink)
        begin += width
    for place, cause in _touched(sections):
        axes.broken_barh([(place, _PARTS * 0.8)], (0, 1), facecolor=theme.of_report[cause],
                         linewidth=0)
    axes.set_xlim(-0.3, begin + 0.3)
    axes.set_ylim(-0.9, 1.5)
    axes.set_axis_off()


def draw(theme: Theme) -> bytes:
    canvas.set_up(theme)
    figure, (before, after) = canvas.pyplot.subplots(2, 1, figsize=(7.6, 2.9),
                                                     layout="constrained")
    _strip(before, BEFORE, 0, theme)
    before.set_title("linked as usual: what startup touches lies all over the file", size=10)
    _strip(after, AFTER, FRONT, theme)
    after.set_title("linked with a front: it is at the beginning, in first-touch order", size=10)
    end = sum(width for _, width, _, _ in AFTER[:FRONT])
    after.annotate("", (0, -0.22), (end, -0.22), arrowprops={
        "arrowstyle": "|-|, widthA=0.3, widthB=0.3", "color": theme.ink, "shrinkA": 0,
        "shrinkB": 0})
    after.text(end / 2, -0.34, "the front", ha="center", va="top", size=9, weight="bold",
               color=theme.ink)
    return canvas.save(figure)


def pages(root) -> dict:
    return {root / f"docs/front.{theme.name}.svg": draw(theme) for theme in THEMES.values()}
