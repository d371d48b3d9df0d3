"""Kept runs are the same, and tell the same, whoever has merged what, by numbers or by names."""

from frontload.profile import kept_runs
from frontload.profile.kept_runs import ID_DIGITS, MOST, KeptNumbers, KeptRun, KeptRuns
from hypothesis import given
from hypothesis import strategies as st
from numpy import array, int64


def name(number: int) -> str:
    """Two numbers in ten are of one name."""
    return f"name {number % 9}"


NUMBERS = array(range(10), int64)
NAMES = list(map(name, range(10)))

# Some runs do the same, others have ids on both sides of what is kept.
one_run = st.tuples(st.integers(0, 3 * MOST), st.integers(1, 30)).flatmap(
    lambda run: st.just((KeptRun(*run, bool(run[0] % 2)), frozenset({run[0] % 7, run[0] % 10}))))
many_runs = st.lists(one_run, min_size=MOST - 3, max_size=3 * MOST)


def by_number(runs) -> KeptNumbers:
    made = KeptNumbers()
    for run, numbers in runs:
        made.add(run, array(sorted(numbers), int64))
    return made


def by_name(runs) -> KeptRuns[str]:
    made: KeptRuns[str] = KeptRuns()
    for run, numbers in runs:
        made.merge(KeptRuns([run._replace(weight=1)], dict.fromkeys(map(name, numbers), 1)),
                   run.weight)
    return made


@given(many_runs, st.randoms())
def test_any_partition_keeps_the_same(runs, random):
    """The smallest ids, with the weights of all runs that have them; in any order and grouping."""
    expected = by_name(runs)
    ids = sorted({run.id for run, _ in runs})[:MOST]
    weights = {each: sum(run.weight for run, _ in runs if run.id == each) for each in ids}
    assert [(run.id, run.weight) for run in expected.runs] == list(weights.items())
    for bit, kept in enumerate(expected.runs):
        touched = {number for run, numbers in runs if run.id == kept.id for number in numbers}
        assert {each for each, word in expected.touches.items() if word >> bit & 1} == \
            set(map(name, touched))
    random.shuffle(runs)
    cut = random.randint(0, len(runs))
    assert by_number(runs).named(NUMBERS, NAMES, dict.fromkeys(NAMES)) == expected
    parts = by_number(runs[:cut]), by_number(runs[cut:])
    parts[1].merge(parts[0])
    assert parts[1].named(NUMBERS, NAMES, dict.fromkeys(NAMES)) == expected
    merged = by_name(runs[cut:])
    merged.merge(by_name(runs[:cut]))
    assert merged == expected


def test_only_runs_with_data_can_have_touched_data():
    kept: KeptRuns[str] = KeptRuns([KeptRun(1, 5, True), KeptRun(2, 3, False), KeptRun(3, 1, True)])
    assert (kept.of(has_data=True), kept.of(has_data=False)) == (0b101, 0b111)
    assert (kept.weight(0b101), kept.weight(0)) == (6, 0)


def test_an_id_tells_runs_apart():
    """By what they did, in its order, and by whether they could have touched data."""
    ids = {kept_runs.identify(data, parts) for data in (False, True)
           for parts in ([], [b""], [b"a", b"b"], [b"b", b"a"], [b"ab"])}
    assert len(ids) == 10 and max(ids) < 16 ** ID_DIGITS
