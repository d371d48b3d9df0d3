"""z3, a C++ program with 20 MB of text when linked: its work is to solve a small problem.

It is here for blocks: a large C++ program compiled from source, in 25 minutes on two processors.
"""

from coldbench.variants.workload import Workload

_LONG = "takes 25 more minutes to compile, and cpython and git have this row"

WORKLOAD = Workload(
    name="z3",
    title="z3 4.8 (C++): finds a schedule",
    variants=("default", "order", "order+relr", "front", "front+prefetch",
              "front+blocks", "front+blocks+prefetch"),
    peers=("bp-startup", "bolt", "preread", "willneed", "front+run"),
    absent={name: _LONG for name in ("temporal", "gcc-pgo", "gcc-pgo-lto", "gcc-pgo+front",
                                     "clang-pgo", "clang-pgo+front")},
    arguments=("-smt2", "{source}/schedule.smt2"),
    environment={"LC_ALL": "C.UTF-8"},
    recorders={"bp-startup": ("breakpoints",)},  # a temporal profile that `frontload order` wrote
)
