"""scripts/setup: what it would install, and which cargo, rustc and go it believes in. Nothing is
fetched from a host that is named here: apt, pip, cargo and go know where from."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from places import ROOT
from trees import project

# What scripts/setup itself runs, of a PATH that has nothing else.
_TOOLS = ("sh", "dirname", "env", "mktemp", "rm", "cat", "mkdir", "ln")
_RUNS = {
    "rustc": "case $1 in --version) echo rustc 1.80.0 ;; *) cat ;; esac",
    "cargo": "echo cargo 1.80.0",
    "go": "case $1 in version) echo go version go1.22 ;; env) echo ROOT ;; esac",
}
# As rustup's programs answer where there is no toolchain.
_BROKEN = "echo 'error: no default is configured' >&2; exit 1"
_DEBIAN = {"rustc": "rustc", "cargo": "cargo", "go": "golang-go"}


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


def set_up(tools: Path, *arguments, folders=(), root: Path = ROOT) -> str:
    """What scripts/setup of a checkout says with this PATH; `tools` has dpkg-query."""
    for tool in _TOOLS:
        if not (tools / tool).exists():
            (tools / tool).symlink_to(shutil.which(tool))
    return subprocess.run([root / "scripts" / "setup", *arguments], capture_output=True, text=True,
                          env={"PATH": ":".join(map(str, (*folders, tools)))}, check=True).stdout


@pytest.fixture
def printed(folder):
    """printed(what, *folders): ({packages to install}, {program: path}) where there are none."""
    tools = folder("tools", **{"dpkg-query": "exit 1"})

    def printed(what: str, *folders: Path):
        said = set_up(tools, "--print", what, folders=folders)
        lines = [line.split(": ") for line in said.splitlines()]
        return {value for name, value in lines if name == "package"}, dict(lines)

    return printed


@pytest.mark.parametrize("program, script", [
    (None, None), *((program, _BROKEN) for program in _RUNS),
    # A rustc that has no library to compile with, or a go without its own: a version is not enough.
    ("rustc", "case $1 in --version) echo rustc 1.80.0 ;; *) exit 1 ;; esac"),
    ("go", "case $1 in version) echo go version go1.22 ;; env) echo /nowhere ;; esac")])
def test_what_does_not_run_is_not_believed_in(printed, folder, tmp_path, program, script):
    """Debian's cargo, rustc and go are used only in place of those that do not run."""
    broken = {} if program is None else {program: script}
    mine = folder("mine", **(_RUNS | broken))
    packages, programs = printed("test", mine)
    assert packages & set(_DEBIAN.values()) == {_DEBIAN[name] for name in broken}
    assert programs.items() >= {name: f"/usr/bin/{name}" if name in broken else f"{mine}/{name}"
                                for name in _RUNS}.items()
    # A working program later in PATH is found behind it.
    packages, programs = printed("test", mine, folder("second", **_RUNS))
    assert all(programs[name] == f"{tmp_path}/second/{name}" for name in broken)
    assert not packages & set(_DEBIAN.values())


def test_the_race_wants_a_newer_rust(printed, folder):
    """Debian 12's first Rust, too old for a crate of the race, is as good as none."""
    mine = folder("mine", rustc=_RUNS["rustc"].replace("1.80.0", "1.63.0"),
                  cargo="echo cargo 1.65.0")
    packages, programs = printed("race", mine)
    assert {"rustc-web", "cargo-web"} <= packages and not packages & {"rustc", "cargo"}
    assert programs["rustc"] == "/usr/bin/rustc" and programs["cargo"] == "/usr/bin/cargo"


def test_what_runs_is_put_first(folder, tmp_path):
    """A link stands for what was chosen, as long as something that does not run is before it."""
    checkout = tmp_path / "checkout"
    for name in ("scripts/setup", "pyproject.toml"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    (checkout / "build" / "venv").mkdir(parents=True)
    (checkout / "build" / "venv" / "installed.txt").write_text(
        "\n".join(project()["dependency-groups"]["set-up"]) + "\n")
    links = checkout / "build" / "toolchain" / "bin"
    first, second = folder("first", cargo=_BROKEN), folder("second", **_RUNS)
    tools = folder("tools", **{"dpkg-query": "printf 'install ok installed'"})

    set_up(tools, "race", folders=(first, second), root=checkout)
    assert {link.name: link.readlink() for link in links.iterdir()} == {"cargo": second / "cargo"}
    (first / "cargo").unlink()
    set_up(tools, "race", folders=(links, first, second), root=checkout)
    assert list(links.iterdir()) == []
    assert "package: " not in set_up(tools, "--print", "test", folders=(second,))


def test_pins_are_within_the_ranges():
    """Each package that pyproject.toml wants, of a version or newer, is pinned, and new enough."""
    pins = dict(pin.split("==") for pin in project()["dependency-groups"]["set-up"])
    wanted = [*project()["project"]["dependencies"],
              *(each for extra in project()["project"]["optional-dependencies"].values()
                for each in extra), *project()["build-system"]["requires"]]
    for requirement in wanted:
        name, oldest = requirement.split(">=")
        assert [int(part) for part in pins[name].split(".")] >= [
            int(part) for part in oldest.split(".")], requirement


# Written apart, so that this file is no hit.
_HOSTS = (
    "deb debian org, security debian org, ftp debian org, snapshot debian org, apt llvm org, "
    "archive ubuntu com, pypi org, pythonhosted org, anaconda org, crates io, proxy golang org, "
    "static rust-lang org, sh rustup rs, sum golang org, npmjs org, npmjs com, yarnpkg com, "
    "repo maven apache org, repo1 maven org, rubygems org, docker io, quay io, ghcr io")


def test_no_file_names_the_host_of_a_registry():
    """Who has a mirror configured for a package manager uses that mirror, whatever is installed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    paths = ([ROOT / name for name in listed.stdout.decode().split("\0") if name]
             or [path for path in ROOT.rglob("*") if "build" not in path.relative_to(ROOT).parts])
    hosts = [host.replace(" ", ".").encode() for host in _HOSTS.split(", ")]
    found = [f"{path.relative_to(ROOT)}: {host.decode()}" for path in paths if path.is_file()
             for contents in [path.read_bytes()] for host in hosts if host in contents]
    assert paths and found == []


def test_each_dependency_is_in_the_table():
    """CONTRIBUTING.md says of each package that is installed what it is for."""
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Dependencies\n")[2]
    setup = (ROOT / "scripts" / "setup").read_text().replace("$llvm", "22")
    lists = re.findall(r'^(?:build|bench|test|package|race|machine)="([^"]*)"', setup, re.MULTILINE)
    assert len(lists) == 6
    packages = {name for names in lists for name in names.split()}
    packages |= {pin.partition("==")[0] for pin in project()["dependency-groups"]["set-up"]}
    assert {name for name in packages if f"`{name}`" not in table} == set()
