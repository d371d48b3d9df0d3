"""The Python part alone, as pip installs it."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from abilities import needs
from compiled import kept
from places import BUILD, ROOT
from trees import checked, clean_environment, version

SOURCES = [ROOT / name for name in ("scripts", "pyproject.toml", "README.md", "LICENSE")]
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel that `pip install .` makes, which is also installed beside it."""
    def make(folder: Path) -> None:
        copy = folder / "source"  # setuptools writes beside the sources
        copy.mkdir()
        for path in SOURCES[1:]:
            shutil.copy(path, copy)
        shutil.copytree(SOURCES[0], copy / "scripts",
                        ignore=shutil.ignore_patterns("__pycache__"))
        checked(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder,
                copy)
        checked(*PIP, "install", "--no-deps", "--no-index", "--target", folder / "installed",
                *folder.glob("*.whl"))

    return next(kept(make, "wheel", sys.executable, *SOURCES, Path(__file__)).glob("*.whl"))


@pytest.fixture(scope="module")
def command(wheel):
    """command(code, *arguments, **environment): what the installed command says on stderr."""
    folder = wheel.parent / "installed"

    def command(code: int, *arguments, **environment) -> str:
        result = subprocess.run([folder / "bin/frontload", *arguments], text=True,
                                capture_output=True,
                                env=clean_environment(PYTHONPATH=str(folder), **environment))
        assert result.returncode == code, result.stderr
        return result.stderr

    return command


def test_a_wheel_has_all_of_the_package(wheel):
    """Every module and every file of a template is in it."""
    source = ROOT / "scripts" / "frontload"
    wanted = {f"frontload/{path.relative_to(source)}" for path in source.rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}
    found = zipfile.ZipFile(wheel).namelist()
    assert {name for name in found if ".dist-info/" not in name} == wanted


def test_versions_are_one(wheel, installed):
    """CMake, pip, the command and pkg-config say the same version."""
    assert wheel.name.split("-")[1] == version()
    assert checked(BUILD / "bin/frontload", "--version").split()[1] == version()
    cache = (BUILD / "CMakeCache.txt").read_text()
    assert f"CMAKE_PROJECT_VERSION:STATIC={version()}\n" in cache
    assert checked("pkg-config", "--modversion", "frontload", env=os.environ | {
        "PKG_CONFIG_PATH": str(installed.libraries / "pkgconfig")}).strip() == version()


@needs("ptrace")
@pytest.mark.parametrize("environment", [
    {"FRONTLOAD_BINDIR": f"{BUILD}/bin"}, {"PATH": f"{BUILD}/bin:{os.environ['PATH']}"}])
def test_the_command_finds_the_programs(command, worked, tmp_path, environment):
    """It finds the native programs by FRONTLOAD_BINDIR, or else in PATH."""
    command(0, "record", "-o", tmp_path, "--", worked / "app", **environment)


def test_without_the_programs_it_says_what_to_do(command, tmp_path):
    """What pip cannot install is named, with the remedy."""
    said = command(2, "record", "-o", tmp_path, "--", "/bin/true", PATH="/usr/bin:/bin")
    assert "frontload-trace: not found" in said
    for word in ("CMake", "Debian package", "PATH", "FRONTLOAD_BINDIR"):
        assert word in said
