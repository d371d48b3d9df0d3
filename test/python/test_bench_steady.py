"""bench/steady: rounds and counts of interpreters, which need not be built for this."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from frontload.base.errors import Failure
from linking import Image, write_profile
from scipy import stats

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from coldbench import steady  # noqa: E402
from coldbench.measure import counters, typical  # noqa: E402
from coldbench.variants.layouts import link_layouts  # noqa: E402
from coldbench.variants.work_folder import WorkFolder  # noqa: E402
from coldbench.variants.workload import Workload  # noqa: E402


@pytest.fixture(autouse=True)
def short_runs_in_the_same_folder(monkeypatch):
    monkeypatch.setenv("FRONTLOAD_BINDIR", "")  # to be put back afterwards
    for name in steady.PROGRAMS:
        monkeypatch.setitem(steady.PROGRAMS, name, 1)


@pytest.fixture
def interpreters(tmp_path) -> str:
    """Two that are told apart by what they say of themselves in a log."""
    paths = []
    for name in ("plain", "front"):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\necho {name} >>"{tmp_path}/log"\nexec {sys.executable} "$@"\n')
        path.chmod(0o755)
        paths.append(str(path))
    return ",".join(paths)


def test_each_round_runs_both(tmp_path, build, interpreters, capsys):
    """The first round warms up; the order changes, so that neither is always the first."""
    result = tmp_path / "result.json"
    assert steady.main(["--build-dir", str(build), "--interpreters", interpreters, "--rounds", "4",
                        "--programs", "json_loads", "--no-counts", "--json", str(result)]) == 0
    assert "json_loads" in capsys.readouterr().out
    runs = (tmp_path / "log").read_text().split()
    rounds = [tuple(runs[i:i + 2]) for i in range(0, len(runs), 2)]
    assert len(rounds) == 5 and set(rounds) == {("plain", "front"), ("front", "plain")}
    document = json.loads(result.read_text())
    assert document["schema"] == "frontload-steady/3"
    (program,) = document["programs"]
    assert [len(times) for times in program["seconds"]] == [4, 4]
    assert len(program["time_ratios"]) == 1


def test_a_layout_has_the_least_of_its_rounds():
    """What disturbs a run makes it longer."""
    assert steady.of_layouts([1, 10, 5, 12, 3, 16], 2) == [1, 10]
    assert steady.of_layouts([1, 10, 5], 1) == [1, 10, 5]


NINJA = """\
rule link
  command = $llvm/bin/clang -pie -fPIE -ffunction-sections -fdata-sections -Wl,--gc-sections $
      $flags $source/main.c -o $out
build program.plain: link $source/main.c
  flags = -fuse-ld=lld
build program.front: link $source/main.c
  flags = --ld-path=$bin/ld.frontload -Wl,--startup-profile=$source/app.startup,--front-always
"""
PROGRAM = """\
int zeros[9];
int data = 1;
int *volatile relocated = &data;
int *const volatile relro = &data;
const volatile int constant = 2;
__attribute__((section(".own"))) volatile int own = 3;
int main(void) { return *relocated + *relro + constant + own + zeros[data]; }
"""
# What lies in each kind of section.
NAMES = ("main", "zeros", "data", "relocated", "relro", "constant", "own")


def addresses(binary: Path) -> list[int]:
    symbols = Image(binary).symbols
    return [symbols[name].address for name in NAMES]


@pytest.mark.parametrize("variant", ["plain", "front"])
def test_layouts_are_one_program_at_other_addresses(tmp_path, build, llvm, variant):
    """Everything has another place on its page in each, in a front, too. All run what `.init` has
    been padded with; the first is the link as it was, but for what is not left out of it."""
    (tmp_path / "variants.ninja").write_text(NINJA)
    (tmp_path / "main.c").write_text(PROGRAM)
    write_profile(tmp_path, "main")
    work = WorkFolder(Workload("program", (variant,), ()), tmp_path, tmp_path / "work",
                      build / "bin", llvm.parent)
    work.build(work.targets([variant]))
    links = link_layouts(work, variant, 4, tmp_path, lambda message: None, [".own"])
    assert {subprocess.run([link]).returncode for link in links} == {7}
    found = list(zip(*map(addresses, links), strict=True))
    assert {name: len({address % 4096 for address in each})
            for name, each in zip(NAMES, found, strict=True)} == dict.fromkeys(NAMES, 4)
    assert {(address - found[0][0]) % 16 for address in found[0]} == {0}


@pytest.mark.parametrize("name", steady.PROGRAMS)
def test_each_benchmark_runs(name, tmp_path):
    """With pyperf, and without anything else that this Python has; and says how long it took."""
    run = subprocess.run([sys.executable, *steady.arguments(name)], capture_output=True, text=True,
                         check=True, env={"PYTHONPATH": steady.library(tmp_path)})
    assert run.stdout.startswith(f"{name}: ")


def test_a_typical_ratio_does_not_heed_what_is_far_off():
    """It is what Wilcoxon's test does not reject, and hardly moves where a mean would."""
    random = np.random.default_rng(1)
    base = np.exp(random.normal(0, 0.01, 60))
    values = base * np.exp(random.normal(0.03, 0.005, 60))
    found = typical.ratio(values, base)
    assert found.low < found.estimate < found.high
    assert found.estimate == pytest.approx(np.exp(0.03), abs=0.002)
    logarithms = np.log(values / base)
    for bound, inside in ((found.low, 1), (found.high, -1)):
        p = [stats.wilcoxon(logarithms - np.log(bound) - step * inside, method="approx").pvalue
             for step in (-2e-4, 2e-4)]
        assert p[0] < 0.05 < p[1]
    values[:6] *= 2
    assert typical.ratio(values, base).estimate == pytest.approx(found.estimate, abs=0.002)


def test_what_perf_writes():
    """An event that a machine does not have is left out, and so is its ratio."""
    text = ("123456,,instructions:u,10,100.00,,\n<not supported>,,iTLB-load-misses:u,0,100,,\n"
            "789,,branch-misses:u,10,100.00,,\n")
    assert counters.parse_perf(text) == {"instructions": 123456, "branch_misses": 789}
    assert counters.parse_perf("<not supported>,,instructions:u,0,100.00,,\n") == {}


def test_what_callgrind_writes():
    text = "events: Ir Dr Dw I1mr D1mr Bc Bcm Bi Bim\nfn=x\nsummary: 900 5 5 7 1 90 8 9 3\n"
    assert counters.parse_callgrind(text) == {"instructions": 900, "i1_misses": 7,
                                              "branch_misses": 11}
    with pytest.raises(Failure, match="no sums"):
        counters.parse_callgrind("")


def test_counts_of_a_run():
    """By the processor or simulated, whichever there is."""
    by, counted = counters.count(["/bin/true"], {})
    if by == "nothing":
        pytest.skip("needs valgrind, or a perf that counts instructions")
    assert counted["instructions"] > 10_000 and "branch_misses" in counted


@pytest.mark.parametrize("program, said", [("/bin/false", "/false"),
                                           ("/bin/true", "measured nothing")])
def test_a_program_that_fails_is_an_error(build, tmp_path, capsys, program, said):
    assert steady.main(["--build-dir", str(build), "--interpreters", f"{program},{program}",
                        "--rounds", "2", "--json", str(tmp_path / "x")]) != 0
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_one_interpreter_is_not_enough(build, capsys):
    assert steady.main(["--build-dir", str(build), "--interpreters", "/bin/true"]) == 2
    assert "are not two" in capsys.readouterr().err
