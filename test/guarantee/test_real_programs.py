"""The guarantee for the programs that there are: those of the tests and examples, and the workloads
of the bench as far as they are built. Their starts are recorded with data, and predicted."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from compiled import kept
from linking import LD_FRONTLOAD, LD_LLD
from places import BUILD, ROOT
from reading import excess, more_filling, predicted
from startable import MATRIX, SOURCES, WAYS, Startable, make, make_of_matrix

_WORKLOADS = sorted(path.name for path in (ROOT / "bench/workloads").iterdir() if path.is_dir())
_FRONTS = ("front", "front+prefetch")


@pytest.fixture(scope="module", autouse=True)
def valgrind() -> None:
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed, so data cannot be recorded")


def _recorded(made: Startable) -> Path:
    """A folder with the program without a front, the trace of a start, and its profile."""
    link, plain = made.program, made.folder / list(made.files)[-1]

    def make_it(folder: Path) -> None:
        frontload = BUILD / "bin" / "frontload"
        environment = {**os.environ, "LD_LIBRARY_PATH": os.fspath(made.folder)}
        program = folder / "program"
        assert link.run(LD_LLD, program, f"-Map={folder / 'map'}").returncode == 0
        for command in (
                (frontload, "record", "--data", "-o", "traces", "--", program, *made.arguments),
                (frontload, "profile", "traces", "--program", "program", "--map", "map", "-o",
                 "startup")):
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True,
                           timeout=300)

    return kept(make_it, "guarantee", plain, BUILD / "bin" / "frontload-valgrind",
                ROOT / "scripts" / "frontload", *made.arguments)


def _problems(plain: Path, front: Path, traces: list[Path]) -> list[str]:
    before, after = predicted(plain, traces), predicted(front, traces, f"--recorded={plain}")
    filled = more_filling(plain, front)
    return [f"{front.name}, {trace.name}: {problem}"
            for trace, one, other in zip(traces, before, after, strict=True)
            for problem in excess(one, other, filled)]


def _judge(name: str) -> list[str]:
    """What the start of a program of the tests reads more."""
    with tempfile.TemporaryDirectory(prefix="guarantee-") as folder:
        made = (make(SOURCES[name], WAYS["pie"], Path(folder)) if name in SOURCES
                else make_of_matrix(name, Path(folder)))
        recorded, front = _recorded(made), made.folder / "program.front"
        ran = made.program.run(LD_FRONTLOAD, front, f"--startup-profile={recorded / 'startup'}",
                               "--min-match=0", "--front-prefetch")
        assert ran.returncode == 0, ran.stderr
        return [f"{name}: {problem}" for problem in
                _problems(recorded / "program", front, [*(recorded / "traces").iterdir()])]


def test_programs_of_the_tests(check):
    """They are so small that pages that are half full are all of the difference."""
    check(_judge, SOURCES)


def test_large_programs_of_the_tests(check):
    check(_judge, [name for name in MATRIX if name.startswith("tabula")])


@pytest.mark.parametrize("variant", _FRONTS)
@pytest.mark.parametrize("name", _WORKLOADS)
def test_a_workload_of_the_bench(name, variant):
    folder = BUILD / "bench" / name
    plain, front, traces = (folder / each for each in (f"{name}.default", f"{name}.{variant}",
                                                       "traces.data"))
    for needed in (plain, front, traces):
        if not needed.exists():
            pytest.skip(f"{needed} is not built: bench/run {name}")
    assert not _problems(plain, front, [*traces.iterdir()])
