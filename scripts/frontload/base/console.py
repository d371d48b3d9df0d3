"""Tables and progress on the terminal, by rich.

The contents of a table come from foreign files, so every cell is escaped and none is markup. rich
is loaded only when a table or progress is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from frontload.base.errors import is_quiet, printable

if TYPE_CHECKING:
    from rich.table import Table

Item = TypeVar("Item")


def table(*columns: str, numbers: Iterable[int] = ()) -> Table:
    """An empty table; the columns whose positions are in `numbers` are aligned to the right."""
    from rich.table import Table

    result = Table(box=None, pad_edge=False, header_style="bold")
    for position, column in enumerate(columns):
        result.add_column(column, justify="right" if position in numbers else "left",
                          overflow="fold")
    return result


def add_row(to: Table, *cells: object, style: str | None = None) -> None:
    from rich.text import Text

    to.add_row(*(Text(printable(str(cell))) for cell in cells), style=style)


def show(what: Table) -> None:
    """Prints a table on stdout; wider than a terminal's default if stdout is none."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 120
    Console(width=width, highlight=False).print(what)


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """Goes through `items`, with a progress bar on stderr if that is a terminal and not --quiet.
    `total`: the number of items, if they have no length."""
    if is_quiet() or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, what, total, console=Console(stderr=True), transient=True)
