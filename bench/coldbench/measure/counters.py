"""Counts of a warm run: by the processor where a machine lets us, or simulated.

processor  instructions, misses of the instruction TLB, and branches that were predicted wrongly, in
           user mode, by perf
simulated  the same but for the TLB by callgrind, which has a cache of instructions instead
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from frontload.base.errors import Failure

_EVENTS = {"instructions:u": "instructions", "iTLB-load-misses:u": "itlb_misses",
           "branch-misses:u": "branch_misses"}
_SIMULATED = {"Ir": "instructions", "I1mr": "i1_misses", "Bcm": "branch_misses",
              "Bim": "indirect_branch_misses"}


def parse_perf(text: str) -> dict[str, int]:
    """The counted events in the output of `perf stat -x,`."""
    found = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2] in _EVENTS and fields[0].isdecimal():
            found[_EVENTS[fields[2]]] = int(fields[0])
    return found


def parse_callgrind(text: str) -> dict[str, int]:
    """The sums over the program in a file of callgrind."""
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    sums = re.search(r"^(?:totals|summary): (.*)$", text, re.MULTILINE)
    if not events or not sums:
        raise Failure("callgrind: wrote no sums", note="run it alone to see why")
    counted = dict(zip(events[1].split(), map(int, sums[1].split()), strict=False))
    found = {ours: counted[theirs] for theirs, ours in _SIMULATED.items() if theirs in counted}
    if "branch_misses" in found:
        found["branch_misses"] += found.pop("indirect_branch_misses", 0)
    return found


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{command[0]}: exited with status {done.returncode}: "
                      f"{done.stderr.strip().splitlines()[-1:]}")
    return done.stderr


def count(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, dict[str, int]]:
    """The kind of counter, and the counts."""
    if perf := shutil.which("perf"):
        counted = parse_perf(_run([perf, "stat", "-x,", "-e", ",".join(_EVENTS), "--", *command],
                                  environment))
        if "instructions" in counted:
            return "processor", counted
    if (valgrind := shutil.which("valgrind")) is None:
        return "nothing", {}
    with tempfile.TemporaryDirectory(prefix="frontload-bench.") as folder:
        output = Path(folder) / "callgrind.out"
        _run([valgrind, "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes",
              f"--callgrind-out-file={output}", *command], environment)
        return "simulated", parse_callgrind(output.read_text())
