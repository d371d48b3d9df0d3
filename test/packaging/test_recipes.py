"""The recipes for CI in examples/ci: their commands are run as a runner would run them, on a copy
of the project that they are for. Installing packages, which needs the network, is left out."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from abilities import needs
from places import ROOT
from trees import clean_environment

RECIPES = ROOT / "examples" / "ci"
GITHUB = yaml.safe_load((RECIPES / "github-actions.yml").read_text())
GITLAB = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())
PROFILE = "greeter.startup"


@pytest.fixture
def shell(installed, tmp_path):
    """shell(folder, command): the exit status of a runner's command, and what it said."""
    prefix = installed.prefix
    environment = clean_environment(
        PATH=f"{prefix}/bin:{os.environ['PATH']}", CMAKE_PREFIX_PATH=str(prefix),
        HOME=str(tmp_path), CI_SERVER_HOST="localhost", CI_DEFAULT_BRANCH="main",
        STARTUP_PROFILE_TOKEN="token", PUSH_TO=str(tmp_path / "remote.git"),
        GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)

    def shell(folder: str, command: str) -> tuple[int, str]:
        ran = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], text=True,
                             cwd=tmp_path / folder, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        return ran.returncode, ran.stdout

    return shell


def replace(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@needs("ptrace", "program:git")
def test_a_recipe_fails_when_the_profile_rots_and_makes_a_new_one(shell, tmp_path):
    """The job check fails, and refresh proposes a new profile, once names have changed."""
    project, commit = tmp_path / "project", "git add -A && git -c user.name=a -c user.email=a@b " \
        "commit -q -m test"
    shutil.copytree(ROOT / "examples" / "cmake", project,
                    ignore=shutil.ignore_patterns("build*", "*.startup"))
    # What is not run at start takes longest to compile, and nothing here is about it.
    replace(project / "rest.cpp", "step<200>", "step<20>")
    # As docs/how-to/cmake.md says: the first profile is made by hand.
    for command in ("git init -q -b main . && git init -q --bare ../remote.git",
                    "git -C ../remote.git config receive.advertisePushOptions true",
                    "printf '/build*/\\n' > .gitignore",
                    "cmake -S . -B build -G Ninja -DFRONTLOAD=record",
                    "cmake --build build --target frontload-train && rm -r build", commit):
        assert shell("project", command)[0] == 0

    def run(job: str) -> tuple[int, str, str]:
        """Runs a job in a fresh clone: its status, what it said, and the profile that it leaves."""
        shutil.rmtree(tmp_path / job, ignore_errors=True)
        for folder, command in (("project", f"git clone -q . ../{job}"),
                                *((job, command) for command in GITLAB[job]["script"])):
            status, said = shell(folder, command)
            if status:
                break
        return status, said, (tmp_path / job / PROFILE).read_text()

    before = (project / PROFILE).read_text()
    status, said, after = run("refresh")
    assert (status, after) == (0, before), said
    assert not shell("remote.git", "git branch")[1]
    status, said, _ = run("check")
    assert status == 0, said

    # A start now also runs what lies far behind the front.
    replace(project / "CMakeLists.txt", "greet.cpp rest.cpp", "greet.cpp padding.cpp rest.cpp")
    (project / "padding.cpp").write_text(
        '__asm__(".section .text.padding,\\"ax\\"\\n.space 0x400000\\n.text");\n')
    replace(project / "main.cpp", "  greet(argc", "  doRest(argc);\n  greet(argc")
    replace(project / "greet.cpp", "void greet(", "void welcome(")
    replace(project / "main.cpp", "greet(", "welcome(")
    shell("project", commit)
    status, said, _ = run("check")
    assert status != 0 and "greet" in said
    status, said, after = run("refresh")
    assert status == 0, said
    assert "welcome" in after and "welcome" not in before
    assert shell("remote.git", f"git show startup-profile:{PROFILE}")[1] == after


def test_actions_are_pinned():
    """Actions are named by commit, with the version in a comment: a tag can be moved."""
    uses = re.findall(r"uses: (.*)", (RECIPES / "github-actions.yml").read_text())
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", action)


@pytest.mark.parametrize("job", GITHUB["jobs"])
def test_the_recipes_agree(job):
    """Both hosts run the same commands; what GitLab's do after them is to propose a new profile."""
    def words(commands) -> str:
        return " ".join(" ".join(commands).split())

    github = words(step["run"] for step in GITHUB["jobs"][job]["steps"]
                   if "run" in step and step["name"] != "Install")
    proposes = {"check": 0, "refresh": 1}[job]
    assert github == words(GITLAB[job]["script"][:len(GITLAB[job]["script"]) - proposes])
    # YAML 1.1 reads the word `on` as a truth value.
    assert GITHUB[True].keys() >= {"schedule", "workflow_dispatch", "pull_request"}
