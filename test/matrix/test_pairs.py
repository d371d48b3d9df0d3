"""What the matrix leaves out: cells, but no pair."""

from itertools import product

import pytest
import test_cpp
import test_judging
import test_rust
from pairs import chosen, pairs

ALL = {"C++": test_cpp.CELLS, "Rust": test_rust.CELLS, "judged": test_judging.PLAIN_CELLS}


def all_pairs(cells) -> set[tuple]:
    return set().union(*map(pairs, cells))


@pytest.mark.parametrize("cells", ALL.values(), ids=ALL)
def test_every_pair_that_exists_is_tried(cells):
    """And fewer cells than there are."""
    few = chosen(cells, whole=False)
    assert all_pairs(few) == all_pairs(cells)
    assert len(few) <= 0.7 * len(cells)


def test_a_pair_is_of_columns_as_well_as_of_values():
    """The same values in other columns are another pair."""
    cells = list(product("ab", "ab", "ab"))
    few = chosen(cells, whole=False)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert {(cell[first], cell[second]) for cell in few} == set(product("ab", "ab"))


def test_the_whole_matrix_can_be_asked_for():
    assert chosen(test_cpp.CELLS, whole=True) == test_cpp.CELLS


def test_the_choice_is_always_the_same():
    """Whatever order Python's sets have today: it depends on the order of the cells alone."""
    assert chosen(test_cpp.CELLS, whole=False) == chosen(list(test_cpp.CELLS), whole=False)
