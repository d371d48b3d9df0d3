"""What all pictures share: matplotlib set up so that the same document gives the same bytes, and
how figures become files.
"""

import io
import os
import tempfile
import warnings

# matplotlib would leave its list of fonts in the user's home.
_scratch = tempfile.TemporaryDirectory(prefix="frontload-pictures.")
os.environ.setdefault("MPLCONFIGDIR", _scratch.name)

import matplotlib  # noqa: E402

matplotlib.use("agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.artist import Artist  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from frontload.base.errors import printable  # noqa: E402
from frontload.report.theme import Theme  # noqa: E402

DPI = 144
_COLUMNS = 3
_LEGEND = 0.3  # inches

PHASES = {"exec": "exec", "loader": "loader", "relocation": "relocation",
          "constructors": "constructor", "main": "code", "started": "constant", "request": "kernel"}


def set_up(theme: Theme) -> None:
    """From here on figures are of this theme."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({
        "svg.hashsalt": "frontload", "svg.fonttype": "none", "text.parse_math": False,
        "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9,
        "figure.facecolor": theme.paper, "axes.facecolor": theme.paper,
        "savefig.facecolor": theme.paper, "text.color": theme.ink, "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.pale_ink, "xtick.color": theme.pale_ink,
        "ytick.color": theme.pale_ink, "axes.titlesize": 11, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False,
        "grid.color": theme.grid, "grid.linewidth": 0.7, "axes.axisbelow": True,
        "legend.frameon": False})


def panels(count: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of panels of this size, side by side, which share their vertical axis; many are in
    rows."""
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(width * columns, height * rows),
                                   sharey=True, squeeze=False, layout="constrained")
    for empty in axes.flat[count:]:
        empty.remove()
    return figure, list(axes.flat[:count])


def label_vertical(axes: list[Axes], label: str) -> None:
    """Names the vertical axis, once in each row of panels."""
    for panel in axes[::_COLUMNS]:
        panel.set_ylabel(label)


def legend_below(figure: Figure, handles: list[Artist], columns: int, **options) -> None:
    """What the colours mean, in one row below the panel. (matplotlib 3.7 finds the place for it by
    itself; Debian 12 has 3.6.)"""
    share = _LEGEND / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))
    figure.legend(handles=handles, loc="lower center", ncol=columns, **options)


def save(figure: Figure, format: str) -> bytes:
    """The figure as png or svg; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if format == "svg" else {"Software": None}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # names may have any character
        figure.savefig(buffer, format=format, dpi=DPI, metadata=metadata)
    return buffer.getvalue()


def close(figure: Figure) -> None:
    pyplot.close(figure)


def text(name: str, most: int = 48) -> str:
    """A name from a foreign file as it is drawn: printable, and cut in its middle if it is long."""
    shown = printable(name)
    if len(shown) <= most:
        return shown
    return f"{shown[:most // 2 - 1]}…{shown[-(most - most // 2):]}"


def file_name(variants: list[dict], places: list[int | None]) -> str:
    """What to call a file that has a place in each variant; the programs have several names."""
    names = {variant["files"][place]["path"].rsplit("/", 1)[-1]
             for variant, place in zip(variants, places, strict=True) if place is not None}
    return text(names.pop()) if len(names) == 1 else "the program"


def megabytes(value: float, position: int | None = None) -> str:
    return f"{value / 1e6:g}"


def milliseconds(value: float, position: int | None = None) -> str:
    return f"{value / 1e6:g}"
