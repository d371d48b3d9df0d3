"""The Python part alone, as pip installs it."""

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from trees import BUILD, ROOT, checked, clean_environment


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel that `pip install .` makes, of a copy: setuptools writes beside the sources."""
    folder = tmp_path_factory.mktemp("source")
    copied = ["pyproject.toml", "README.md", "LICENSE", "scripts"]
    checked("cp", "-r", *(ROOT / name for name in copied), folder)
    for cache in folder.rglob("__pycache__"):
        checked("rm", "-r", cache)
    checked(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
            "--no-index", "--disable-pip-version-check", "-w", folder / "wheels", folder)
    return next((folder / "wheels").glob("*.whl"))


@pytest.fixture(scope="module")
def command(wheel, tmp_path_factory) -> Path:
    """The command in a virtual environment of its own, which sees this one's other packages."""
    folder = tmp_path_factory.mktemp("venv")
    checked(sys.executable, "-m", "venv", "--without-pip", folder)
    checked(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install",
            "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", wheel)
    packages = next(folder.glob("lib/python*/site-packages"))
    others = {importlib.util.find_spec(name).submodule_search_locations[0]
              for name in ("elftools", "numpy", "scipy", "rich", "pydantic")}
    (packages / "others.pth").write_text("\n".join({str(Path(path).parent) for path in others}))
    return folder / "bin" / "frontload"


def run(command, *arguments, **environment) -> subprocess.CompletedProcess:
    return subprocess.run([command, *arguments], text=True, capture_output=True, timeout=120,
                          check=False, env=clean_environment(**environment))


def test_a_wheel_has_all_of_the_package(wheel):
    """Every module and every file of a template is in it."""
    source = ROOT / "scripts" / "frontload"
    wanted = {f"frontload/{path.relative_to(source)}" for path in source.rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}
    found = zipfile.ZipFile(wheel).namelist()
    assert {name for name in found if ".dist-info/" not in name} == wanted


def test_versions_are_one(wheel, installed):
    """CMake, pip, the command and pkg-config say the same version."""
    said = re.search(r'__version__ = "(.*)"',
                     (ROOT / "scripts" / "frontload" / "__init__.py").read_text())[1]
    assert wheel.name.split("-")[1] == said
    assert checked(BUILD / "bin" / "frontload", "--version").split()[1] == said
    cache = (BUILD / "CMakeCache.txt").read_text()
    assert f"CMAKE_PROJECT_VERSION:STATIC={said}\n" in cache
    assert checked("pkg-config", "--modversion", "frontload", env=os.environ | {
        "PKG_CONFIG_PATH": str(installed() / "lib" / "pkgconfig")}).strip() == said


def test_the_command_finds_the_programs(command, worked, tmp_path):
    """It finds the native programs by FRONTLOAD_BINDIR, or else in PATH."""
    for environment in ({"FRONTLOAD_BINDIR": f"{BUILD}/bin"},
                        {"PATH": f"{BUILD}/bin:{os.environ['PATH']}"}):
        result = run(command, "record", "-o", tmp_path / "traces", "--", worked[1] / "app",
                     **environment)
        assert result.returncode == 0, result.stderr


def test_without_the_programs_it_says_what_to_do(command, tmp_path):
    """What pip cannot install is named, with the remedy."""
    result = run(command, "record", "-o", tmp_path / "traces", "--", "/bin/true",
                 PATH="/usr/bin:/bin")
    assert result.returncode == 2 and "frontload-trace: not found" in result.stderr
    for word in ("CMake", "Debian package", "PATH", "FRONTLOAD_BINDIR"):
        assert word in result.stderr
