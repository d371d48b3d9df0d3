"""Text is UTF-8, whatever the locale: what Frontload reads and writes does not depend on it."""

import ast
import os
import sys
from pathlib import Path

import frontload
from faults_writer import PAGE, FaultsWriter, plain_file

ROOT = Path(frontload.__file__).parent
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def lacks_encoding(call: ast.Call) -> bool:
    """Whether a call opens text, or a program's output as text, in the locale's encoding."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if any(keyword.arg == "encoding" for keyword in call.keywords):
        return False
    if name in ("read_text", "write_text") and isinstance(call.func, ast.Attribute):
        return len(call.args) < (1 if name == "read_text" else 2)
    if name in ("open", "fdopen") and ast.unparse(call.func) != "os.open":
        modes = [each.value for each in call.args[1:2] if isinstance(each, ast.Constant)]
        return not any("b" in mode for mode in modes)
    return any(keyword.arg in ("text", "universal_newlines")
               and isinstance(keyword.value, ast.Constant) for keyword in call.keywords)


def test_no_text_is_in_the_encoding_of_the_locale():
    """Each place that reads or writes text says in which encoding."""
    found = [f"{path.relative_to(ROOT)}:{node.lineno}" for path in sorted(ROOT.rglob("*.py"))
             for node in ast.walk(ast.parse(path.read_text("utf-8")))
             if isinstance(node, ast.Call) and lacks_encoding(node)]
    assert found == []


def test_a_page_is_the_same_in_any_locale(cli, run, tmp_path):
    """The templates have characters that ASCII lacks; so has a name here."""
    start = FaultsWriter(plain_file("/lib/größe", flags="r-x"), command=("größe",)).phase("main")
    path = tmp_path / "f.json"
    path.write_bytes(start.fault(0, PAGE).to_bytes())
    page = run(sys.executable, "-m", "frontload", "report", path, "-o", "-", text=False,
               env=os.environ | ASCII).stdout
    assert page.decode() == cli("report", path, "-o", "-").out and "→".encode() in page
