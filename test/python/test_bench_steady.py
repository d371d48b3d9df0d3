"""bench/steady: rounds and counts of interpreters, which need not be built for this."""

from pathlib import Path

import numpy as np
import pytest
from bench_room import read_json
from coldbench import steady
from coldbench.measure import counters, typical
from frontload.base.errors import Failure
from places import BUILD

pytestmark = pytest.mark.usefixtures("tools")
# Stands for an interpreter: says its name in a log, and writes what a worker of pyperf does.
INTERPRETER = """#!/bin/sh
echo NAME >>LOG
while [ "$1" != -o ]; do shift; done
echo '{"benchmarks": [{"runs": [{"values": [2, 1]}]}]}' >"$2"
"""


def compare(folder: Path, interpreters: str, *arguments) -> tuple[int, Path]:
    """The exit status of a bench of these interpreters, and its result."""
    (folder / "bin").symlink_to(BUILD / "bin")
    return steady.main(["--build-dir", str(folder), "--interpreters", interpreters, "--json",
                        f"{folder}/result", *arguments]), folder / "result"


def test_each_round_runs_both(tmp_path, capsys):
    """The first round warms up; the order changes, so that neither is always the first."""
    for name in ("plain", "front"):
        text = INTERPRETER.replace("NAME", name).replace("LOG", f"'{tmp_path}/log'")
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    status, result = compare(tmp_path, f"{tmp_path}/plain,{tmp_path}/front", "--rounds", "4",
                             "--programs", "json_loads", "--no-counts")
    assert status == 0 and "json_loads" in capsys.readouterr().out
    runs = (tmp_path / "log").read_text().split()
    rounds = [tuple(runs[i:i + 2]) for i in range(0, len(runs), 2)]
    assert len(rounds) == 5 and set(rounds) == {("plain", "front"), ("front", "plain")}
    assert steady.of_layouts([1, 10, 5, 12, 3, 16], 2) == [1, 10]  # the least of its rounds
    (program,) = read_json(result, "frontload-steady/3")["programs"]
    assert program["seconds"] == [[1] * 4] * 2 and len(program["time_ratios"]) == 1


def test_a_typical_ratio_does_not_heed_what_is_far_off():
    """It hardly moves where a mean would."""
    random = np.random.default_rng(1)
    base = np.exp(random.normal(0, 0.01, 60))
    values = base * np.exp(random.normal(0.03, 0.005, 60))
    for _ in range(2):
        found = typical.ratio(values, base)
        assert found.low < found.estimate < found.high
        assert found.estimate == pytest.approx(np.exp(0.03), abs=0.003)
        values[:6] *= 2


def test_what_perf_and_callgrind_write():
    """An event that a machine does not have is left out, and so is its ratio."""
    text = ("123456,,instructions:u,10,100.00,,\n<not supported>,,iTLB-load-misses:u,0,100,,\n"
            "789,,branch-misses:u,10,100.00,,\n")
    assert counters.parse_perf(text) == {"instructions": 123456, "branch_misses": 789}
    text = "events: Ir Dr Dw I1mr D1mr Bc Bcm Bi Bim\nfn=x\nsummary: 900 5 5 7 1 90 8 9 3\n"
    assert counters.parse_callgrind(text) == {"instructions": 900, "i1_misses": 7,
                                              "branch_misses": 11}
    with pytest.raises(Failure, match="no sums"):
        counters.parse_callgrind("")


@pytest.mark.parametrize("interpreters, said", [
    ("/bin/false,/bin/false", "/false"), ("/bin/true,/bin/true", "measured nothing"),
    ("/bin/true", "are not two")])
def test_a_program_that_fails_is_an_error(tmp_path, capsys, interpreters, said):
    status, result = compare(tmp_path, interpreters, "--rounds", "2")
    assert (status, result.exists()) == (2, False)
    assert said in capsys.readouterr().err
