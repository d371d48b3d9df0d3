"""Faults and bytes of cold starts by readahead, as a picture: bench/readahead's."""

from frontload.device.cold_device import READ_AHEAD_KIB

from coldbench.show import svg
from coldbench.show.svg import TEXT, pyplot

# The place of a start without readahead on the logarithmic axis.
_ZERO = 4
_COLOURS = ("#5f6b7a", "#c2571a", "#7d4fb0", "#0b7a75", "#1f6fd1")


def draw(document: dict) -> bytes:
    """Faults and bytes by readahead as SVG; the same document gives the same bytes."""
    with svg.style():
        figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 4.0), sharex=True)
        for panel, (key, scale, title) in zip(axes, (
                ("major_faults", 1, "major faults"), ("read_bytes", 1e6, "MB read")), strict=True):
            for name, colour in zip(document["variants"], _COLOURS, strict=False):
                points = [(max(row["read_ahead_kib"], _ZERO), max(row[key] / scale, 1))
                          for row in document["rows"] if row["variant"] == name]
                panel.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=3.5,
                           linewidth=1.6, label=name)
            panel.set_xscale("log", base=2)
            panel.set_yscale("log")
            panel.set_title(title, loc="left", fontsize=10, weight="bold")
            panel.yaxis.set_major_formatter(lambda value, position: f"{value:,.0f}")
            panel.xaxis.set_major_formatter(
                lambda value, position: "0" if value <= _ZERO else f"{value:.0f}")
            panel.grid(True, linewidth=0.5, alpha=0.35)
            panel.axvline(READ_AHEAD_KIB, linewidth=0.8, linestyle=":", color=TEXT)
            panel.set_xlabel("readahead of the device, KiB (dotted: the kernel's default)")
            panel.spines[["top", "right"]].set_visible(False)
        axes[1].legend(frameon=False, fontsize=9, loc="upper left")
        figure.tight_layout()
        return svg.save(figure, f"Cold starts of {document['workload']} by readahead")
