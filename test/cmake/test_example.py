"""examples/cmake does what its README says, in the words of its README."""

import re
import shutil
from pathlib import Path

from projects import BUILD

ROOT = Path(__file__).parents[2]


def test_example(tmp_path, run):
    """The commands work, the profile is written, and the program has all of it in its front."""
    example = tmp_path / "example"
    shutil.copytree(ROOT / "examples/cmake", example)
    text = (example / "README.md").read_text()
    assert len(text.splitlines()) <= 30
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    assert "/path/to/frontload" in commands
    commands = commands.replace("/path/to/frontload", str(BUILD))
    script = f"set -e\nPATH={BUILD}/bin:$PATH\n{commands}"
    said = run("sh", "-c", script, cwd=example, timeout=900).stdout
    assert "100.00%" in said
    assert "_Z5greetPKc" in (example / "greeter.startup").read_text()
    assert "doRest" not in (example / "greeter.startup").read_text()
    assert run(example / "build/greeter").stdout == "hello, world\n"


def test_without_frontload(tmp_path, run):
    """Who has no Frontload builds the same project."""
    run("cmake", "-S", ROOT / "examples/cmake", "-B", tmp_path / "build",
        "-DCMAKE_DISABLE_FIND_PACKAGE_Frontload=ON")
    run("cmake", "--build", tmp_path / "build", timeout=900)
    assert run(tmp_path / "build/greeter").stdout == "hello, world\n"
