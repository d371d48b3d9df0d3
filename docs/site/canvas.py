"""What the pictures of the documentation and of the bench share: colors, light and dark,
matplotlib set up so that the same figures give the same bytes, and how a figure becomes SVG.
"""

import io
import os
import tempfile
from dataclasses import dataclass

# matplotlib would leave its list of fonts in the user's home.
_scratch = tempfile.TemporaryDirectory(prefix="frontload-pictures.")
os.environ.setdefault("MPLCONFIGDIR", _scratch.name)

import matplotlib  # noqa: E402

matplotlib.use("agg")

from frontload.report import theme as report  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


@dataclass(frozen=True)
class Theme:
    name: str
    paper: str
    ink: str
    pale_ink: str
    grid: str
    unread: str
    of_report: dict[str, str]  # the report's colors: what a start touched, and why


_LIGHT, _DARK = ({name: pair[place] for name, pair in (report.PARTS | report.CAUSES).items()}
                 for place in (0, 1))
THEMES = {each.name: each for each in (
    Theme("light", paper="#ffffff", ink="#1b1f24", pale_ink="#66707b", grid="#e3e7ec",
          unread="#eceff3", of_report=_LIGHT),
    Theme("dark", paper="#14181d", ink="#e8ecf1", pale_ink="#97a2ae", grid="#2b323a",
          unread="#222930", of_report=_DARK))}


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


def save(figure: Figure, title: str = "", **options) -> bytes:
    """Returns the figure as SVG, and closes it; `options` are matplotlib's."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None} | (
        {"Title": title} if title else {}), **{"dpi": 144, **options})
    pyplot.close(figure)
    return buffer.getvalue()
