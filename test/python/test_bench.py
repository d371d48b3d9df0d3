"""The cold-start bench: a whole run with a small workload, and the cost of hooks."""

import os
import subprocess
import sys

import pytest
from abilities import needs
from bench_room import BENCH, read_json, write_files
from frontload.device import cold_device
from measuring import left_behind

pytestmark = pytest.mark.usefixtures("tools")

# Reads its 4 MB of constants, writes its output, and notes that it was run, and whether throttled.
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
__attribute__((section(".big"))) const char big[4 << 20] = {1};
int main(int argc, char **argv) {
  unsigned sum = argc;
  for (unsigned i = 0; i < sizeof big; i += 4096) sum += ((const volatile char *)big)[i];
  FILE *output = fopen(argv[1], "w"), *runs = fopen(argv[2], "a");
  fprintf(output, "%u\n", sum);
  char groups[4096] = "";
  FILE *group = fopen("/proc/self/cgroup", "r");
  fread(groups, 1, sizeof groups - 1, group);
  fputc(strstr(groups, "/frontload-throttle.") ? 't' : 'p', runs);
  return fclose(runs) || fclose(output);
}
"""
WORKLOAD = """
from coldbench.judge.verdicts import AtMost
from coldbench.variants.workload import Workload
WORKLOAD = Workload(
    name="small", variants=("default", "other"), arguments=("{output}", "{source}/runs"),
    requirements=(AtMost("default", "read_bytes", 8e6),))
"""
NINJA = """
rule link
  command = cc -O1 $in -o $out
build small.default: link $source/program.c
build small.other: link $source/program.c
"""


@needs("loop-devices", "throttle", "path-without-space")
def test_a_whole_run_on_a_device(build, tmp_path, spawn):
    """Plain, throttled and warm runs of both variants are measured, judged and kept."""
    (tmp_path / "tmp").mkdir()
    workload = write_files(tmp_path / "small", program_c=PROGRAM, workload_py=WORKLOAD,
                           variants_ninja=NINJA)
    process = spawn(BENCH / "run", workload, "--runs=1", "--no-links", "--build-dir", build,
                    "--work-dir", tmp_path / "work", env=os.environ | {
                        "TMPDIR": str(tmp_path / "tmp"), "FRONTLOAD_PYTHON": sys.executable})
    shown, said = process.communicate()
    assert process.returncode == 0, shown + said
    (measured,) = read_json(tmp_path / "work/small.result.json", "frontload-bench/2")["workloads"]
    assert measured["place"]["file_system"] == "ext4"
    assert measured["place"]["read_ahead_kib"] == cold_device.READ_AHEAD_KIB
    for variant in measured["variants"]:
        assert variant["size"] >= variant["cold"]["read_bytes"]["median"] > 4e6
        assert variant["slow"]["read_bytes"]["median"] > 4e6 and variant["read_pages"]
        assert variant["warm"]["read_bytes"]["median"] == 0
    assert [verdict["holds"] for verdict in measured["verdicts"]] == [True, True]
    assert "ok          default: 4." in shown
    assert measured["missing"] == []
    assert (tmp_path / "small/runs").read_text() == "pp" + "pp" + "pp" + "tt"
    assert left_behind(process.pid, tmp_path) == []


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
