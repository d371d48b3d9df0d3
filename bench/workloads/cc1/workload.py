"""cc1, the 207 MB clang: its work is to compile a hello world to an object."""

from coldbench.verdicts import AtMost, Fewer, Near
from coldbench.workload import Workload

WORKLOAD = Workload(
    name="cc1",
    variants=("default", "order", "order+relr", "front"),
    arguments=(
        "-triple", "x86_64-pc-linux-gnu", "-emit-obj", "-mrelocation-model", "pic", "-pic-level",
        "2", "-pic-is-pie", "-resource-dir", "{llvm}/lib/clang/22", "-o", "{output}",
        "-x", "c", "{source}/hello.c"),
    requirements=(
        Near("default", "major_faults", 720, within=0.05),
        Near("default", "read_bytes", 73e6, within=0.05),
        AtMost("order", "major_faults", 150),
        AtMost("order+relr", "major_faults", 125),
        AtMost("order+relr", "read_bytes", 18.5e6),
        Fewer("front", "order+relr", "major_faults"),
        Fewer("front", "order+relr", "read_bytes"),
        Fewer("front", "order+relr", "read_runs"),
        AtMost("front", "major_faults", 100),
        AtMost("front", "read_bytes", 16e6),
        AtMost("front", "read_runs", 12),
    ),
    same_files=(
        ("without a profile, ld.frontload writes what ld.lld writes",
         "same.noprofile", "cc1.default"),
        ("the same traces in another order give the same file", "same.front", "cc1.front"),
    ),
)
