"""examples/cmake does what its README says, in the words of its README."""

import re
import shutil
from pathlib import Path

import pytest
from abilities import needs
from places import BUILD, ROOT


@pytest.fixture
def example(tmp_path) -> Path:
    """A copy, of which what is not run at start takes less long to compile."""
    copy = shutil.copytree(ROOT / "examples/cmake", tmp_path / "example")
    text = (copy / "rest.cpp").read_text()
    (copy / "rest.cpp").write_text(text.replace("step<200>", "step<20>"))
    return copy


@needs("ptrace")
def test_example(example, run):
    """The commands work, the profile is written, and the program has all of it in its front."""
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", (example / "README.md").read_text(),
                                    re.DOTALL))
    assert "/path/to/frontload" in commands
    commands = commands.replace("/path/to/frontload", f'"{BUILD}"')
    said = run("sh", "-c", f'set -e\nPATH="{BUILD}/bin:$PATH"\n{commands}', cwd=example).stdout
    assert "100.00%" in said
    trained = (example / "greeter.startup").read_text()
    assert "_Z5greetPKc" in trained and "doRest" not in trained
    assert run(example / "build/greeter").stdout == "hello, world\n"


def test_without_frontload(example, tmp_path, run):
    """Who has no Frontload builds the same project."""
    run("cmake", "-S", example, "-B", tmp_path / "b", "-DCMAKE_DISABLE_FIND_PACKAGE_Frontload=ON")
    run("cmake", "--build", tmp_path / "b")
    assert run(tmp_path / "b/greeter").stdout == "hello, world\n"
