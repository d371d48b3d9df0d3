"""Verbs start at once: which modules are loaded for them, and what happens if one is missing."""

import os
import subprocess
import sys
from pathlib import Path

import frontload
import pytest
from frontload.base import packages

LIBRARIES = {"numpy", "scipy", "rich", "elftools", "jinja2", "matplotlib"}
# Runs the command, and says at its end which modules there are; becoming another program is an end.
TELLING = """
import atexit, os, sys
atexit.register(lambda: print("modules:", *sys.modules, file=sys.stderr))
os.execve = lambda *args: sys.exit(0)
from frontload.cli.main import main
sys.exit(main())
"""


def loaded(*args: str, code: int = 0) -> set[str]:
    """The modules that a command loads."""
    result = subprocess.run([sys.executable, "-c", TELLING, *args], text=True, capture_output=True)
    assert result.returncode == code, result.stderr
    return set(result.stderr.rpartition("modules: ")[2].split())


def top(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["run", "--", "true"]],
                         ids=lambda args: args[0])
def test_the_command_itself_loads_no_library(tools, args):
    """--version, help and run use Python's own modules and a few of ours; no other verb."""
    modules = loaded(*args)
    assert not top(modules) & LIBRARIES
    own = {module.split(".")[2] for module in modules if module.startswith("frontload.verbs.")}
    assert "frontload.cli.parser" in modules and own <= {args[0]}


# Asks each verb for its help.
HELP = """
import contextlib, sys
from frontload.cli.main import VERBS, main
for verb in VERBS.keys() - {"order", "import"}:
    with contextlib.suppress(SystemExit):
        main(["help", verb])
print("modules:", *sys.modules)
"""


def test_help_of_a_verb_waits_for_no_library(run):
    """It is loaded for work; order and import ask their formats for options."""
    modules = set(run(sys.executable, "-c", HELP).stdout.rpartition("modules: ")[2].split())
    assert "frontload.verbs.measure" in modules
    assert not top(modules) & {"numpy", "scipy", "elftools"}


def test_info_loads_what_its_tables_need(tools):
    """info is called on machines where something does not work: it needs no numpy and no scipy."""
    modules = top(loaded("info"))
    assert "rich" in modules and not modules & {"numpy", "scipy", "elftools"}


def test_a_verb_loads_no_other_verb():
    """Nor does wrong use of it."""
    modules = loaded("check", code=2)
    assert {module for module in modules if module.startswith("frontload.verbs.")} == {
        "frontload.verbs.check"}


def test_a_missing_package_is_told_before_any_work(cli, monkeypatch, tmp_path):
    """It ends a verb that needs it, before the verb has done something; others work."""
    missing = packages.missing
    monkeypatch.setattr(packages, "missing", lambda modules=packages.ALL: [
        module for module in modules if module == "scipy"] or missing(modules))
    shown = cli("record", "-o", tmp_path / "traces", "--", "true", code=2)
    assert "has no Python package scipy\n" in shown.err and "apt-get install" in shown.err
    assert not (tmp_path / "traces").exists()
    assert "usage: frontload" in cli("--help").out


def test_builds_can_ask_whether_a_python_has_all(run, tmp_path):
    """python3 -m frontload.base.packages fails where a package is missing or broken."""
    command = [sys.executable, "-m", "frontload.base.packages"]
    run(*command)
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('No module named numpy')")
    path = os.pathsep.join([str(tmp_path), str(Path(frontload.__file__).parents[1])])
    result = run(*command, env={**os.environ, "PYTHONPATH": path}, code=None)
    assert result.returncode != 0 and result.stderr.endswith("No module named numpy\n")
