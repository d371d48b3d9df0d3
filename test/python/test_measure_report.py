"""What frontload measure says about runs that were made up."""

import json
from dataclasses import replace

import numpy as np
import pytest
from frontload.base.missing import Missing
from frontload.machine import host as measure_host
from frontload.measure import document as measure_document
from frontload.measure import doubts
from frontload.measure import results as measure_report
from frontload.measure import table as measure_table
from frontload.measure.conditions import SELECTIVELY_COLD as COLD
from frontload.measure.conditions import WARM, FileState
from frontload.measure.measurement import Measurement, Run
from frontload.measure.on_device import OwnDevice
from frontload.measure.plan import Plan, Variant
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.pagecache.residency import Residency
from measuring import sample

PAGES = 100
SIZE = PAGES * PAGE_SIZE


def made_up(times, *, faults=None, read=10, variants=("base",), conditions=(COLD,)):
    """A measurement whose runs of variant i take times[i]."""
    runs = []
    for condition in conditions:
        for name, walls in zip(variants, times, strict=True):
            for number, wall in enumerate(walls):
                count = (faults or [50] * len(walls))[number]
                after = np.arange(PAGES) < read
                state = FileState(Residency(SIZE, np.zeros(PAGES, bool)), Residency(SIZE, after))
                runs.append(Run(name, condition, number, 0, sample(
                    wall, major_faults=count, max_rss_kib=2000), {"app": state}))
    plan = Plan(tuple(Variant(name, (name,), ("app",)) for name in variants),
                conditions=conditions, runs=len(times[0]))
    place = {"path": "app", "size": SIZE, "file_system": "ext4", "read_ahead_kib": 128,
             "device": {"name": "sda"}}
    return Measurement(plan, runs, {"app": place}, measure_host.describe_host())


def test_counts_are_medians_and_times_have_an_interval():
    """One run that differs moves the extremes, not the middle."""
    seen = measure_report.figures(made_up([[1, 2, 3]], faults=[50, 51, 90]).of("base", COLD))
    assert seen["major_faults"] == {"median": 51, "min": 50, "max": 90}
    assert seen["read_bytes"]["median"] == 10 * PAGE_SIZE
    assert seen["read_runs"]["median"] == 1
    assert seen["max_rss_bytes"]["median"] == 2000 * 1024
    assert seen["wall_ns"]["mean"] == 2e9
    assert seen["wall_ns"]["low"] < 2e9 < seen["wall_ns"]["high"]


def test_doubts_are_told():
    """Counts that do not repeat, a run far from the others, one run alone; else nothing."""
    for faults, warned in (([500, 500, 509, 500], False), ([100, 100, 105, 100], True),
                           ([3, 3, 5, 3], False)):
        found = doubts.warnings(made_up([[1, 1.1, 1, 1.1]], faults=faults))
        assert any("major faults vary by" in text for text in found) == warned
    measurement = made_up([[1, 1.01, 1.02, 1.01, 5]])
    assert any("run 5 took 5.000 s, far from the median of 1.010 s" in text
               for text in doubts.warnings(measurement))
    seen = measure_report.figures(measurement.of("base", COLD))
    assert seen["wall_ns"]["outliers"] == [4]
    assert seen["wall_ns"]["mean"] > 1.5e9
    assert any("--runs" in text for text in doubts.warnings(made_up([[1]])))
    assert doubts.warnings(made_up([[1, 1.02, 1.01, 1.03]])) == []


def test_json_has_every_run_and_the_comparison():
    """All of what was seen is there, and it is JSON (no NaN, no numpy)."""
    measurement = made_up([[1, 2, 1.5], [2, 4, 3]], variants=("base", "new"),
                          conditions=(COLD, WARM))
    document = json.loads(json.dumps(measure_document.to_json(measurement)))
    assert document["schema"] == "frontload-measure/2"
    assert [(result["variant"], result["condition"], len(result["runs"]))
            for result in document["results"]] == [
        ("base", COLD, 3), ("new", COLD, 3), ("base", WARM, 3), ("new", WARM, 3)]
    run = document["results"][0]["runs"][1]
    assert (run["round"], run["wall_ns"], run["label"]) == (1, 2_000_000_000, COLD)
    assert run["files"]["app"]["read_pages"] == "0+10"
    comparison = document["comparisons"][0]
    assert (comparison["base"], comparison["variant"]) == ("base", "new")
    assert comparison["estimate"] == pytest.approx(2)
    assert comparison["difference"]["estimate"] == pytest.approx(1.5e9)
    assert document["device"] is None and document["missing"] == []
    assert document["files"][0]["read_ahead_kib"] == 128


def test_the_table_shows_what_was_met(capsys):
    """Labels, figures and ratios, where it was measured, what is missing, and costs below."""
    measurement = replace(
        made_up([[1, 1.1], [2, 2.2]], variants=("base", "new\x1b[31m")),
        missing=[Missing("the figure", "no reason", "do something")],
        host={"kernel": "Linux 6", "processor": "P", "processors": 2, "frequency": {
            "source": "cpufreq", "mhz": [1000, 2000], "governors": ["powersave"]}},
        device=OwnDevice("hdd", 150, 80e6, 128, number="7:1", throttle="cgroup v2", copied=[]))
    measurement.runs[0].files["app"].before.pages[:2] = True
    measure_table.print_report(measurement)
    shown = capsys.readouterr().out
    for text in ("base (not cold)", "new\\x1b[31m", "2.000 (2.000 to 2.000)",
                 "ext4 on sda, readahead 128 KiB", "first tenth of a second",
                 "2 processors, 1000 to 2000 MHz, governor powersave",
                 "150 requests and 80 MB per second",
                 "missing: the figure: no reason; do something"):
        assert text in shown, text
    costs = "what being cold costs, selectively cold less warm"
    assert costs not in shown
    measurement = made_up([[2, 2.1, 2], [4, 4.1, 4]], variants=("base", "new"),
                          conditions=(COLD, WARM))
    measurement.places["app"]["device"]["name"] = None  # without /sys
    measure_table.print_report(measurement)
    shown = capsys.readouterr().out
    assert costs in shown and "more than" in shown and "ext4, readahead 128 KiB" in shown


@pytest.mark.parametrize("times, shown", [
    ([0.0012, 0.002], "ms interval 1.60 0.00 to 6.68"),
    ([1, 1.1], "s interval 1.050 0.415 to 1.685")])
def test_times_have_fixed_digits(capsys, times, shown):
    """Times line up, in milliseconds below a second, and none is negative."""
    measure_table.print_report(made_up([times]))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    heading, row = lines[2], lines[3]
    assert " ".join([*heading[-2:], *row[-4:]]) == shown


def test_the_figure_that_matters():
    """What being cold costs more than for the first variant: (4 - 3) - (2 - 1.9) s."""
    walls = {("base", COLD): 2, ("new", COLD): 4, ("base", WARM): 1.9, ("new", WARM): 3}
    both = made_up([[1] * 3, [1] * 3], variants=("base", "new"), conditions=(COLD, WARM))
    both = replace(both, runs=[
        replace(run, sample=replace(run.sample, wall_ns=walls[run.variant, run.condition] * 1e9))
        for run in both.runs])
    base, new = measure_document.to_json(both)["costs"]
    assert (base["condition"], base["variant"], base["excess"]) == (COLD, "base", None)
    assert base["estimate"] == pytest.approx(0.1e9)
    assert (new["excess"]["base"], new["excess"]["estimate"]) == ("base", pytest.approx(0.9e9))
