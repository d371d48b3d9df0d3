"""Verbs start at once: which modules are loaded for them, and what happens if one is missing."""

import os
import sys
from pathlib import Path

import frontload
import pytest
from frontload.base import packages

# Runs the command, and says at its end which modules there are; becoming another program is an end.
TELLING = """
import atexit, os, sys
atexit.register(lambda: print("modules:", *sys.modules, file=sys.stderr))
os.execve = lambda *args: sys.exit(0)
from frontload.cli.main import main
sys.exit(main())
"""


LIBRARIES = {"numpy", "scipy", "rich", "elftools", "jinja2", "matplotlib"}


@pytest.mark.parametrize(("args", "code"), [
    (["--version"], 0), (["--help"], 0), (["check"], 2),
    (["measure", "--help"], 0), (["profile", "--help"], 0), (["info"], 0)], ids=str)
def test_what_is_loaded(run, tools, args, code):
    """No library for what needs none, and for no verb another one. info is called on
    machines where something does not work; help of verbs needs what makes tables at most."""
    said = run(sys.executable, "-c", TELLING, *args, code=code).stderr
    modules = set(said.rpartition("modules: ")[2].split())
    spared = LIBRARIES - ({"rich"} if "--help" in args[1:] else set())
    assert not {module.partition(".")[0] for module in modules} & spared
    own = {module.split(".")[2] for module in modules if module.startswith("frontload.verbs.")}
    assert "frontload.cli.parser" in modules and own <= set(args)


def test_a_missing_package_is_told_before_any_work(cli, monkeypatch, tmp_path):
    """It ends a verb before the verb has done something."""
    monkeypatch.setattr(packages, "missing", lambda extra: ["elftools"])
    shown = cli("record", "-o", tmp_path / "traces", "--", "true", code=2)
    assert "has no Python package pyelftools\n" in shown.err
    assert " install pyelftools; or " in shown.err
    assert not (tmp_path / "traces").exists()
    assert "usage: frontload" in cli("--help").out


def test_builds_can_ask_whether_a_python_has_all(run, tmp_path):
    """python3 -m frontload.base.packages fails where a package is missing or broken."""
    command = [sys.executable, "-m", "frontload.base.packages"]
    run(*command)
    (tmp_path / "elftools.py").write_text("raise ModuleNotFoundError('No module named elftools')")
    path = os.pathsep.join([str(tmp_path), str(Path(frontload.__file__).parents[1])])
    result = run(*command, env={**os.environ, "PYTHONPATH": path}, code=None)
    assert result.returncode != 0 and result.stderr.endswith("No module named elftools\n")
