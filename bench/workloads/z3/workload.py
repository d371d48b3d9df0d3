"""z3, a C++ program with 20 MB of text when linked: its work is to solve a small problem.

It is here for blocks: a large C++ program compiled from source, in 25 minutes on two processors.
Solvers for other kinds of problems lie between those that a start needs.
"""

from coldbench.variants.workload import Workload

_LONG = "takes 25 more minutes to compile, and cpython and git have this row"

_STARTS = ("schedule", "bits", "arrays", "strings", "reals", "quantifiers", "datatypes", "floats",
           "optimum", "core", "proof", "horn", "simplify", "tactics", "push", "sequences")


def _start(problem: str) -> tuple[str, ...]:
    return ("-smt2", f"{{source}}/starts/{problem}.smt2")


WORKLOAD = Workload(
    name="z3",
    title="z3 4.8 (C++): finds a schedule",
    variants=("default", "order", "order+relr", "front", "front+prefetch",
              "front+blocks", "front+blocks+prefetch"),
    peers=("bp-startup", "bolt", "preread", "willneed", "front+run"),
    absent={name: _LONG for name in ("temporal", "gcc-pgo", "gcc-pgo-lto", "gcc-pgo+front",
                                     "clang-pgo", "clang-pgo+front")},
    arguments=_start("schedule"),
    scenarios={name: _start(name) for name in _STARTS},
    environment={"LC_ALL": "C.UTF-8"},
    recorders={"bp-startup": ("breakpoints",)},  # a temporal profile that `frontload order` wrote
)
