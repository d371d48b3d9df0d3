"""Coverage and faults by release, as a picture: bench/releases'."""

from coldbench.show import svg
from coldbench.show.svg import pyplot

_LINES = (("never", "recorded of the first release", "#c2571a"),
          ("before", "recorded of the release before", "#7d4fb0"),
          ("sampled", "field samples of the releases before", "#1f6fd1"),
          ("candidate", "samples of a canary of its candidate", "#b3387a"),
          ("anew", "recorded anew", "#0b7a75"))
_PLAIN = ("plain", "without a front", "#5f6b7a")
_MOST_LABELS = 9


def draw(document: dict) -> bytes:
    """Coverage and faults by release as SVG; the same document gives the same bytes."""
    rows = document["rows"]
    with svg.style():
        figure, axes = pyplot.subplots(2, 1, figsize=(9.0, 6.4), sharex=True)
        for panel, title, what, lines in (
                (axes[0], "names of a recording that the profile finds, %",
                 lambda each: 100 * each["coverage"], _LINES),
                (axes[1], "major faults of a cold start, predicted",
                 lambda each: each["major_faults"], (_PLAIN, *_LINES))):
            for name, label, colour in lines:
                panel.plot([what(row[name]) for row in rows], color=colour, linewidth=1.6,
                           label=label)
            panel.set_title(title, loc="left", fontsize=10, weight="bold")
            panel.grid(True, linewidth=0.5, alpha=0.35)
            panel.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylim(0, 104)
        axes[1].set_ylim(0)
        ticks = range(0, len(rows), max(1, -(-len(rows) // _MOST_LABELS)))
        axes[1].set_xticks(ticks, [rows[number]["version"] for number in ticks])
        axes[1].set_xlabel(f"release of {document['crate']}")
        axes[0].legend(*axes[1].get_legend_handles_labels(), frameon=False, fontsize=9,
                       loc="lower left")
        figure.tight_layout()
        return svg.save(figure, f"A startup profile over {len(rows)} releases of "
                        f"{document['crate']}")
