"""examples/cmake does what its README says, in the words of its README."""

import re
import shutil

from abilities import needs
from places import BUILD, ROOT

EXAMPLE = ROOT / "examples/cmake"


@needs("ptrace")
def test_example(tmp_path, run):
    """The commands work, the profile is written, and the program has all of it in its front."""
    example = shutil.copytree(EXAMPLE, tmp_path / "example")
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", (example / "README.md").read_text(),
                                    re.DOTALL))
    assert "/path/to/frontload" in commands
    commands = commands.replace("/path/to/frontload", f'"{BUILD}"')
    said = run("sh", "-c", f'set -e\nPATH="{BUILD}/bin:$PATH"\n{commands}', cwd=example).stdout
    assert "100.00%" in said
    trained = (example / "greeter.startup").read_text()
    assert "_Z5greetPKc" in trained and "doRest" not in trained
    assert run(example / "build/greeter").stdout == "hello, world\n"


def test_without_frontload(tmp_path, run):
    """Who has no Frontload builds the same project."""
    run("cmake", "-S", EXAMPLE, "-B", tmp_path, "-DCMAKE_DISABLE_FIND_PACKAGE_Frontload=ON")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "greeter").stdout == "hello, world\n"
