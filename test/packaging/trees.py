"""Helpers of the packaging tests: commands that must succeed, and what an installation has."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from places import BUILD, LLVM, ROOT  # noqa: F401 (for those who import from here)

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"


def checked(*command, **options) -> str:
    """The standard output of a command that must succeed."""
    result = subprocess.run([os.fspath(word) for word in command], text=True, timeout=300,
                            errors="backslashreplace",
                            check=False, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                                            **options})
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


MULTIARCH = checked("gcc", "-print-multiarch").strip()


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without what says where this build is; our Python has the packages."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("PYTHON", "FRONTLOAD", "PKG_CONFIG", "LD_"))}
    return clean | {"FRONTLOAD_PYTHON": sys.executable} | more


def first_steps(programs: Path, libraries: Path, work: Path) -> str:
    """Does all that a new user does first; `programs` and `libraries` are installed folders."""
    return checked("sh", HERE / "first-steps", programs, PROGRAMS, work,
                   env=clean_environment(PKG_CONFIG_PATH=f"{libraries}/pkgconfig",
                                         LIBRARIES=str(libraries)))


def required() -> list[str]:
    """The Python packages that the command needs, in the words of pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [re.match(r"[\w-]+", requirement)[0] for requirement in project["dependencies"]]


def files_of(folder: Path) -> set[str]:
    """All files and links below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if path.is_symlink() or not path.is_dir()}


def packed(folder: Path, *options: str) -> None:
    """Makes the Debian packages of a build folder, at a time that does not pass, and compressed so
    that it takes little."""
    checked("cpack", "--config", folder / "CPackConfig.cmake", "-D",
            "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", *options, cwd=folder,
            env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"})
