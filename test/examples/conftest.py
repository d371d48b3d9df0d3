"""The examples are run as their README says it, on a copy: what users copy has to work."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_EXAMPLES = Path(__file__).parents[2] / "examples"
# What would make a build another one than a user's who follows the README.
_STRANGE = ("FRONTLOAD", "CARGO", "RUSTC", "RUSTFLAGS", "CGO", "GOFLAGS")
_FLAGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "MAKELEVEL",
          "DESTDIR")


class Project:
    """A copy of an example, and commands in it, which find Frontload's programs in PATH."""

    def __init__(self, folder: Path, build: Path):
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(_STRANGE) and name not in _FLAGS}
        self.environment["PATH"] = f"{build / 'bin'}:{os.environ['PATH']}"

    def run(self, *command, code: int | None = 0, **options) -> subprocess.CompletedProcess:
        """Runs a command in the project's folder; it has to end with this exit code."""
        options = {"cwd": self.folder, "env": self.environment, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "text": True, "timeout": 600, **options}
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        result = subprocess.run([os.fspath(word) for word in command], **options)
        assert code is None or result.returncode == code, (
            f"{command}: exit {result.returncode}, expected {code}\n"
            f"{result.stdout}{result.stderr}")
        return result

    def has_front(self, program: Path | str, profile: Path | str, code: int = 0) -> None:
        """Has `frontload check` say that what the profile names lies in the program's front. In a
        small program without one much of it may lie together by chance."""
        self.run("frontload", "check", program, "--profile", profile, "--require-front", code=code)

    def change(self, profile: str) -> None:
        """Makes another profile of it, which names the same."""
        path = self.folder / profile
        text = path.read_text()
        runs = next(line for line in text.splitlines() if line.startswith("runs "))
        path.write_text(text.replace(runs, f"runs {int(runs.split()[1]) + 1}", 1))

    def identity(self, program: Path | str) -> tuple[int, int]:
        """Another one if the file was made anew; what is only touched stays the same."""
        status = (self.folder / program).stat()
        return status.st_dev, status.st_ino


@pytest.fixture(scope="session")
def project(tmp_path_factory, build):
    """project("meson"): a copy of examples/meson, each time another one."""

    def project(name: str) -> Project:
        folder = tmp_path_factory.mktemp(name) / name
        shutil.copytree(_EXAMPLES / name, folder)
        return Project(folder, build)

    return project


def needs(program: str, package: str) -> None:
    """Skips the test if a build tool is missing, and says which package has it."""
    if not shutil.which(program):
        pytest.skip(f"there is no {program} in PATH (Debian's package {package} has one)")
