"""The guarantee for the programs that there are: those of the tests and examples, and the workloads
of the bench as far as they are built. Their starts are recorded with data, and predicted."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
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

    return kept(make_it, "guarantee", plain, BUILD / "bin" / "frontload-lackey",
                ROOT / "scripts" / "frontload", *made.arguments)


def _check(recorded: Path, made: Startable) -> None:
    plain, traces = recorded / "program", [*(recorded / "traces").iterdir()]
    front = made.folder / "program.front"
    options = [] if made.program.is_static else ["--front-prefetch"]
    ran = made.program.run(LD_FRONTLOAD, front, f"--startup-profile={recorded / 'startup'}",
                           "--min-match=0", *options)
    assert ran.returncode == 0, ran.stderr
    _compare(plain, front, traces)


def _compare(plain: Path, front: Path, traces: list[Path], *options: str) -> None:
    before = predicted(plain, traces)
    after = predicted(front, traces, f"--recorded={plain}", *options)
    problems = [f"{trace.name}: {problem}"
                for trace, one, other in zip(traces, before, after, strict=True)
                for problem in excess(one, other, more_filling(plain, front))]
    assert not problems, f"{front}: {problems}"


def _check_made(make_it: Callable[[Path], Startable]) -> None:
    with tempfile.TemporaryDirectory(prefix="guarantee-") as folder:
        made = make_it(Path(folder))
        _check(_recorded(made), made)


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_of_the_tests(name):
    _check_made(partial(make, SOURCES[name], WAYS["pie"]))


@pytest.mark.parametrize("name", [name for name in MATRIX if name.startswith("tabula")])
def test_a_large_program_of_the_tests(name):
    _check_made(partial(make_of_matrix, name))


@pytest.mark.parametrize("variant", _FRONTS)
@pytest.mark.parametrize("name", _WORKLOADS)
def test_a_workload_of_the_bench(name, variant):
    folder = BUILD / "bench" / name
    plain, front, traces = (folder / each for each in (f"{name}.default", f"{name}.{variant}",
                                                       "traces.data"))
    for needed in (plain, front, traces):
        if not needed.exists():
            pytest.skip(f"{needed} is not built: bench/run {name}")
    _compare(plain, front, [*traces.iterdir()])
