"""What a call of the runtime's hook costs."""

import os
import subprocess

import pytest
from abilities import needs
from bench_room import BENCH

pytestmark = pytest.mark.usefixtures("tools")

@needs("strace")
def test_a_first_touch_makes_one_system_call(build, tmp_path):
    """The runtime's hook asks for the thread's id; chunks of the trace add few calls."""
    program = tmp_path / "million"
    subprocess.run(["cc", "-O2", "-finstrument-functions", BENCH / "hooked/million.c",
                    build / "lib/libfrontload-rt.a", "-o", program], check=True)

    def calls(functions: int) -> int:
        subprocess.run(["strace", "-f", "-o", tmp_path / "calls", program, str(functions)],
                       env=os.environ | {"FRONTLOAD_TRACE": str(tmp_path / f"{functions}")},
                       stdout=subprocess.DEVNULL, check=True)
        return len((tmp_path / "calls").read_text().splitlines())

    assert 1 <= (calls(20_000) - calls(10_000)) / 10_000 < 1.01
