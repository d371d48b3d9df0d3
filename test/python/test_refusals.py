"""What is refused says what to do: the note that goes with each error."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "scripts" / "frontload"
# Those of which nobody can say what would help, by the beginning of their message.
WITHOUT_REMEDY = ("{os.fspath(command[0])}: exited with status", "perf cannot read it")
REFUSALS = {"Failure", "BadData"}


def refusals() -> list[tuple[str, ast.Call]]:
    """Each place where the package makes an error, by file and line."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                function = node.func
                name = function.id if isinstance(function, ast.Name) else (
                    function.attr if isinstance(function, ast.Attribute) else "")
                if name in REFUSALS:
                    found.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", node))
    return found


def test_every_refusal_has_a_remedy():
    """No error is made without a note, except those that name a cause outside of Frontload."""
    found = refusals()
    assert len(found) > 100
    lacking = [f"{place}: {ast.unparse(call)}" for place, call in found
               if not any(keyword.arg == "note" for keyword in call.keywords)
               and not any(text in ast.unparse(call) for text in WITHOUT_REMEDY)]
    assert lacking == []


def test_a_full_disk_comes_with_a_remedy(cli, tmp_path):
    (tmp_path / "t.order").write_text("main\n")
    shown = cli("import", tmp_path / "t.order", "--program", "app", "-o", "/dev/full", code=2).err
    assert "No space left on device\nfrontload: note: make room there" in shown


def test_a_program_that_cannot_be_run_comes_with_a_remedy(cli, tools, tmp_path):
    """What is not in PATH, or not executable, is said together with what to do."""
    (tmp_path / "text").write_text("no program")
    for command in (["measure", "--", tmp_path / "text"], ["faults", "--", "no-such-program-here"],
                    ["record", "--with", "runtime", "-o", tmp_path, "--", "no-such-program-here"]):
        assert "note: give its path, or put its folder in PATH" in cli(*command, code=None).err
