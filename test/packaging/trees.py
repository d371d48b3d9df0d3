"""Helpers of the packaging tests: commands that must succeed, and what an installation has."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import tomllib
from places import ROOT

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
_NOT_OURS = ("PYTHON", "FRONTLOAD", "PKG_CONFIG", "LD_")


def checked(*command, **options) -> str:
    """The standard output of a command that must succeed."""
    result = subprocess.run([os.fspath(word) for word in command], capture_output=True, **options)
    assert result.returncode == 0, f"{command}: " + (result.stdout + result.stderr).decode(
        errors="backslashreplace")
    return os.fsdecode(result.stdout)


MULTIARCH = checked("gcc", "-print-multiarch").strip()
# The folders of libraries in which we install, and what CMake is told for that.
OPTIONS = {"lib": (), f"lib/{MULTIARCH}": ("-DCMAKE_INSTALL_PREFIX=/usr",)}


class Installation(NamedTuple):
    """A build folder, the prefix that was installed from it and moved, and what that has."""

    build: Path
    prefix: Path
    libdir: str
    manifest: set[str]

    @property
    def libraries(self) -> Path:
        return self.prefix / self.libdir


def small_installation(prefix: Path, other: str, contents: str) -> None:
    """An installation of few files to pack: the command, the prefetch library with its link, and
    another file, all with these contents."""
    for name in ("bin/frontload", "lib/libfrontload-prefetch.so.1", other):
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).write_text(contents)
    (prefix / "bin/frontload").chmod(0o755)
    (prefix / "lib/libfrontload-prefetch.so").symlink_to("libfrontload-prefetch.so.1")


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without what says where this build is; our Python has the packages."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(_NOT_OURS) or name == "PYTHONPYCACHEPREFIX"}
    return clean | {"FRONTLOAD_PYTHON": sys.executable} | more


def project() -> dict:
    """What pyproject.toml says of the Python package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def required(*extras: str) -> dict[str, str]:
    """The Python packages that the command needs, in the words of pip, and how new they must be;
    also those of extras."""
    said = project()["project"]
    lists = [said["dependencies"], *(said["optional-dependencies"][extra] for extra in extras)]
    return dict(re.split(">=", requirement) for each in lists for requirement in each)


def version() -> str:
    text = (ROOT / "scripts/frontload/__init__.py").read_text()
    return re.search(r'__version__ = "(.*)"', text)[1]


def files_of(folder: Path) -> set[str]:
    """All files and links below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if path.is_symlink() or not path.is_dir()}
