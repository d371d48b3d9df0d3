"""cc1 at untrained work: how much of its gain does a front for other work keep?

The training is a hello world with data, and six scenarios; measured is C++ with <iostream> at -O2.
"""

from coldbench.variants.workload import Workload, load

CC1, CC1_SOURCE = load("cc1")

C = ("-triple", "x86_64-pc-linux-gnu", "-mrelocation-model", "pic", "-pic-level", "2",
     "-pic-is-pie", "-resource-dir", "{llvm}/lib/clang/22",
     "-internal-isystem", "{llvm}/lib/clang/22/include",
     "-internal-externc-isystem", "/usr/include/x86_64-linux-gnu",
     "-internal-externc-isystem", "/usr/include", "-fgnuc-version=4.2.1", "-o", "{output}")
CXX = ("-internal-isystem", "/usr/include/c++/12",
       "-internal-isystem", "/usr/include/x86_64-linux-gnu/c++/12",
       "-internal-isystem", "/usr/include/c++/12/backward", "-fdeprecated-macro",
       "-fcxx-exceptions", "-fexceptions", "-std=c++20", *C, "-x", "c++")
O2 = ("-O2", "-vectorize-loops", "-vectorize-slp", "-funwind-tables=2", "-mframe-pointer=none")

_SOURCES = {"calc": ("c", C, "{source}/calc.c"), "shapes": ("cxx", CXX, "{source}/shapes.cpp"),
            "containers": ("cxx", CXX, "{source}/containers.cpp"),
            "stream": ("cxx", CXX, "{source}/stream.cpp")}


def _scenarios() -> dict[str, tuple[str, ...]]:
    """Each source in four of six ways."""
    ways = {"O0": ("-emit-obj",), "O2": ("-emit-obj", *O2), "S": ("-S", "-Os"),
            "syntax": ("-fsyntax-only", "-Wall", "-Wextra"), "E": ("-E",),
            "llvm": ("-emit-llvm", "-O1", "-debug-info-kind=limited", "-dwarf-version=5")}
    return {f"{name}-{way}": (*options, *usual, *(("-x", "c") if language == "c" else ()), source)
            for number, (name, (language, usual, source)) in enumerate(_SOURCES.items())
            for index, (way, options) in enumerate(ways.items())
            if (number + index) % 3}


WORKLOAD = Workload(
    name="cc1-heldout",
    program="cc1",
    variants=("default", "trained", "itself"),
    arguments=("-emit-obj", *O2, *CXX, "{source}/stream.cpp"),
    training={
        "hello": tuple(word.replace("{source}", str(CC1_SOURCE)) for word in CC1.arguments),
        "c-O0": ("-emit-obj", *C, "-x", "c", "{source}/calc.c"),
        "c-O2": ("-emit-obj", *O2, *C, "-x", "c", "{source}/calc.c"),
        "cxx-O0": ("-emit-obj", *CXX, "{source}/shapes.cpp"),
        "cxx-O2": ("-emit-obj", *O2, *CXX, "{source}/shapes.cpp"),
        "cxx-syntax": ("-fsyntax-only", *CXX, "{source}/containers.cpp"),
        "cxx-E": ("-E", *CXX, "{source}/containers.cpp"),
    },
    scenarios=_scenarios(),
)
