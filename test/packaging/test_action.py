"""action.yml and templates/startup.yml, for GitHub and GitLab: their script is run as a runner runs
it, on a small program with a Makefile. Installing packages needs the network, and is left out."""

import os
import re
import subprocess

import pytest
import yaml
from abilities import needs
from places import ROOT
from trees import clean_environment

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
COMPONENT, JOBS = yaml.safe_load_all((ROOT / "templates" / "startup.yml").read_text())
(JOB,) = JOBS.values()
INSTALL, SCRIPT = (step["run"] for step in ACTION["runs"]["steps"][:2])
ENVIRONMENT = {name: value for step in ACTION["runs"]["steps"][:2]
               for name, value in step["env"].items()}

MAKEFILE = """app: main.o greet.o
\t$(CC) $(CFLAGS) $^ -o $@ && echo linked >>links
"""
MAIN = """#include <stdio.h>
void greet(void);
int rest(int x) { return x > 9 ? rest(x - 1) + 1 : 0; }
int main(int argc, char **argv) { greet(); return argc > 9 ? rest(argc) : 0; }
"""
GREET = """#include <stdio.h>
__attribute__((noinline)) void first(void) { puts("hello"); }
__attribute__((noinline)) void second(void) { puts("world"); }
void greet(void) { first(); second(); }
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "greet.c").write_text(GREET)
    return tmp_path


@pytest.fixture
def action(installed, project):
    """action(**inputs): the exit status of the action's script, its output, and its outputs."""
    outputs = project / "outputs"

    def action(**inputs: str) -> tuple[int, str, str]:
        given = {"build": "make", "program": "app", "command": "./app"} | inputs
        values = {name: given.get(name, each.get("default")) for name, each in
                  ACTION["inputs"].items()}
        variables = {variable: values[re.fullmatch(r"\$\{\{ inputs\.(.*) \}\}", value)[1]]
                     for variable, value in ENVIRONMENT.items()}
        outputs.write_text("")
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", SCRIPT], text=True,
            cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment(
                PATH=f"{installed.prefix}/bin:{os.environ['PATH']}", HOME=str(project),
                GITHUB_OUTPUT=str(outputs), **variables))
        return ran.returncode, ran.stdout, outputs.read_text()

    return action


@needs("ptrace", "eviction")
def test_a_program_is_built_recorded_and_built_again(action, project):
    status, said, outputs = action()
    assert (status, outputs) == (0, "renewed=true\n"), said
    assert (project / "links").read_text().split() == ["linked"] * 2
    assert "greet" in (project / "startup" / "app.startup").read_text()
    results = project / "frontload-results"
    summary = (results / "summary.md").read_text()
    assert "names of app (1 run) in the front: 100.00%" in summary
    assert re.search(r"^before +hdd", summary, re.M) and re.search(r"^after +hdd", summary, re.M)
    assert "<html" in (results / "report.html").read_text()

    # With a profile, one build is enough, and `always` leaves a profile alone that is right.
    for record in ("auto", "never", "always"):
        (project / "links").unlink()
        status, said, outputs = action(record=record)
        assert (status, outputs) == (0, ""), said
        assert (project / "links").read_text().split() == ["linked"]

    # Once functions have other names, the check fails, and `always` renews the profile.
    for old, new in (("first", "premier"), ("second", "deuxieme")):
        (project / "greet.c").write_text((project / "greet.c").read_text().replace(old, new))
    status, said, outputs = action(record="never")
    assert (status, outputs) == (1, ""), said
    status, said, outputs = action(record="always")
    assert (status, outputs) == (0, "renewed=true\n"), said
    assert "premier" in (project / "startup" / "app.startup").read_text()


def test_a_build_that_fails_ends_the_action(action):
    status, said, _ = action(build="false")
    assert status == 1 and "### The startup" not in said


def test_both_hosts_run_the_same():
    assert JOB["script"] == [INSTALL, SCRIPT]
    component = COMPONENT["spec"]["inputs"]
    assert component.keys() - {"job", "stage", "image"} == ACTION["inputs"].keys()
    for name, each in ACTION["inputs"].items():
        assert (component[name] or {}).get("default") == each.get("default")
    assert JOB["variables"] == {
        variable: re.sub(r"\$\{\{ (.*) \}\}", r"$[[ \1 ]]", value)
        for variable, value in ENVIRONMENT.items()}
