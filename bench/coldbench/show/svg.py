"""Shared by the bench's pictures: their style, and how a figure becomes SVG.

The pictures have no background of their own, and their text is a grey that is legible on white and
on black, because pages of both themes show them. The same figure gives the same bytes.
"""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

# matplotlib would leave its list of fonts in the user's home.
_scratch = tempfile.TemporaryDirectory(prefix="frontload-pictures.")
os.environ.setdefault("MPLCONFIGDIR", _scratch.name)

import matplotlib  # noqa: E402

matplotlib.use("agg")

from matplotlib import pyplot  # noqa: E402

TEXT = "#7a828c"
# Of a strip, a file from its first byte to its last.
READ, UNREAD = "#0b4f9c", "#dde3ea"
# Reads are drawn at least this wide (of the strip), or a single page would not be seen.
MIN_WIDTH = 1 / 1500
_STYLE = {"svg.hashsalt": "frontload", "svg.fonttype": "none", "text.color": TEXT,
          "axes.labelcolor": TEXT, "axes.edgecolor": TEXT, "axes.titlecolor": TEXT,
          "xtick.color": TEXT, "ytick.color": TEXT, "font.family": "sans-serif", "font.size": 10}


@contextmanager
def style() -> Iterator[None]:
    """Within `with`, figures have the bench's style."""
    with matplotlib.rc_context(_STYLE):
        pyplot.switch_backend("svg")  # measures text, where a layout depends on it
        yield


def save(figure: pyplot.Figure, title: str) -> bytes:
    """The figure as SVG; it is gone afterwards."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", transparent=True, bbox_inches="tight",
                   metadata={"Date": None, "Title": title})
    pyplot.close(figure)
    return buffer.getvalue()
