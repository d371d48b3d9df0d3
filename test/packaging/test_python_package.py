"""The Python part alone, and the wheel with the native programs, as pip installs them."""

import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import elftools
import platform_wheel as making
import pytest
from abilities import needs
from compiled import kept
from places import BUILD, ROOT
from trees import HERE, PROGRAMS, checked, clean_environment, project, version

SOURCES = [ROOT / name for name in ("scripts", "pyproject.toml", "README.md", "LICENSE",
                                    "packaging/platform_wheel.py")]
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel that `pip install .` makes, which is also installed beside it."""
    def make(folder: Path) -> None:
        checked(*PIP, "install", "--no-deps", "--no-index", "--target", folder / "installed",
                making.pure_wheel(folder))

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
    """CMake, pip, the command, the recipe for images and pkg-config say the same version."""
    assert f"ARG VERSION={version()}\n" in (ROOT / "packaging/Dockerfile").read_text()
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


@pytest.fixture(scope="module")
def native(installation) -> Path:
    """A folder with a wheel that has the native programs, the same once more in again/, and a
    virtual environment in which it is installed, beside pyelftools."""
    installed = installation("lib")

    def make(folder: Path) -> None:
        for to in (folder, folder / "again"):
            checked(sys.executable, making.__file__, installed.prefix, platform.machine(), to,
                    env=clean_environment(SOURCE_DATE_EPOCH="1700000000"))
        checked(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
        checked(*PIP, "--python", folder / "venv/bin/python", "install", "--no-deps", "--no-index",
                *folder.glob("*.whl"))
        packages = next((folder / "venv").glob("lib/python*/site-packages"))
        (packages / "elftools").symlink_to(Path(elftools.__file__).parent)

    return kept(make, "native-wheel", installed.prefix, *SOURCES, Path(__file__))


def test_the_native_wheel_is_for_any_linux_and_reproducible(native):
    """Its name and its tags promise no libc and no Python of one version."""
    one, again = (next(folder.glob("*.whl")) for folder in (native, native / "again"))
    assert one.read_bytes() == again.read_bytes()
    machine = platform.machine()
    tags = f"py3-none-manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    assert one.name == f"frontload-{version()}-{tags}.whl"
    said = zipfile.ZipFile(one).read(f"frontload-{version()}.dist-info/WHEEL").decode()
    assert [line.split("-")[-1] for line in said.splitlines() if line.startswith("Tag: ")] == \
        tags.removeprefix("py3-none-").split(".")


def test_pip_installs_a_working_command(native, installation):
    """It has all that an installation has, and finds the programs without PATH."""
    venv, installed = native / "venv", installation("lib")
    brought = {name for name in installed.manifest if (installed.prefix / name).is_file()
               and not f"{name}/".startswith(making.LEFT_OUT)}
    assert brought and not [name for name in brought if not (venv / name).is_file()]
    environment = clean_environment(PATH="/usr/bin:/bin")
    said = checked(venv / "bin/frontload", "--version", env=environment)
    assert said.startswith(f"frontload {version()} (LLVM ")
    # gcc finds the linker by a script in place of a link.
    said = checked("gcc", f"-B{venv}/lib/frontload/gcc", "-fuse-ld=lld", "-Wl,--version",
                   env=environment)
    assert "LLD" in said


@needs("ptrace")
def test_the_installed_command_records_and_checks(native, tmp_path):
    """From nothing to a checked front, with pyelftools alone."""
    venv = native / "venv"
    checked("sh", HERE / "portable-steps", venv / "bin", PROGRAMS, tmp_path / "work",
            env=clean_environment(PATH="/usr/bin:/bin"))


def test_few_packages_come_along():
    """pip brings one other package; what is large comes with extras."""
    assert [name.partition(">=")[0] for name in project()["project"]["dependencies"]] == \
        ["pyelftools"]
