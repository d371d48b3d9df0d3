"""The figures of the bench: what is put down of a variant's starts, and what of it is judged."""

from types import SimpleNamespace

import pytest
from coldbench.judge import figures, verdicts
from coldbench.judge.figures import THROTTLED, WARM, Figures, Start
from coldbench.measure import links
from coldbench.measure.requests import Requests
from coldbench.measure.starts import Starts
from frontload.base.errors import Failure
from frontload.measure.conditions import SELECTIVELY_COLD, FileState
from frontload.measure.conditions import WARM as WARM_RUNS
from frontload.measure.measurement import Measurement, Run
from frontload.measure.plan import Plan, Variant
from frontload.measure.statistics import Interval
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.pagecache.residency import Residency
from measuring import sample

DEFAULT, FRONT, BEST = (Start(name, THROTTLED) for name in ("default", "front", "best"))
FIGURES = Figures({"default": {"major_faults": 700, "read_bytes": 73e6},
                   "front": {"major_faults": 70, "read_bytes": 12e6}},
                  {DEFAULT: [10e9, 12e9, 14e9], FRONT: [2e9, 3e9, 4e9], BEST: [1e9, 2e9, 3e9]})


@pytest.mark.parametrize("requirement, holds", [
    # Limits include their bound, comparisons do not, the yardstick has a tolerance.
    (verdicts.AtMost("front", "major_faults", 70), True),
    (verdicts.AtMost("front", "major_faults", 69), False),
    (verdicts.Fewer("front", "default", "read_bytes"), True),
    (verdicts.Near("default", "major_faults", 800, within=0.05), False),
    (verdicts.TimesAsLong(FRONT, DEFAULT, at_most=0.1), False),
    (verdicts.ShareOfGain(FRONT, DEFAULT, BEST, at_least=0.91), False),
    # A variant, figure or condition that is missing neither holds a requirement nor fails it.
    (verdicts.Fewer("front", "order", "major_faults"), None),
    (verdicts.AtMost("front", "front_text_bytes", 1), None),
    (verdicts.ShareOfGain(FRONT, DEFAULT, Start("best", WARM), at_least=0), None)])
def test_verdicts_hold_or_fail(requirement, holds):
    assert requirement.judge(FIGURES).holds is holds


def test_a_verdict_says_the_figure_and_the_limit():
    """Two starts are compared by the geometric mean of their rounds' ratios."""
    verdict = verdicts.TimesAsLong(DEFAULT, FRONT, at_least=4).judge(FIGURES)
    assert verdict == verdicts.Verdict("time of default, cold, throttled: 4.121 times that of "
                                       "front, cold, throttled: at least 4.00", True)


@pytest.mark.parametrize("limit, estimate, low, high, holds, said", [
    ("at_most", 1.10, 1.05, 1.2, True, "at most 1.10"),
    ("at_most", 1.12, 1.101, 1.2, False, "1.101 to 1.200)"),
    ("at_most", 1.12, 1.10, 1.2, None, "too noisy to tell"),
    ("at_most", 1.12, None, None, None, "too few to tell"),
    ("at_least", 1.05, 1, 1.09, False, "1.090)"), ("at_least", 1.05, 1, 1.10, None, "to tell")])
def test_noise_alone_fails_no_ratio(limit, estimate, low, high, holds, said):
    """A ratio beyond its limit fails only if its whole interval is; else it is not judged."""
    ratio = Interval(estimate, low, high)
    verdict = verdicts.judge_ratio("link", "ld.lld's", ratio, **{limit: 1.1})
    assert verdict.holds is holds and verdict.text.endswith(said)


def test_links_are_compared_in_pairs(tmp_path):
    """The median of the pairs' ratios, without the first link; a failed link is an error."""
    taken = {links.LINKERS[0]: iter([(9, 9), (100, 10), (1000, 10), (10, 10), (1, 1)]),
             links.LINKERS[1]: iter([(99, 99), (110, 11), (1500, 11), (9, 11), (0, 1)])}
    made = []

    def run(command):
        made.append(links.LINKERS["ours-command" in command[2]])
        seconds, memory = next(taken[made[-1]])
        return sample(seconds, status=int(not seconds), max_rss_kib=memory,
                      complaint="bad")

    work = SimpleNamespace(
        folder=tmp_path, workload=SimpleNamespace(timed_links=("lld", "ours")),
        build_command=lambda target: f"{target}-command")
    arguments = lambda doing: None, SimpleNamespace(run=run)
    found = links.time_pairs(work, 3, *arguments)
    assert found.time_ratio.estimate == pytest.approx(1.1)
    assert found.time_ratio.low < 0.9 and found.time_ratio.high > 1.5
    assert found.memory_ratio.estimate == found.memory_ratio.low == pytest.approx(1.1)
    assert all(set(made[i:i + 2]) == set(links.LINKERS) for i in range(0, 8, 2))
    assert made[2:4] == made[4:6][::-1]
    with pytest.raises(Failure, match="the link exited with status 1: bad"):
        links.time_pairs(work, 1, *arguments)


def measurement(seconds: dict[str, float], condition_pages: dict[str, str]) -> Measurement:
    """Two rounds of each variant in each condition; the second takes half a second longer."""
    plan = Plan(tuple(Variant(name, (name,), (f"/device/{name}",)) for name in seconds),
                conditions=tuple(condition_pages), runs=2)
    runs = [Run(name, condition, number, 0,
                sample(took + number / 2, major_faults=5, minor_faults=30),
                {f"/device/{name}": FileState(*(Residency.from_text(8 * PAGE_SIZE, text)
                                                for text in ("", pages)))})
            for condition, pages in condition_pages.items() for number in range(2)
            for name, took in seconds.items()]
    return Measurement(plan, runs, {}, {}, {})


def test_a_variant_has_its_figures_in_each_condition(tmp_path, tools):
    """A slow device's time is that of requests or of bytes, whichever takes longer."""
    starts = Starts(
        plain=measurement({"default": 4, "front": 1}, {SELECTIVELY_COLD: "0+2 5+1", WARM_RUNS: ""}),
        throttled=measurement({"default": 9, "front": 2}, {SELECTIVELY_COLD: "0+2 5+1"}),
        on_device=True,
        requests={"default": [Requests(300, 4000), Requests(302, 6000)],
                  "front": [Requests(1, 100 * 10**6)] * 2})
    (tmp_path / "app").write_bytes(bytes(10))
    work = SimpleNamespace(
        binary=lambda variant: tmp_path / "app",
        front=lambda variant: {"bytes": 9, "text_bytes": 7} if variant == "front" else None)
    default, front = both = [figures.of_variant(work, starts, name)
                             for name in ("default", "front")]
    assert (default["size"], default["read_pages"]) == (10, "0+2 5+1")
    assert default["cold"]["read_bytes"]["median"] == 3 * PAGE_SIZE
    assert default["cold"]["read_runs"]["median"] == 2
    assert [default[condition]["wall_ns"]["median"] / 1e9 for condition in ("cold", "slow")] == \
        [4.25, 9.25]
    assert front["times_the_base"]["estimate"] == pytest.approx((1 / 4 * 1.5 / 4.5) ** 0.5)
    assert (default["requests"]["reads"], default["requests"]["bytes"]) == (301, 5000)
    assert default["slow_by_requests_ns"] / 1e9 == pytest.approx(301 / 150 + 4.25)
    assert front["slow_by_requests_ns"] / 1e9 == pytest.approx(100 / 80 + 1.25)

    judged = figures.to_judge(starts, both)
    medians = judged.medians["front"]
    assert (medians["major_faults"], medians["minor_faults"], medians["all_faults"]) == (5, 30, 35)
    assert medians["read_bytes"] == 3 * PAGE_SIZE and medians["front_text_bytes"] == 7
    assert judged.times[FRONT] == [2e9, 2.5e9]

    starts.on_device, starts.throttled, starts.requests = False, None, {}
    judged = figures.to_judge(starts, both)
    assert judged.medians == {"default": {}, "front": {"front_bytes": 9, "front_text_bytes": 7}}
    assert judged.times == {}
