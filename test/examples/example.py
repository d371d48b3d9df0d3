"""A copy of an example, and commands in it: what users copy has to work as its README says."""

import os
import subprocess
from pathlib import Path

import abilities
from in_process import frontload
from places import BUILD

# What would make a build another one than a user's who follows the README.
_STRANGE = ("FRONTLOAD", "CARGO", "RUSTC", "RUSTFLAGS", "CGO", "GOFLAGS")
_FLAGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "MAKELEVEL",
          "DESTDIR")


class Project:
    """A folder, and commands in it, which find Frontload's programs in PATH."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(_STRANGE) and name not in _FLAGS}
        self.environment["PATH"] = f"{BUILD / 'bin'}:{os.environ['PATH']}"

    def run(self, *command, code: int = 0, **options) -> subprocess.CompletedProcess:
        """Runs a command in the project's folder; it has to end with this exit code."""
        options = {"cwd": self.folder, "env": self.environment, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "text": True, **options}
        if "input" not in options:
            options["stdin"] = subprocess.DEVNULL
        result = subprocess.run([os.fspath(word) for word in command], **options)
        assert result.returncode == code, (
            f"{command}: exit {result.returncode}, expected {code}\n"
            f"{result.stdout}{result.stderr}")
        return result

    def make(self, *arguments, **options) -> str:
        """What make did and said, without its words about folders."""
        result = self.run("make", "--no-print-directory", *arguments, **options)
        return result.stdout + (result.stderr or "")

    def has_front(self, program: Path | str, profile: Path | str, code: int = 0) -> None:
        """Has `frontload check` say that what the profile names lies in the program's front. In a
        small program without one much of it may lie together by chance."""
        frontload("check", self.folder / program, "--profile", self.folder / profile,
                  "--require-front", code=code)

    def asks_for_its_start(self, program: str, *arguments: str) -> None:
        """Has the linker of the build have linked a program that asks for what its note lists when
        it starts, and still does after strip."""
        abilities.need("program:strace")
        assert not self.is_linked_by_lld(program)
        stripped = self.folder / "stripped"
        self.run("strip", program, "-o", stripped)
        for each in (program, stripped):
            result = self.run("strace", "-f", "-e", "trace=readahead", each, *arguments,
                              env={**self.environment, "LD_LIBRARY_PATH": str(BUILD / "lib")})
            assert "readahead(" in result.stderr, result.stderr

    def is_linked_by_lld(self, program: Path | str) -> bool:
        return "LLD" in self.run("readelf", "-p", ".comment", program).stdout

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
