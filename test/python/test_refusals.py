"""What is refused says what to do: the note that goes with each error."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "scripts" / "frontload"
# Those of which nobody can say what would help, by the beginning of their message.
WITHOUT_REMEDY = ("{os.fspath(command[0])}: exited with status", "perf cannot read it")


def test_every_refusal_has_a_remedy():
    """No error is made without a note, except those that name a cause outside of Frontload."""
    calls = [(path.relative_to(PACKAGE), node) for path in sorted(PACKAGE.rglob("*.py"))
             for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    found = [(path, call) for path, call in calls if getattr(
        call.func, "id", getattr(call.func, "attr", "")) in ("Failure", "BadData")]
    assert len(found) > 100
    assert [f"{path}:{call.lineno}" for path, call in found
            if "note" not in [keyword.arg for keyword in call.keywords]
            and not any(known in ast.unparse(call) for known in WITHOUT_REMEDY)] == []


def test_a_program_that_cannot_be_run_comes_with_a_remedy(cli, tools, tmp_path):
    """What is not in PATH, or not executable, is said together with what to do."""
    (tmp_path / "text").write_text("no program")
    for command in (["measure", "--", tmp_path / "text"], ["faults", "--", "no-such-program-here"],
                    ["record", "--with", "runtime", "-o", tmp_path, "--", "no-such-program-here"]):
        assert "note: give its path, or put its folder in PATH" in cli(*command, code=None).err
