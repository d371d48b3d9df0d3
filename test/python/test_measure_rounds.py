"""Which runs frontload measure makes, in which order and from which state of the cache. Neither is
real here: fakes write down what was asked of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from frontload.base.errors import Failure
from frontload.base.ready import Ready
from frontload.machine import host as measure_host
from frontload.measure import document, doubts
from frontload.measure import plan as plans
from frontload.measure import results as measure_report
from frontload.measure import rounds as measure
from frontload.measure.conditions import COLD, SELECTIVELY_COLD, WARM
from frontload.measure.plan import STDOUT, Plan, Variant
from frontload.pagecache.residency import Residency
from measuring import sample

PAGES = 8


class FakeCache:
    """Which pages of each file are resident; `stay`: how many of them cannot be dropped."""

    def __init__(self, log, *, stay=(), visible=True, root=True):
        self.log, self.stay, self.visible, self.root = log, dict(stay), visible, root
        self.pages = {}

    def may_look(self, file):
        return self.visible

    def residency(self, file):
        if not self.visible:
            raise Failure(f"{file}: its residency cannot be seen")
        return Residency(PAGES * 4096, self.pages.setdefault(file, np.ones(PAGES, bool)).copy())

    def settle(self, *files):
        pass

    def may_drop_everything(self):
        return self.root

    def drop_everything(self):
        self.log.append(("drop", "everything"))
        for file in self.pages:
            self._drop(file)

    def _drop(self, file):
        self.pages[file] = np.arange(PAGES) < self.stay.get(Path(file).name, 0)

    def try_to_drop(self, *files):
        for file in files:
            self.log.append(("drop", Path(file).name))
            self._drop(file)

    drop = try_to_drop

    def make_cold(self, *files):
        self.try_to_drop(*files)
        for file in files:
            if stay := np.count_nonzero(self.pages[file]):
                raise Failure(f"{file}: {stay} of {PAGES} pages stayed")

    def load(self, file):
        self.log.append(("load", Path(file).name))
        self.pages[file] = np.ones(PAGES, bool)

    make_warm = load


class FakeLauncher:
    """Reads pages 2 and 3, writes each of `texts` in turn, and ends with each of `samples`."""

    def __init__(self, samples=(), texts=()):
        self.samples, self.texts = iter(samples), iter(texts)

    def learn(self, command):
        assert not self.log  # before anything is evicted

    def run(self, command, stdout, at_ready=lambda: None, environment=()):
        self.log.append(("run", Path(command[0]).name))
        if self.cache.visible:
            self.cache.residency(command[0])
            self.cache.pages[command[0]][2:4] = True
        stdout.write(next(self.texts, "same").encode())
        at_ready()
        return next(self.samples, sample())


@pytest.fixture
def variants(tmp_path):
    """Two programs, a and b."""
    for name in "ab":
        (tmp_path / name).write_bytes(b"a program")
    return tuple(Variant(name, (str(tmp_path / name), "x"), (str(tmp_path / name),))
                 for name in "ab")


def measured(variants, *, cache=None, launcher=None, **plan):
    log = cache.log if cache else []
    cache = cache or FakeCache(log)
    launcher = launcher or FakeLauncher()
    launcher.log, launcher.cache = log, cache
    return measure.measure(Plan(variants, **plan), launcher, cache), log


def test_what_is_read_at_the_end_does_not_count(variants):
    """Of a program that does not end, what it has read when it is ready."""
    cache = FakeCache([])

    def ends():
        cache.pages[variants[0].files[0]][:] = True
        yield sample()

    measurement, _ = measured(variants[:1], conditions=(SELECTIVELY_COLD,), runs=1, warmup=0,
                              cache=cache, launcher=FakeLauncher(samples=ends()),
                              ready=Ready(listening="80"))
    (run,) = measurement.runs
    assert run.total(lambda residency: residency.resident_pages) == 2


def test_each_run_begins_in_its_condition(variants):
    """Evicted or loaded just before; after everything was dropped it is warmed up again."""
    run, drop, load = ("run", "a"), ("drop", "a"), ("load", "a")
    everything = ("drop", "everything")
    for conditions, expected in (
            ((SELECTIVELY_COLD,), [run, drop, run, drop, run]),
            ((WARM,), [run, load, run, load, run]),
            ((COLD, WARM), [run, *[everything, drop, run] * 2, run, *[load, run] * 2])):
        _, log = measured(variants[:1], conditions=conditions, runs=2, warmup=1)
        assert log == expected


def test_only_root_can_drop_everything(variants):
    """Without root a cold run is refused before anything is run, with what can be had instead."""
    cache = FakeCache([], root=False)
    with pytest.raises(Failure, match="cold: only root") as refusal:
        measured(variants, cache=cache, conditions=(COLD, WARM))
    assert "--selectively-cold" in refusal.value.note
    assert cache.log == []


@pytest.mark.parametrize("condition, evict_seen, dropped", [
    (COLD, False, True), (SELECTIVELY_COLD, True, True), (SELECTIVELY_COLD, False, False),
    (WARM, True, False)])
def test_seen_files_are_dropped_where_that_is_meant(variants, condition, evict_seen, dropped):
    """Files that a run was seen to read are evicted when cold, and by --evict-seen."""
    variant = replace(variants[0], seen=variants[1].files)
    _, log = measured((variant,), conditions=(condition,), evict_seen=evict_seen, runs=1, warmup=0)
    assert (("drop", "b") in log) == dropped


def test_seen_files_that_stay_are_told(variants):
    """A library that others hold does not spoil a cold run; the result says what stayed."""
    variant = replace(variants[0], seen=variants[1].files)
    result, _ = measured((variant,), cache=FakeCache([], stay={"b": 5}), conditions=(COLD,), runs=2)
    assert [run.label for run in result.runs] == [COLD, COLD]
    assert measure_report.stayed(result.runs) == [
        {"path": variants[1].files[0], "pages": 5, "of": PAGES, "runs": 2}]
    assert doubts.warnings(result) == []


def test_rounds_are_interleaved_and_balanced():
    """Every round has every variant once; each second round is the reverse of the one before."""
    rounds = list(plans.orders(4, 10, seed=1))
    assert all(sorted(order) == [0, 1, 2, 3] for order in rounds)
    assert all(rounds[i + 1] == rounds[i][::-1] for i in range(0, 10, 2))
    assert len({tuple(order) for order in rounds}) > 4
    assert rounds == list(plans.orders(4, 10, seed=1)) != list(plans.orders(4, 10, seed=2))


def test_each_run_is_kept(variants, monkeypatch):
    """But no warm-ups. Cold runs are charged with the pages they brought in, warm ones not."""
    monkeypatch.setattr(measure_host, "describe_frequency", lambda: None)
    result, log = measured(variants, runs=3, warmup=2, compare=(STDOUT,))
    assert sum(kind == "run" for kind, _ in log) == 2 * 2 + 2 * 2 * 3
    assert {(run.variant, run.condition, run.round) for run in result.runs} == {
        (variant, condition, number) for variant in "ab" for condition in (SELECTIVELY_COLD, WARM)
        for number in range(3)}
    cold, warm = result.of("a", SELECTIVELY_COLD)[0], result.of("a", WARM)[0]
    assert next(iter(cold.files.values())).read.runs() == [(2, 2)]
    assert warm.total(lambda read: read.resident_pages) == 0
    assert [missing.what for missing in result.missing] == ["the processors' frequency"]
    assert result.differing_outputs() == []


def test_pages_that_stay_are_refused_or_labelled(variants):
    """With --allow-warm a run is labelled, and not charged with the pages that stayed."""
    log = []
    with pytest.raises(Failure, match="1 of 8 pages stayed"):
        measured(variants[:1], cache=FakeCache(log, stay={"a": 1}), warmup=0)
    assert ("run", "a") not in log
    result, _ = measured(variants[:1], cache=FakeCache([], stay={"a": 3}), allow_warm=True, runs=2)
    cold = result.of("a", SELECTIVELY_COLD)
    assert [run.label for run in cold] == ["not cold", "not cold"]
    assert cold[0].total(lambda read: read.resident_pages) == 1
    assert any("is not cold: up to 3 pages stayed" in text for text in doubts.warnings(result))


def test_invisible_residency_is_refused_or_labelled(variants):
    """With --allow-warm, the figures that need residency are missing."""
    with pytest.raises(Failure, match="cannot be seen"):
        measured(variants[:1], cache=FakeCache([], visible=False))
    result, log = measured(variants[:1], cache=FakeCache([], visible=False), allow_warm=True,
                           runs=2)
    runs = result.of("a", SELECTIVELY_COLD)
    assert runs[0].label == "selectively cold, not verified"
    assert "read_bytes" not in measure_report.figures(runs)
    assert ("drop", "a") in log
    assert document.to_json(result)["results"][0]["runs"][0]["files"] == {
        variants[0].files[0]: None}


def test_a_failing_run_ends_the_measurement(variants):
    """Exit 1 with what it said; with --ignore-failure, the result counts the failures."""
    failing = FakeLauncher(samples=[sample(), sample(status=4, complaint="oh no")])
    with pytest.raises(Failure, match="exited with status 4: oh no") as failure:
        measured(variants[:1], launcher=failing)
    assert failure.value.code == 1
    assert "--ignore-failure" in failure.value.note
    failing = FakeLauncher(samples=[sample(), sample(status=None, signal=11)])
    result, _ = measured(variants[:1], launcher=failing, ignore_failure=True, runs=4)
    assert any("1 of 4 runs failed: a was ended by signal 11" in text
               for text in doubts.warnings(result))


def test_different_outputs_are_found(variants, tmp_path):
    """One odd run is enough. What an earlier run has left is not taken for output."""
    odd = FakeLauncher(texts=["same", "same", "same", "same", "odd"])
    result, _ = measured(variants, launcher=odd, compare=(STDOUT,), runs=2)
    assert result.differing_outputs() == [STDOUT]
    output = tmp_path / "out"
    output.write_bytes(b"stale")

    def texts():
        for is_there in (True, True, False):
            assert not output.exists()
            if is_there:
                output.write_bytes(b"new")
            yield "same"

    result, _ = measured(variants[:1], launcher=FakeLauncher(texts=texts()), runs=2, warmup=1,
                         compare=(str(output),), conditions=(SELECTIVELY_COLD,))
    assert [run.outputs[str(output)] == "missing" for run in result.runs] == [False, True]
    assert result.differing_outputs() == [str(output)]


def test_braces_stand_for_the_binary(tmp_path, monkeypatch):
    """{} stands for it in arguments and in --evict, unless a command is given as it is."""
    (tmp_path / "app").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = plans.make_variants(["env", "X={}", "{}"], [("one", "app")], ["{}", "lib.so"])
    assert found == (Variant("one", ("env", "X=app", "app"), (f"{tmp_path}/app", "lib.so")),)
    found = plans.make_variants(["/bin/sh", "-c", "{}"], [], [])
    assert found == (Variant("sh", ("/bin/sh", "-c", "{}"), ("/bin/sh",)),)
