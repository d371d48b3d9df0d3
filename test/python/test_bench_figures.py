"""The figures of the bench: what is put down of a variant's starts, and what of it is judged."""

from types import SimpleNamespace

import pytest
from coldbench.judge import figures
from coldbench.judge.figures import THROTTLED
from coldbench.measure.requests import Requests
from coldbench.measure.starts import Starts
from frontload.measure.conditions import SELECTIVELY_COLD, FileState
from frontload.measure.conditions import WARM as WARM_RUNS
from frontload.measure.measurement import Measurement, Run
from frontload.measure.plan import Plan, Variant
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.pagecache.residency import Residency
from measuring import sample


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
    return Measurement(plan, runs, {}, {})


def test_a_variant_has_its_figures_in_each_condition(tmp_path, tools):
    """A slow device's time is that of requests or of bytes, whichever takes longer."""
    starts = Starts(
        plain=measurement({"default": 4, "front": 1}, {SELECTIVELY_COLD: "0+2 5+1", WARM_RUNS: ""}),
        throttled=measurement({"default": 9, "front": 2}, {SELECTIVELY_COLD: "0+2 5+1"}),
        on_device=True,
        requests={"default": [Requests(300, 4000), Requests(302, 6000)],
                  "front": [Requests(1, 100 * 10**6)] * 2})
    (tmp_path / "app").write_bytes(bytes(10))
    work = SimpleNamespace(binary=lambda variant: tmp_path / "app")
    default, front = both = [figures.of_variant(work, starts, name)
                             for name in ("default", "front")]
    assert (default["size"], default["read_pages"]) == (10, "0+2 5+1")
    assert default["cold"]["read_bytes"]["median"] == 3 * PAGE_SIZE
    assert default["cold"]["read_runs"]["median"] == 2
    assert [default[condition]["wall_ns"]["median"] / 1e9 for condition in ("cold", "slow")] == \
        [4.25, 9.25]
    assert (default["requests"]["reads"], default["requests"]["bytes"]) == (301, 5000)
    assert default["slow_by_requests_ns"] / 1e9 == pytest.approx(301 / 150 + 4.25)
    assert front["slow_by_requests_ns"] / 1e9 == pytest.approx(100 / 80 + 1.25)

    judged = figures.to_judge(starts, both)
    medians = judged.medians["front"]
    assert (medians["major_faults"], medians["minor_faults"], medians["all_faults"]) == (5, 30, 35)
    assert medians["read_bytes"] == 3 * PAGE_SIZE
    assert judged.times["front", THROTTLED] == [2e9, 2.5e9]

    starts.on_device, starts.throttled, starts.requests = False, None, {}
    judged = figures.to_judge(starts, both)
    assert judged.medians == {"default": {}, "front": {}}
    assert judged.times == {}
