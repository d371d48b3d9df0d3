"""The choice of cells that the matrix tries: not each with each, but each pair of any two values
that can meet at all, in at least one cell. What goes wrong with two of them is found; a bug that
takes three is rare, and `scripts/test --all` tries all cells.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

from places import ALL

Cell = tuple[Hashable, ...]


def _pairs(cell: Cell) -> set[tuple]:
    """The pairs of values in a cell, each with the columns that they stand in."""
    return set(combinations(enumerate(cell), 2))


def chosen(cells: Iterable[Cell]) -> Sequence[Cell]:
    """A few of the cells that have every pair that is in any: one after the other the one that has
    the most pairs that no earlier one had, of several the first. They keep their order."""
    cells = list(cells)
    if ALL:
        return cells
    missing = set().union(*map(_pairs, cells))
    taken = []
    while missing:
        taken.append(max(cells, key=lambda cell: len(_pairs(cell) & missing)))
        missing -= _pairs(taken[-1])
    return [cell for cell in cells if cell in taken]
