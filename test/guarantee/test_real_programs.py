"""The guarantee for the programs that there are: one here, with `scripts/test --all` all those of
the tests and examples, and the workloads of the bench as far as they are built. Their starts are
recorded with data, and predicted."""

from pathlib import Path

import pytest
from abilities import need, needs
from in_process import frontload
from linking import LD_FRONTLOAD, LD_LLD
from places import BUILD, ROOT
from reading import excess, more_filling, predicted
from startable import SOURCES, WAYS, make

_PROGRAMS = [("shop", "static"), *(pytest.param(name, "pie", marks=pytest.mark.slow)
                                   for name in SOURCES)]
_WORKLOADS = sorted(path.name for path in (ROOT / "bench/workloads").iterdir() if path.is_dir())


def _problems(plain: Path, front: Path, traces: list[Path]) -> list[str]:
    before, after = predicted(plain, traces), predicted(front, traces, f"--recorded={plain}")
    filled = more_filling(plain, front)
    return [f"{front.name}, {trace.name}: {problem}"
            for trace, one, other in zip(traces, before, after, strict=True)
            for problem in excess(one, other, filled)]


@needs("valgrind")
@pytest.mark.parametrize(("name", "way"), _PROGRAMS)
def test_a_program_of_the_tests(name, way, tmp_path, monkeypatch):
    made = make(SOURCES[name], WAYS[way], tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    plain, front, traces = (tmp_path / each for each in ("plain", "front", "traces"))
    made.program.run(LD_LLD, plain, f"-Map={tmp_path / 'map'}")
    frontload("record", "--data", "-o", traces, "--", plain, *made.arguments)
    frontload("profile", traces, "--program", "plain", "--map", tmp_path / "map", "-o",
              tmp_path / "startup")
    ran = made.program.run(LD_FRONTLOAD, front, f"--startup-profile={tmp_path / 'startup'}",
                           "--min-match=0", "--front-prefetch")
    assert ran.returncode == 0, ran.stderr
    assert not _problems(plain, front, [*traces.iterdir()])


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["front", "front+prefetch"])
@pytest.mark.parametrize("name", _WORKLOADS)
def test_a_workload_of_the_bench(name, variant):
    files = [f"bench/{name}/{each}" for each in (f"{name}.default", f"{name}.{variant}",
                                                 "traces.data")]
    need(*(f"built:{file}" for file in files))
    plain, front, traces = (BUILD / file for file in files)
    assert not _problems(plain, front, [*traces.iterdir()])
