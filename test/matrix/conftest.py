"""The fixtures of the matrix, and the table of its results: printed when the tests are over, and
written to the build folder: of test_cpp.py as matrix_cpp.txt and matrix_cpp.json, of the whole
folder as matrix.txt and matrix.json."""

import json
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
from cells import Matrix, table
from consumers import Tools
from rust import RustBuilds

_made = pytest.StashKey[Matrix]()


@pytest.fixture(scope="session")
def matrix(tmp_path_factory, pytestconfig, build, llvm) -> Matrix:
    made = Matrix(tmp_path_factory.mktemp("matrix"), Tools(build, llvm))
    pytestconfig.stash[_made] = made
    return made


@pytest.fixture(scope="session")
def rust_builds() -> RustBuilds:
    if not shutil.which("rustc"):
        pytest.skip("there is no rustc in PATH (Debian's package rustc has one)")
    probe = subprocess.run(["rustc", "--version"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"rustc does not run: {probe.stderr}")
    return RustBuilds()


def pytest_terminal_summary(terminalreporter, config) -> None:
    made = config.stash.get(_made, None)
    if not made or not made.results:
        return
    text = "".join(f"{line}\n" for line in table(made.results))
    terminalreporter.section("the matrix")
    terminalreporter.write(text)
    names = {Path(argument.partition("::")[0]).stem for argument in config.args}
    name = "_".join(["matrix", *sorted(n.removeprefix("test_") for n in names - {"matrix"})])
    (made.tools.build / f"{name}.txt").write_text(text)
    (made.tools.build / f"{name}.json").write_text(
        json.dumps([asdict(result) for result in made.results], indent=1) + "\n")
