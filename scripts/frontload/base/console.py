"""Tables and progress on the terminal, by rich; without it, tables are plain and there is no
progress.

The contents of a table come from foreign files, so every cell is escaped and none is markup. rich
is loaded only when a table or progress is shown.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import count, zip_longest
from operator import length_hint
from typing import TYPE_CHECKING, TypeVar

from frontload.base.errors import folded, is_quiet, nearby, printable

if TYPE_CHECKING:
    from rich.table import Table

Item = TypeVar("Item")
Begin = Callable[..., Callable[[str], None]]  # of a step: what is done, and how many parts
_WIDTH = 120  # of tables, if stdout is no terminal
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


def table(*columns: str, numbers: Iterable[int] = (), cut: Collection[int] = ()) -> Table:
    """An empty table; the columns whose positions are in `numbers` are aligned to the right. Where
    a terminal has no room for it, those in `cut` are cut off, or else cells are broken."""
    try:
        from rich.table import Table

        result = Table(box=None, pad_edge=False, header_style="bold")
    except ImportError:
        result = _PlainTable()  # type: ignore[assignment]  # has what we use of it
    cuts = bool(cut) and sys.stdout.isatty()
    for position, column in enumerate(columns):
        result.add_column(column, justify="right" if position in numbers else "left",
                          overflow="ellipsis" if cuts else "fold",
                          no_wrap=cuts and position not in cut)
    return result


def add_row(to: Table, *cells: object, style: str | None = None) -> None:
    texts = [printable(str(cell)) for cell in cells]
    if isinstance(to, _PlainTable):
        return to.add_row(*texts)
    from rich.text import Text

    to.add_row(*map(Text, texts), style=style)


def is_narrow() -> bool:
    """Whether stdout is a terminal with less room than tables have elsewhere."""
    return sys.stdout.isatty() and os.get_terminal_size(sys.stdout.fileno()).columns < _WIDTH


def path(whole: str) -> str:
    """A path for a cell: on a narrow terminal its last part, which is not broken there."""
    return os.path.basename(whole) if is_narrow() else whole


def show(what: Table) -> None:
    """Prints a table on stdout; wider than a terminal's default if stdout is none."""
    if isinstance(what, _PlainTable):
        return print(what)
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH
    Console(width=width, highlight=False).print(what)


def say(line: str, style: str = "") -> None:
    """Prints a line of text or a command on stdout; on a terminal in a style of rich."""
    text = folded(line, sys.stdout)
    if style and sys.stdout.isatty():
        with suppress(ImportError):
            from rich.console import Console
            from rich.text import Text

            return Console(highlight=False).print(Text(text, style), soft_wrap=True)
    print(text)


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Goes through the parts of a step. `total`: their number, if `items` has no length."""
    with steps(transient=True) as begin:
        advance = begin(what, total or length_hint(items)) if begin else lambda doing: None
        for item in items:
            advance(what)
            yield item


@contextmanager
def steps(transient: bool = False) -> Iterator[Begin | None]:
    """Within `with`, a function that begins the next step of long work, of `total` parts. It
    returns a function to be called before each part. On stderr a step is a line with its time, and
    with parts also the time left. None with --quiet, without a terminal, and within other steps."""
    global _shows_steps
    if _shows_steps or is_quiet() or not sys.stderr.isatty():
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
            so_far = task.finished_time or task.elapsed or 0
            left = int(task.fields["expected"] - so_far)
            return Text(f"{timedelta(seconds=int(so_far))} {task.description}"
                        + (f", {timedelta(seconds=left)} left" if left > 0 else ""))

    # Once a second, which hardly disturbs what is measured.
    with Progress(Line(""), console=Console(stderr=True), transient=transient,
                  refresh_per_second=1, redirect_stdout=False) as shown:
        def end() -> None:
            for task in shown.tasks[-1:]:
                shown.update(task.id, total=task.completed, description=task.fields["what"],
                             expected=0)

        def begin(what: str, total: int | None = None) -> Callable[[str], None]:
            end()
            step = shown.add_task(nearby(what), total=total, what=nearby(what), expected=0)
            part = count()

            def advance(doing: str) -> None:
                done, so_far = next(part), shown.tasks[-1].elapsed or 0
                shown.update(step, completed=done, description=nearby(doing), refresh=True,
                             expected=so_far / done * total if done and total else 0)

            return advance

        _shows_steps = True
        try:
            yield begin
        finally:
            _shows_steps = False
            end()
