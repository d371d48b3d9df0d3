"""CPython 3.11, modules built in: its work is to import what many programs import first.

Only the program is cold: its compiled library is on the file system that the bench runs from.
"""

from coldbench.variants.workload import RECORDED_BLOCKS, Workload

MODULES = "json, asyncio, argparse, re, decimal"
# The output shows that the modules were imported, and from where.
TELL = 'open("{output}", "w").write(repr((' + MODULES + ")))"

_MODULES = ("json", "asyncio", "argparse", "re", "decimal", "unittest", "http.client", "ast", "csv",
            "logging", "tarfile", "email.message", "statistics", "difflib", "xml.dom.minidom",
            "random")

WORKLOAD = Workload(
    name="cpython",
    title=f"CPython 3.11 (C): `python -S -c 'import {MODULES}'`",
    variants=("default", "order", "order+relr", "front", "front+prefetch",
              "front+blocks", "front+blocks+prefetch",
              "clang-pgo", "clang-pgo+front", "clang-pgo+front+again",
              "gcc-pgo", "gcc-pgo+front", "gcc-pgo+front+again"),
    peers=("temporal", "bp-startup", "gcc-pgo-lto", "bolt", "preread", "willneed", "front+run"),
    recordings={name: RECORDED_BLOCKS for name in ("front+blocks", "front+blocks+prefetch")},
    arguments=("-S", "-c", f"import {MODULES}; {TELL}"),
    scenarios={module: ("-S", "-c", f"import {module}") for module in _MODULES},
    # All runs are alike: nothing is compiled later, and no user settings count.
    environment={"PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"},
)
