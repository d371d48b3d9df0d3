"""Tables and progress on the terminal, by rich; without it, tables are plain and there is no
progress.

The contents of a table come from foreign files, so every cell is escaped and none is markup. rich
is loaded only when a table or progress is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count, zip_longest
from typing import TYPE_CHECKING, TypeVar

from frontload.base.errors import is_quiet, printable

if TYPE_CHECKING:
    from rich.table import Table

Item = TypeVar("Item")
Begin = Callable[..., Callable[[str], None]]  # of a step: what is done, and how many parts
_shows_steps = False


class _PlainTable:
    """A table whose columns are as wide as their longest cells."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = [[]]
        self._justified: list[str] = []

    def add_column(self, header: str, justify: str, **_: object) -> None:
        self._rows[0].append(header)
        self._justified.append(justify)

    def add_row(self, *cells: str, style: str | None = None) -> None:
        self._rows.append(list(cells))

    def __str__(self) -> str:
        head, *rows = ([cell.split("\n") for cell in row] for row in self._rows)
        height = max(map(len, head))
        head = [[""] * (height - len(cell)) + cell for cell in head]
        lines = [line for row in (head, *rows) for line in zip_longest(*row, fillvalue="")]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(
            cell.rjust(width) if justify == "right" else cell.ljust(width)
            for cell, width, justify in zip(line, widths, self._justified, strict=True)).rstrip()
            for line in lines)


def table(*columns: str, numbers: Iterable[int] = ()) -> Table:
    """An empty table; the columns whose positions are in `numbers` are aligned to the right."""
    try:
        from rich.table import Table

        result = Table(box=None, pad_edge=False, header_style="bold")
    except ImportError:
        result = _PlainTable()  # type: ignore[assignment]  # has what we use of it
    for position, column in enumerate(columns):
        result.add_column(column, justify="right" if position in numbers else "left",
                          overflow="fold")
    return result


def add_row(to: Table, *cells: object, style: str | None = None) -> None:
    texts = [printable(str(cell)) for cell in cells]
    if isinstance(to, _PlainTable):
        return to.add_row(*texts)
    from rich.text import Text

    to.add_row(*map(Text, texts), style=style)


def show(what: Table) -> None:
    """Prints a table on stdout; wider than a terminal's default if stdout is none."""
    if isinstance(what, _PlainTable):
        return print(what)
    from rich.console import Console

    width = None if sys.stdout.isatty() else 120
    Console(width=width, highlight=False).print(what)


def _on_terminal() -> bool:
    """Whether progress is shown, and no steps are shown already."""
    return not (_shows_steps or is_quiet()) and sys.stderr.isatty()


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """Goes through `items`, with a progress bar on stderr if that is a terminal and not --quiet.
    `total`: the number of items, if they have no length."""
    if not _on_terminal():
        return items
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        return items
    return track(items, what, total, console=Console(stderr=True), transient=True)


@contextmanager
def steps(transient: bool = False) -> Iterator[Begin | None]:
    """Within `with`, a function that begins the next step of long work, of `total` parts. It
    returns a function to be called before each part. On stderr a step is a line with its time, and
    with parts also the time left. None unless progress is shown."""
    global _shows_steps
    if not _on_terminal():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress, Task, TextColumn
        from rich.text import Text
    except ImportError:
        yield None
        return

    class Line(TextColumn):
        def render(self, task: Task) -> Text:
            so_far, left = task.finished_time or task.elapsed or 0, task.time_remaining
            return Text(f"{timedelta(seconds=int(so_far))} {task.description}"
                        + (f", {timedelta(seconds=left)} left" if left else ""))

    # It hardly disturbs what is measured. All parts count for the time left.
    with Progress(Line(""), console=Console(stderr=True), transient=transient,
                  refresh_per_second=1, speed_estimate_period=3600) as shown:
        def end() -> None:
            for task in shown.tasks[-1:]:
                shown.update(task.id, total=task.completed, description=task.fields["what"])

        def begin(what: str, total: int | None = None) -> Callable[[str], None]:
            end()
            task, part = shown.add_task(printable(what), total=total, what=printable(what)), count()
            return lambda doing: shown.update(task, completed=next(part), refresh=True,
                                              description=printable(doing))

        _shows_steps = True
        try:
            yield begin
        finally:
            _shows_steps = False
            end()
