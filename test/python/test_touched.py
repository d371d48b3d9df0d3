"""Sums of numbers are what merging profiles by name gives, whoever has summed up which runs."""

from frontload.profile import touched as sums
from frontload.profile.startup_profile import (
    LONGEST_STRETCH,
    Name,
    Profile,
    Stretch,
    Touched,
    from_run,
)
from frontload.profile.touched import Sum, TouchedNumbers
from hypothesis import given
from hypothesis import strategies as st
from numpy import array, int64


def name(number: int) -> Name:
    """Two numbers in ten are of one name, as aliases that different processes saw first."""
    return Name("data", "rodata", b"%d" % (number % 9))


def names(numbers) -> list[Name]:
    return [name(number) for number in numbers]


@st.composite
def amounts(draw) -> Touched:
    size = draw(st.integers(1, 40))
    if draw(st.booleans()):
        return Touched(size, draw(st.integers(1, 3)))
    first = draw(st.integers(0, 2 * LONGEST_STRETCH))
    return Touched(size, 1, Stretch(first, first + draw(st.integers(size, LONGEST_STRETCH)) - 1))


@st.composite
def one_run(draw) -> tuple[dict[int, Touched], int]:
    """What a run touched by number, of one name only one, and its weight."""
    numbers = draw(st.lists(st.integers(0, 9), unique_by=lambda number: number % 9, max_size=9))
    touched = {number: draw(amounts() | st.just(Touched())) for number in numbers}
    return touched, draw(st.integers(1, 30))


def numbered(touched: dict[int, Touched]) -> TouchedNumbers:
    rows = []
    for number, (size, windows, stretch) in touched.items():
        if size:
            first, last = stretch or (0, 0)
            rows.append((number, size, windows, -first, last, not stretch))
    return TouchedNumbers(array(list(touched), int64), array(rows, int64).reshape(-1, 6))


def by_name(runs) -> Profile:
    merged = Profile(b"app", 0)
    for touched, weight in runs:
        run = {name(number): amount for number, amount in touched.items()}
        merged.add(from_run(b"app", run, True), weight)
    return merged


def summed(runs) -> Sum:
    made = Sum()
    for touched, weight in runs:
        made.add(numbered(touched), weight)
    return made


@given(st.lists(one_run(), max_size=12), st.randoms())
def test_any_partition_gives_what_merging_by_name_gives(runs, random):
    """In any order, by any grouping, and with parts that are summed up already."""
    expected = by_name(runs).touches
    made = summed(runs)
    assert made.touches(names(made.numbers())) == expected
    random.shuffle(runs)
    parts = [summed([run]) for run in runs]
    while len(parts) > 1:
        taken = parts.pop(random.randrange(len(parts)))
        if random.random() < 0.5:
            taken.settle()
        parts[random.randrange(len(parts))].merge(taken)
    made = parts[0] if parts else Sum()
    assert made.touches(names(made.numbers())) == expected


@given(st.lists(one_run(), max_size=3))
def test_processes_of_a_run_count_once(processes):
    """The first of them that touched a name decides when, and the most bytes of it count."""
    expected: dict[int, Touched] = {}
    for touched, _ in processes:
        for number, amount in touched.items():
            expected[number] = expected.get(number, Touched()).merged(amount)
    together = sums.together([numbered(touched) for touched, _ in processes] or [numbered({})])
    assert together.numbers.tolist() == list(expected)
    assert sums.touched_of(together.amounts) == {
        number: amount for number, amount in expected.items() if amount.size}


def test_tables_grow_with_their_numbers():
    """Names that were not seen before, in runs that are longer than those before."""
    made = Sum()
    for end in (3, 70_000, 10):
        made.add(TouchedNumbers(array(range(end, 0, -1), int64)))
    touches = made.touches([Name("function", "text", b"%d" % n) for n in made.numbers()])
    assert len(touches) == 70_000
    assert touches[Name("function", "text", b"1")].spread == ((2, 1, 2), (4, 1, 9), (17, 1, 69_999))
