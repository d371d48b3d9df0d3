"""The verdict of frontload auto: one sentence, by counts, against the user's own linker."""

import json
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace

import auto_project
import pytest
from frontload.auto import verdict
from frontload.auto.outcome import Outcome
from frontload.auto.workload import Comparison
from frontload.base.errors import Failure
from frontload.measure import rounds
from frontload.measure.conditions import SELECTIVELY_COLD, WARM

QUICK = ("--no-data", "--recordings", "1", "--no-measure")


def _predicted(requests, seconds):
    return {"variants": [
        {"devices": {"hdd": {"requests": one, "seconds": two, "major_faults": one,
                             "read_bytes": 1000 * one}}}
        for one, two in zip(requests, seconds, strict=True)]}


class Counted(Outcome):
    """An outcome with these figures: predicted requests and seconds, memory in MB, warm ms."""

    def __init__(self, requests, seconds, memory=None, warm=(5, 5), training=None):
        self.before = SimpleNamespace(size=1_010_784)
        self.report = SimpleNamespace(settled=100, present=1, names=1, placed=1, left_out=0)
        self.comparisons = []
        self._memory, self._warm = memory, warm
        self.prediction = requests and _predicted(requests, seconds)
        self.suite = training and _predicted(training, [one / 150 for one in training])

    def measured(self, condition):
        if self._memory is None or condition != WARM:
            return None
        return tuple({"max_rss_bytes": {"median": 1e6 * memory},
                      "wall_ns": {"median": 1e6 * warm}}
                     for memory, warm in zip(self._memory, self._warm, strict=True))


PLAN = SimpleNamespace(device=None, min_coverage=95, min_match=80, output="app.front",
                       program="app")


@pytest.mark.parametrize(("counts", "good", "said"), [
    (((80, 5), (0.6, 0.02), (73, 19), (10, 30)), True,
     "worth it: cold start 0.61 → 0.03 s on a disk, peak memory 73 → 19 MB"),
    (((80, 5), (0.6, 0.02)), True, "worth it: the reads of a cold start 0.6 → 0.02 s on a disk"),
    (((80, 5), (0.6, 0.02), (2.38, 2.28)), True,
     "worth it: cold start 0.6 → 0.025 s on a disk"),
    (((4, 4), (0.03, 0.03), (5, 5)), False, "not worth it: 1.01 MB program, 4 requests either way"),
    (((4, 4), (0.03, 0.028)), False, "not worth it: 1.01 MB program, 4 requests either way"),
    (((4, 6), (0.03, 0.04), (5, 4)), False,
     "not worth it: 1.01 MB program, 4 requests without a front, 6 with one"),
    (((4, 4), (0.03, 0.03), (50, 40)), True,
     "worth it: cold start 0.035 → 0.035 s on a disk, peak memory 50 → 40 MB"),
    (((4, 6), (0.03, 0.04), (50, 40)), False,
     "not worth it: 1.01 MB program, 4 requests without a front, 6 with one"),
    (((9, 8), (0.067, 0.057), None, (), (7, 10)), False,
     "not worth it: 1.01 MB program, in training, 7 requests without a front, 10 with one"),
    (((4, 4), (0.03, 0.03), (50, 40), (5, 5), (7, 10)), False,
     "not worth it: 1.01 MB program, in training, 7 requests without a front, 10 with one"),
    (((80, 5), (0.6, 0.02), None, (), (7, 7)), True,
     "worth it: the reads of a cold start 0.6 → 0.02 s on a disk"),
    ((None, None), True, "unknown: nothing could be measured or predicted here"),
])
def test_the_sentence(counts, good, said):
    """Times of warm starts are noise: both programs get the shorter one. Less memory alone is
    enough, but never for more requests. What trained the front must not get slower by it."""
    outcome = Counted(*counts)
    assert outcome.good(PLAN) is good
    assert verdict.sentence(PLAN, outcome) == said


def test_a_program_that_does_something_else_is_not_usable():
    outcome = Counted((80, 5), (0.6, 0.02))
    outcome.comparisons = [Comparison("app", False, "exit status 1, not exit status 0")]
    assert verdict.sentence(PLAN, outcome) == "not usable: app: exit status 1, not exit status 0"


@pytest.mark.usefixtures("tools")
def test_a_stripped_program_is_compared_as_its_own_linker_made_it(auto, tmp_path):
    """Its prediction needs symbols: the build's own link, without -s, is the program before."""
    source = auto_project.write(tmp_path, "Makefile")
    found = []
    for strips in ("", "-s"):
        app = auto_project.with_make(source, "-B", f"LDFLAGS={strips}", "CFLAGS=-O1")
        found.append(auto(*QUICK, "--link", f"cc {strips} main.o parts.o -o app",
                          "--build-folder", source, "--", app, code=None))
    assert [each["before"]["stripped"] for each in found] == [False, True]
    plain, stripped = (each["predicted"]["before"]["hdd"] for each in found)
    for count in ("requests", "major_faults", "read_bytes"):
        assert plain[count] == stripped[count]
    assert sorted(path.name for path in source.glob("*app*")) == ["app", "app.front", "app.startup"]


@pytest.mark.usefixtures("tools")
def test_where_nothing_can_be_evicted_memory_is_still_measured(cli, monkeypatch, tmp_path):
    """A container may hide the page cache: reads are predicted then, and the output says so."""
    def refusing(plan, *args, **options):
        if SELECTIVELY_COLD in plan.conditions:
            raise Failure("app: its pages stay in the cache", note="run on a disk")
        return measure(plan, *args, **options)

    measure = rounds.measure
    monkeypatch.setattr(rounds, "measure", refusing)
    source = auto_project.write(tmp_path, "Makefile")
    app = auto_project.with_make(source, "CFLAGS=-O1 -ffunction-sections")
    text = cli("auto", "--no-data", "--recordings", "1", "--runs", "2", "--", app, code=None).out
    assert "warm: peak memory, MB" in text and "selectively cold" not in text
    assert ("missing: what a cold start reads here: app: its pages stay in the cache; run on a disk"
            in text)
    assert "predicted, hdd" in text and text.splitlines()[-1].partition("worth it: ")[2]
    found = json.loads(cli("auto", "--no-data", "--recordings", "1", "--runs", "2", "--json=-",
                           "--", app, code=None).out)
    assert list(found["measured"]) == [WARM] and found["verdict"]


@pytest.mark.usefixtures("tools")
def test_on_a_terminal_each_step_has_its_time(tmp_path):
    """The steps come before the verdict, which stays the last line."""
    app = auto_project.with_make(auto_project.write(tmp_path, "Makefile"),
                                 "CFLAGS=-O1 -ffunction-sections")
    command = shlex.join([sys.executable, "-m", "frontload", "auto", *QUICK, "--", str(app)])
    shown = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True,
                           text=True, check=True).stdout
    for step in ("linking ", "recording 1 run ", "predicting", "comparing"):
        assert re.search(r"0:\d\d:\d\d " + step, shown), step
    assert "note: recording" not in shown and "worth it: " in shown.splitlines()[-1]
