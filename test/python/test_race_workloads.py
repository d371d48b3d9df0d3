"""The workloads of the race, as far as nothing has to be built for it."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench.measure import recordings
from coldbench.variants import rows, workload
from coldbench.variants.work_folder import WorkFolder

WORKLOADS = ("cc1", "cpython", "git", "wasm-tools", "z3")


@pytest.fixture(params=WORKLOADS)
def work(request, tmp_path):
    """The work folder of each of them, with programs that are there but do nothing."""
    described, source = workload.load(request.param)
    for name in ("bin/frontload", "bin/frontload-trace", "bin/frontload-valgrind",
                 "bin/ld.frontload", "lib/libfrontload-prefetch.so", "llvm/bin/ld.lld"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return WorkFolder(described, source, tmp_path / "work", tmp_path / "bin", tmp_path / "llvm")


def test_every_row_can_be_built(work):
    """Each row is there or explained, and Ninja knows how to make it and what records it."""
    chosen = rows.of(work.workload)
    recorders = {name for row in chosen for name in rows.recorders(work.workload, row)}
    programs = [work.target(recordings.RECORDERS[name].program) for name in sorted(recorders)]
    targets = [*work.targets([row.name for row in chosen]), *programs, "traces.data"]
    ninja = subprocess.run(["ninja", "-C", work.folder, "-f", f"{work.workload.name}.ninja", "-n",
                            *targets], capture_output=True, text=True)
    assert ninja.returncode == 0, ninja.stdout + ninja.stderr
