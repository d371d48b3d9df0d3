"""The figures of the bench: what is put down of a variant's starts, and what of it is judged."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench.judge import figures
from coldbench.judge.figures import PLAIN, THROTTLED, WARM, Start
from coldbench.measure.requests import Requests
from coldbench.measure.starts import Starts
from frontload.measure.conditions import SELECTIVELY_COLD, FileState
from frontload.measure.conditions import WARM as WARM_RUNS
from frontload.measure.launcher import Sample
from frontload.measure.measurement import Measurement, Run
from frontload.measure.plan import Plan, Variant
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.pagecache.residency import Residency

SIZE = 8 * PAGE_SIZE


def run(variant, condition, number, seconds, pages) -> Run:
    sample = Sample(0, None, round(seconds * 1e9), 0, 0, 5, 30, 1024, 0, 0, 0, "")
    read = Residency.from_text(SIZE, pages)
    state = FileState(before=Residency.from_text(SIZE, ""), after=read)
    return Run(variant, condition, number, 0, sample, {f"/device/{variant}": state})


def measurement(seconds: dict[str, float], condition_pages: dict[str, str]) -> Measurement:
    """Two rounds of each variant in each condition; the second takes half a second longer."""
    plan = Plan(tuple(Variant(name, (name,), (f"/device/{name}",)) for name in seconds),
                conditions=tuple(condition_pages), runs=2)
    runs = [run(name, condition, number, took + number / 2, pages)
            for condition, pages in condition_pages.items() for number in range(2)
            for name, took in seconds.items()]
    places = {"/device/default": {"file_system": "ext4", "read_ahead_kib": 128}}
    return Measurement(plan, runs, {}, places, {})


@pytest.fixture
def starts(tools):
    """Two starts of a default and of a front, on a device of their own."""
    return Starts(
        plain=measurement({"default": 4, "front": 1}, {SELECTIVELY_COLD: "0+2 5+1", WARM_RUNS: ""}),
        throttled=measurement({"default": 9, "front": 2}, {SELECTIVELY_COLD: "0+2 5+1"}),
        on_device=True,
        requests={"default": [Requests(300, 4000), Requests(302, 6000)],
                  "front": [Requests(1, 100 * 10**6)] * 2})


@pytest.fixture
def work(tmp_path):
    """Binaries of which front has a linker's report."""
    (tmp_path / "app").write_bytes(bytes(10))
    return SimpleNamespace(
        binary=lambda variant: tmp_path / "app",
        front=lambda variant: {"bytes": 9, "text_bytes": 7} if variant == "front" else None)


def test_a_variant_has_its_figures_in_each_condition(work, starts):
    """Those of the slow device too, and what its first cold start has read."""
    found = figures.of_variant(work, starts, "default")
    assert (found["name"], found["size"], found["read_pages"]) == ("default", 10, "0+2 5+1")
    assert found["cold"]["read_bytes"]["median"] == 3 * PAGE_SIZE
    assert found["cold"]["read_runs"]["median"] == 2
    assert found["warm"]["read_bytes"]["median"] == 0
    assert [found[condition]["wall_ns"]["median"] / 1e9 for condition in ("cold", "slow")] == \
        [4.25, 9.25]
    assert "front" not in found
    starts.throttled = None
    assert figures.of_variant(work, starts, "default")["slow"] is None


def test_requests_are_medians_and_give_the_time_of_a_slow_device(work, starts):
    """Whichever takes longer, requests or bytes at its pace, and a warm start."""
    default, front = (figures.of_variant(work, starts, name) for name in ("default", "front"))
    assert (default["requests"]["reads"], default["requests"]["bytes"]) == (301, 5000)
    assert default["slow_by_requests_ns"] / 1e9 == pytest.approx(301 / 150 + 4.25)
    assert front["slow_by_requests_ns"] / 1e9 == pytest.approx(100 / 80 + 1.25)
    starts.requests = {}
    default = figures.of_variant(work, starts, "default")
    assert default["requests"] is default["slow_by_requests_ns"] is None


def test_times_are_compared_with_the_first_variant(work, starts):
    """Which has no ratio to itself."""
    assert figures.of_variant(work, starts, "default")["times_the_base"] is None
    ratio = figures.of_variant(work, starts, "front")["times_the_base"]
    assert ratio["estimate"] == pytest.approx((1 / 4 * 1.5 / 4.5) ** 0.5)


def test_what_is_judged_are_medians_and_times_by_round(work, starts):
    """Medians of the cold starts on the plain device, and times of all conditions."""
    variants = [figures.of_variant(work, starts, name) for name in ("default", "front")]
    judged = figures.to_judge(starts, variants)
    front = judged.medians["front"]
    assert (front["major_faults"], front["minor_faults"], front["all_faults"]) == (5, 30, 35)
    assert front["read_bytes"] == 3 * PAGE_SIZE
    assert front["front_text_bytes"] == 7
    assert "front_text_bytes" not in judged.medians["default"]
    assert {condition: judged.times[Start("front", condition)]
            for condition in (PLAIN, THROTTLED, WARM)} == \
        {PLAIN: [1e9, 1.5e9], THROTTLED: [2e9, 2.5e9], WARM: [1e9, 1.5e9]}


def test_elsewhere_only_the_linker_s_reports_are_judged(work, starts):
    """Readahead and layout of another file system are not what was required."""
    starts.on_device, starts.throttled = False, None
    variants = [figures.of_variant(work, starts, name) for name in ("default", "front")]
    judged = figures.to_judge(starts, variants)
    assert judged.medians == {"default": {}, "front": {"front_bytes": 9, "front_text_bytes": 7}}
    assert judged.times == {}
    assert figures.place(starts) == {"file_system": "ext4", "read_ahead_kib": 128,
                                     "own_device": False, "throttle": None}
