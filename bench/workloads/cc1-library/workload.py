"""cc1 as a shared library that a small program opens: only the library is cold."""

from coldbench.judge.verdicts import AtMost, Fewer
from coldbench.variants.workload import Workload, load

CC1, SOURCE = load("cc1")
OPEN = ("{work}/open_cc1",)

WORKLOAD = Workload(
    name="cc1-library",
    program="cc1",
    variants=("default", "front", "front+prefetch"),
    openers={"default": OPEN, "front": OPEN, "front+prefetch": (*OPEN, "--prefetch")},
    arguments=tuple(argument.replace("{source}", str(SOURCE)) for argument in CC1.arguments),
    requirements=(
        Fewer("front", "default", "major_faults"),
        Fewer("front", "default", "read_bytes"),
        # The opener and all other libraries are warm: these faults are the library's.
        AtMost("front+prefetch", "major_faults", 2),
    ),
)
