"""The rooms of scripts/frontload import in one direction: who may use whom is written down here.

A change that needs an import against the order belongs in another room, or what two rooms need
moves down into one that both may use. The imports are read from the sources, so that those inside
functions, which run late or never, count as well.
"""

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import frontload
import pytest

ROOT = Path(frontload.__file__).parent
# A room, or a module that stands apart from its room, may import what stands before it.
ORDER = ("__init__", "base", "elf", "profile", "blame", "pagecache", "device", "tracing", "machine",
         "order", "recording", "importers", "measure", "faults", "reading", "report", "auto", "cli",
         "verbs", "cli/main", "cli/manual/__main__", "__main__")


def modules() -> dict[str, Path]:
    """All modules by their path in the package: `base/files`, and `base` for base/__init__.py."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        found[name.removesuffix("/__init__")] = path
    return found


MODULES = modules()


def imported(source: str) -> Iterator[str]:
    """The modules of ours that a source imports, wherever in it."""
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
            package, *parts = name.split(".")
            if package == "frontload":
                yield next((known for known in ("/".join(parts), "/".join(parts[:-1]))
                            if known in MODULES), "__init__")


IMPORTS = {name: {used for used in imported(path.read_text()) if used != name}
           for name, path in MODULES.items()}


def place(module: str) -> int:
    """Where a module stands in the order: by its own entry, else by that of its room."""
    return ORDER.index(module if module in ORDER else module.partition("/")[0])


def against_the_order() -> set[tuple[str, str]]:
    return {(module, used) for module, all_used in IMPORTS.items() for used in all_used
            if place(used) > place(module)}


def test_every_module_has_a_place():
    """A new room is put into the order by whoever makes it."""
    assert not [name for name in MODULES
                if name not in ORDER and name.partition("/")[0] not in ORDER]


def test_imports_go_one_way():
    """A room imports only what stands before it."""
    assert against_the_order() == set()


def test_base_uses_nothing_of_ours():
    """It can be taken as it is."""
    assert not {(module, used) for module in MODULES if place(module) == ORDER.index("base")
                for used in IMPORTS[module] if place(used) != ORDER.index("base")}


def test_no_verb_imports_another():
    """What two verbs need has a room of its own."""
    assert not {(module, used) for module in MODULES if module.startswith("verbs/")
                for used in IMPORTS[module] if used.startswith("verbs/")}


def test_no_modules_import_each_other():
    """Nor in a circle, in a room or across rooms."""
    graphlib.TopologicalSorter(IMPORTS).prepare()


@pytest.mark.parametrize("source, found", [
    ("import frontload.base.files", "base/files"),
    ("from frontload.base import files", "base/files"),
    ("from frontload.base.files import open_input", "base/files"),
    ("from frontload.importers import IMPORTERS", "importers"),
    ("def late():\n    from frontload.base import files", "base/files"),
    ("from frontload import __version__", "__init__"),
])
def test_every_form_of_an_import_is_seen(source, found):
    """What this reads of a source is what Python would import."""
    assert set(imported(source)) == {found}
