"""cc1, the 207 MB clang: its work is to compile a hello world to an object."""

from coldbench.judge.figures import PLAIN, THROTTLED, WARM, Start
from coldbench.judge.verdicts import AtMost, Fewer, Near, TimesAsLong
from coldbench.variants.workload import Workload

NO_SOURCES = "Debian's static archives come without sources to compile"

WORKLOAD = Workload(
    name="cc1",
    title="clang 22 (C++): `cc1` compiles a hello world to an object",
    variants=("default", "order", "order+relr", "front", "front+prefetch"),
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
        AtMost("front+prefetch", "major_faults", 1),
        AtMost("front+prefetch", "read_bytes", 10.6e6),
        AtMost("front+prefetch", "read_runs", 3),
        AtMost("front+prefetch", "max_rss_bytes", 20e6),
        AtMost("front+prefetch", "front_text_bytes", 5.3e6),
        # One table takes 0.75 MB of it, touched in three places far from each other: left out, it
        # would cost three faults. Leaving out the next largest instead, down to 1.48 MB, costs two
        # faults and two runs.
        AtMost("front+prefetch", "front_rodata_bytes", 1.65e6),
        TimesAsLong(Start("default", THROTTLED), Start("front+prefetch", THROTTLED), at_least=30),
        TimesAsLong(Start("order", THROTTLED), Start("front+prefetch", THROTTLED), at_least=8),
        TimesAsLong(Start("front+prefetch", PLAIN), Start("front+prefetch", WARM), at_most=1.6),
    ),
    timed_links=("timed.lld", "timed.frontload"),
    peers=("bp-startup", "bolt", "preread", "willneed", "front+run"),
    absent={name: NO_SOURCES for name in ("temporal", "gcc-pgo", "gcc-pgo-lto", "gcc-pgo+front",
                                          "clang-pgo", "clang-pgo+front",
                                          "front+blocks+prefetch")},
    recorders={"bp-startup": ("breakpoints",)},  # a temporal profile that `frontload order` wrote
)
