"""The recipes for CI in examples/ci: that they are valid, and that their commands do what they say.

The commands are taken out of the YAML and run as a runner would run them, on a copy of the project
that they are for. Only installing packages is left out, which needs the network, and actions.
"""

import os
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest
import yaml
from trees import ROOT, checked, clean_environment

RECIPES = ROOT / "examples" / "ci"
GITHUB = yaml.safe_load((RECIPES / "github-actions.yml").read_text())
GITLAB = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())


def github(job: str) -> list[str]:
    """The commands of a job, of each step but the one that installs."""
    return [step["run"] for step in GITHUB["jobs"][job]["steps"]
            if "run" in step and step["name"] != "Install"]


JOBS = {"github": github, "gitlab": lambda job: GITLAB[job]["script"]}


class Project:
    """A repository with a copy of examples/cmake, and what runs jobs of a recipe in it."""

    def __init__(self, folder: Path, prefix: Path, host: str):
        self.folder, self.remote, self.host = folder / "project", folder / "remote.git", host
        shutil.copytree(ROOT / "examples" / "cmake", self.folder,
                        ignore=shutil.ignore_patterns("build*", "*.startup"))
        # What is not run at start takes longest to compile, and nothing here is about it.
        self.replace("rest.cpp", "step<200>", "step<20>")
        self.environment = clean_environment(
            PATH=f"{prefix}/bin:{os.environ['PATH']}", CMAKE_PREFIX_PATH=str(prefix),
            HOME=str(folder), CI_SERVER_HOST="localhost", CI_DEFAULT_BRANCH="main",
            STARTUP_PROFILE_TOKEN="token", PUSH_TO=str(self.remote),
            GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)
        self.shell("git init -q -b main . && git init -q --bare ../remote.git && "
                   "git -C ../remote.git config receive.advertisePushOptions true && "
                   "printf '/build*/\\n' > .gitignore")
        # As docs/how-to/cmake.md says: the first profile is made by hand.
        self.shell("cmake -S . -B build -G Ninja -DFRONTLOAD=record && "
                   "cmake --build build --target frontload-train && rm -r build")
        self.commit()

    def shell(self, command: str) -> str:
        return checked("bash", "-e", "-o", "pipefail", "-c", command, cwd=self.folder,
                       env=self.environment)

    def commit(self) -> None:
        self.shell("git add -A && git -c user.name=test -c user.email=test@localhost "
                   "commit -q -m test")

    def run(self, job: str) -> subprocess.CompletedProcess:
        """Runs a job in a fresh clone, in which the profile that it leaves can be looked at."""
        clone = self.folder.parent / job
        shutil.rmtree(clone, ignore_errors=True)
        checked("git", "clone", "-q", self.folder, clone)
        result = None
        for command in JOBS[self.host](job):
            result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=clone,
                                    env=self.environment, text=True, timeout=300, check=False,
                                    capture_output=True)
            if result.returncode != 0:
                break
        return result

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize("host", JOBS)
def test_a_recipe_fails_when_the_profile_rots_and_makes_a_new_one(installed, tmp_path, host):
    """The job check passes with the profile that was recorded of this program, and fails when the
    functions of the start have other names. The job refresh leaves alone a profile that is still
    right, and makes a new one, and proposes it, when it is not."""
    project, profile = Project(tmp_path, installed(), host), "greeter.startup"
    before = (project.folder / profile).read_text()
    passed = project.run("check" if host == "github" else "refresh")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    if host == "gitlab":
        assert (tmp_path / "refresh" / profile).read_text() == before
        assert not checked("git", "-C", project.remote, "branch")

    # A start now also runs what lies far behind the front.
    project.replace("CMakeLists.txt", "greet.cpp rest.cpp", "greet.cpp padding.cpp rest.cpp")
    (project.folder / "padding.cpp").write_text(
        '__asm__(".section .text.padding,\\"ax\\"\\n.space 0x400000\\n.text");\n')
    project.replace("main.cpp", "  greet(argc", "  doRest(argc);\n  greet(argc")
    project.replace("greet.cpp", "void greet(", "void welcome(")
    project.replace("main.cpp", "greet(", "welcome(")
    project.commit()
    failed = project.run("check")
    assert failed.returncode != 0 and "greet" in failed.stdout + failed.stderr
    refreshed = project.run("refresh")
    assert refreshed.returncode == 0, refreshed.stdout + refreshed.stderr
    after = (tmp_path / "refresh" / profile).read_text()
    assert "welcome" in after and "welcome" not in before
    label = re.search(r"^generations ([0-9-]+):", after, re.MULTILINE)
    assert date.fromisoformat(label[1]) and "greet" in after  # what is old fades
    if host == "gitlab":  # the other one leaves proposing it to an action
        proposed = checked("git", "-C", project.remote, "show", f"startup-profile:{profile}")
        assert proposed == after


def test_actions_are_pinned():
    """Actions are named by commit, with the version in a comment: a tag can be moved."""
    uses = re.findall(r"uses: (.*)", (RECIPES / "github-actions.yml").read_text())
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", action)


def test_the_recipes_agree():
    """Both hosts run the same commands to check, and have the same two jobs."""
    def words(commands):
        return " ".join(" ".join(commands).split())

    assert words(github("check")) == words(GITLAB["check"]["script"])
    assert GITHUB["jobs"].keys() == {"check", "refresh"} < GITLAB.keys()
    # YAML 1.1 reads the word `on` as a truth value.
    assert GITHUB[True].keys() >= {"schedule", "workflow_dispatch", "pull_request"}
