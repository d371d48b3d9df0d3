"""The rooms of scripts/frontload and of bench/coldbench import in one direction: who may use whom
is written down here.

A change that needs an import against the order belongs in another room, or what two rooms need
moves down into one that both may use. The imports are read from the sources, so that those inside
functions, which run late or never, count as well.
"""

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

from places import ROOT

# A room, or a module that stands apart from its room, may import what stands before it.
ORDER = ("__init__", "base", "elf", "profile", "pagecache", "device", "tracing", "machine",
         "order", "recording", "importers", "measure", "faults", "reading", "image", "report",
         "auto", "cli", "verbs", "cli/main", "cli/manual", "__main__")
BENCH = ("variants", "measure", "judge", "show")  # what is above them uses all
# Called by a program in bench/ each; what they share is no program.
PROGRAMS = {"race", "table", "picture", "start", "heldout", "fit", "runtime_profile", "kernels",
            "distribution", "gains", "source_package"}


def imported(source: str, package: str, modules) -> Iterator[str]:
    """The modules of a package that a source imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports of ours name the whole path"
            # What is taken from a package is one of its modules, or a name that it defines.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, *parts = name.split(".")
            if first == package:
                yield next((known for known in ("/".join(parts), "/".join(parts[:-1]))
                            if known in modules), "__init__")


def imports(folder: Path) -> dict[str, set[str]]:
    """What each module imports of its package, by their paths in it: `base/files`, and `base` for
    base/__init__.py."""
    modules = {path.relative_to(folder).with_suffix("").as_posix().removesuffix("/__init__"): path
               for path in sorted(folder.rglob("*.py"))}
    return {name: set(imported(path.read_text(), folder.name, modules)) - {name}
            for name, path in modules.items()}


IMPORTS = imports(ROOT / "scripts/frontload")


def place(module: str) -> int:
    """Where a module stands in the order: by its own entry, else by that of its room. A new room is
    put into the order by whoever makes it."""
    return ORDER.index(module if module in ORDER else module.partition("/")[0])


def test_imports_go_one_way():
    """A room imports only what stands before it; base can be taken as it is."""
    assert not {(module, used) for module, all_used in IMPORTS.items() for used in all_used
                if place(used) > place(module)}
    assert not {(module, used) for module, all_used in IMPORTS.items() for used in all_used
                if place(module) == ORDER.index("base") > place(used)}


def test_no_verb_imports_another():
    """What two verbs need has a room of its own."""
    assert not {(module, used) for module in IMPORTS if module.startswith("verbs/")
                for used in IMPORTS[module] if used.startswith("verbs/")}


def test_only_verbs_print_diagnostics():
    """What is below them returns `Diagnostics`, or takes those of the verb."""
    assert not {str(path) for path in (ROOT / "scripts/frontload").rglob("*.py")
                if place(path.relative_to(ROOT / "scripts/frontload").with_suffix("").as_posix())
                < ORDER.index("cli") and re.search(r"\berrors\.(error|warning|note|quote)\(",
                                                   path.read_text())}


def test_no_modules_import_each_other():
    """Nor in a circle, in a room or across rooms."""
    graphlib.TopologicalSorter(IMPORTS).prepare()


def test_imports_of_the_bench_go_one_way():
    """No room of it uses what is above them, and nobody a program."""
    found = imports(ROOT / "bench/coldbench")
    assert {name.partition("/")[0] for name in found if "/" in name} == {*BENCH}
    for module, all_used in found.items():
        assert not all_used & PROGRAMS, module
        room, slash, _ = module.partition("/")
        if slash:
            below = BENCH[:BENCH.index(room) + 1]
            assert all(used.partition("/")[0] in below for used in all_used), module
