"""cc1, the 207 MB clang: its work is to compile a hello world to an object."""

from coldbench.variants.workload import Workload

NO_SOURCES = "Debian's static archives come without sources to compile"

WORKLOAD = Workload(
    name="cc1",
    title="clang 22 (C++): compiles a hello world to an object",
    variants=("default", "order", "order+relr", "front", "front+prefetch"),
    arguments=(
        "-triple", "x86_64-pc-linux-gnu", "-emit-obj", "-mrelocation-model", "pic", "-pic-level",
        "2", "-pic-is-pie", "-resource-dir", "{llvm}/lib/clang/22", "-o", "{output}",
        "-x", "c", "{source}/hello.c"),
    packages=("libclang-22-dev", "libxml2-dev", "libtinfo-dev", "libz3-dev"),
    peers=("bp-startup", "bolt", "preread", "willneed", "front+run"),
    absent={name: NO_SOURCES for name in ("temporal", "gcc-pgo", "gcc-pgo-lto", "gcc-pgo+front",
                                          "clang-pgo", "clang-pgo+front",
                                          "front+blocks+prefetch")},
    recorders={"bp-startup": ("breakpoints",)},  # a temporal profile that `frontload order` wrote
)
