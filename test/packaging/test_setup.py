"""scripts/setup: what it would install, and which cargo, rustc and go it believes in."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from trees import ROOT

# What scripts/setup itself runs, of a PATH that has nothing else.
_TOOLS = ("sh", "dirname", "env", "mktemp", "rm", "cat", "mkdir", "ln")
_RUNS = {
    "rustc": "case $1 in --version) echo rustc 1.80.0 ;; *) cat ;; esac",
    "cargo": "echo cargo 1.80.0",
    "go": "case $1 in version) echo go version go1.22 ;; env) echo ROOT ;; esac",
}
# As rustup's programs answer where there is no toolchain.
_BROKEN = "echo 'error: no default is configured' >&2; exit 1"


@pytest.fixture
def folder(tmp_path):
    """folder(name, **scripts): a folder of programs that are these shell scripts."""

    def folder(name: str, **scripts: str) -> Path:
        made = tmp_path / name
        made.mkdir()
        for program, script in scripts.items():
            path = made / program
            path.write_text(f"#!/bin/sh\n{script}\n".replace("ROOT", str(tmp_path / "goroot")))
            path.chmod(0o755)
        return made

    (tmp_path / "goroot" / "src").mkdir(parents=True)
    return folder


@pytest.fixture
def set_up(folder, tmp_path):
    """set_up(root, arguments, folders, installed): what scripts/setup of a checkout says with this
    PATH, in which dpkg-query says that all packages are installed, or none is."""

    def set_up(root: Path, arguments: list[str], folders: tuple[Path, ...], installed: bool) -> str:
        if not (tools := tmp_path / "tools").exists():
            folder("tools", **{"dpkg-query": "printf 'install ok installed'" if installed
                               else "exit 1"})
            for tool in _TOOLS:
                (tools / tool).symlink_to(shutil.which(tool))
        return subprocess.run(
            [root / "scripts" / "setup", *arguments], capture_output=True, text=True,
            env={"PATH": ":".join(map(str, (*folders, tools)))}, timeout=60, check=True).stdout

    return set_up


@pytest.fixture
def printed(set_up):
    """printed(what, *folders, installed=False): what would be done, as ({packages to install},
    {program: path})."""

    def printed(what: str, *folders: Path, installed: bool = False):
        said = set_up(ROOT, ["--print", what], folders, installed)
        lines = [line.partition(": ")[::2] for line in said.splitlines()]
        return ({value for name, value in lines if name == "package"},
                {name: value for name, value in lines if name != "package"})

    return printed


def test_what_runs_is_taken(printed, folder):
    """A cargo, rustc and go that run are used, and Debian's are not installed."""
    mine = folder("mine", **_RUNS)
    packages, programs = printed("test", mine)
    assert programs == {name: f"{mine}/{name}" for name in _RUNS}
    assert "cmake" in packages and not packages & {"rustc", "cargo", "golang-go"}


@pytest.mark.parametrize("broken", _RUNS)
def test_what_does_not_run_is_not_believed_in(printed, folder, broken):
    """Debian's is installed, and used, where the one in PATH cannot run."""
    mine = folder("mine", **(_RUNS | {broken: _BROKEN}))
    packages, programs = printed("test", mine)
    debian = {"go": "golang-go"}.get(broken, broken)
    assert packages & {"rustc", "cargo", "golang-go"} == {debian}
    assert programs == {name: f"{mine}/{name}" for name in _RUNS} | {broken: f"/usr/bin/{broken}"}


def test_another_one_that_runs_is_taken(printed, folder):
    """A working program later in PATH is found behind one that does not run."""
    first, second = folder("first", **dict.fromkeys(_RUNS, _BROKEN)), folder("second", **_RUNS)
    packages, programs = printed("test", first, second)
    assert programs == {name: f"{second}/{name}" for name in _RUNS}
    assert not packages & {"rustc", "cargo", "golang-go"}


@pytest.mark.parametrize("program, script", [
    ("rustc", "case $1 in --version) echo rustc 1.80.0 ;; *) exit 1 ;; esac"),
    ("go", "case $1 in version) echo go version go1.22 ;; env) echo /nowhere ;; esac")])
def test_a_version_alone_is_not_enough(printed, folder, program, script):
    """A rustc that has no library to compile with, or a go without its own, does not run."""
    packages, _ = printed("test", folder("mine", **(_RUNS | {program: script})))
    assert {"go": "golang-go"}.get(program, program) in packages


def test_the_race_wants_a_newer_rust(printed, folder):
    """Debian 12's first Rust, too old for a crate of the race, is as good as none."""
    mine = folder("mine", rustc=_RUNS["rustc"].replace("1.80.0", "1.63.0"),
                  cargo="echo cargo 1.65.0")
    packages, programs = printed("race", mine)
    assert {"rustc-web", "cargo-web"} <= packages and not packages & {"rustc", "cargo"}
    assert programs == {"rustc": "/usr/bin/rustc", "cargo": "/usr/bin/cargo"}


def test_what_runs_is_put_first(set_up, folder, tmp_path):
    """A link stands for what was chosen, as long as something that does not run is before it."""
    checkout = tmp_path / "checkout"
    for name in ("scripts/setup", "pyproject.toml"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["set-up"]
    (checkout / "build" / "venv").mkdir(parents=True)
    (checkout / "build" / "venv" / "installed.txt").write_text("\n".join(pins) + "\n")
    links = checkout / "build" / "toolchain" / "bin"
    first, second = folder("first", cargo=_BROKEN), folder("second", **_RUNS)

    set_up(checkout, ["race"], (first, second), installed=True)
    assert {link.name: link.readlink() for link in links.iterdir()} == {"cargo": second / "cargo"}
    (first / "cargo").unlink()
    set_up(checkout, ["race"], (links, first, second), installed=True)
    assert list(links.iterdir()) == []


def test_tests_use_what_is_put_first():
    """The links are the first that a test finds."""
    assert os.environ["PATH"].split(":")[0] == str(ROOT / "build" / "toolchain" / "bin")


def test_nothing_is_installed_twice(printed, folder):
    """Where all packages are there, none is installed."""
    assert printed("test", folder("mine", **_RUNS), installed=True)[0] == set()


def test_pins_are_within_the_ranges():
    """Each package that pyproject.toml wants, of a version or newer, is pinned, and new enough."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pins = dict(pin.split("==") for pin in project["dependency-groups"]["set-up"])
    wanted = [*project["project"]["dependencies"],
              *(each for extra in project["project"]["optional-dependencies"].values()
                for each in extra), *project["build-system"]["requires"]]
    for requirement in wanted:
        name, oldest = requirement.split(">=")
        assert [int(part) for part in pins[name].split(".")] >= [
            int(part) for part in oldest.split(".")], requirement


def test_each_dependency_is_in_the_table():
    """CONTRIBUTING.md says of each package that is installed what it is for."""
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Dependencies\n")[2]
    setup = (ROOT / "scripts" / "setup").read_text().replace("$llvm", "22")
    lists = re.findall(r'^(?:build|bench|test|package|race|machine)="([^"]*)"', setup, re.MULTILINE)
    assert len(lists) == 6
    packages = {name for names in lists for name in names.split()}
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["set-up"]
    packages |= {pin.partition("==")[0] for pin in pins}
    assert {name for name in packages if f"`{name}`" not in table} == set()
