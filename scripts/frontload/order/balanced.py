"""LLVM's balanced partitioning of what several runs touch, for comparison.

This is the algorithm behind lld's --bp-startup-sort=function: it groups names that the same runs
touch at about the same time, while first-touch order is one order for all runs. LLVM's own
`llvm-profdata order` does it. We pass numbers instead of names, so no name can be misread, and
namesakes stay apart.
"""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from frontload.base import tools
from frontload.base.errors import EXIT_DATA, Failure
from frontload.order import temporal_profile


def order(traces: Sequence[Sequence[int]]) -> list[int]:
    """The numbers in any of the traces, each once, in LLVM's order."""
    program = tools.llvm_tool("llvm-profdata")
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        path = Path(folder, "traces.proftext")
        with open(path, "wb") as stream:
            stream.writelines(temporal_profile.pieces([
                temporal_profile.Trace(1, [_name(number) for number in trace])
                for trace in traces]))
        result = subprocess.run([program, "order", path], capture_output=True)
    lines = [line for line in result.stdout.splitlines() if line and not line.startswith(b"#")]
    wanted = sorted({_name(number) for trace in traces for number in trace})
    if result.returncode or sorted(lines) != wanted:
        reason = result.stderr.decode("utf-8", "replace").partition("\n")[0]
        raise Failure(f"{program}: does not order traces: {reason or 'its output was unexpected'}",
                      code=EXIT_DATA, note="llvm-profdata of LLVM 17 and newer does")
    return [int(line[1:]) for line in lines]


def _name(number: int) -> bytes:
    return b"f%d" % number
