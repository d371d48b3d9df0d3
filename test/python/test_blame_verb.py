"""frontload blame: between which commits, or files, and builds a profile lost its names."""

import json
import os

import pytest
from frontload.profile import format as profile
from frontload.profile.startup_profile import Name, from_run
from linking import check_run

pytestmark = pytest.mark.usefixtures("tools")
# Functions whose code differs from each other, and is long enough to say something.
SOURCE = """
int counter; extern int table[];
#define N __attribute__((noinline))
N int PARSE(int x) { counter += x * 3; return table[x & 7] ^ (counter << 2) ^ 77; }
N int print(int x) { counter -= x * 5; return table[x & 3] + counter * x + 11; }
int main(int argc, char **argv) { return PARSE(argc) + print(argc); }
"""


def of(*names: str) -> bytes:
    return profile.to_bytes(from_run(b"app", [Name("function", "text", name.encode())
                                              for name in names]))


@pytest.fixture
def git(tmp_path):
    def git(*arguments) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM":
                       "/dev/null", "GIT_COMMITTER_DATE": "2026-11-24T12:00:00Z"}
        return check_run("git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments,
                         cwd=tmp_path, env=environment).strip()

    git("init", "-q", "-b", "main")
    return git


@pytest.fixture
def blamed(cli):
    """blamed(*arguments): the names of which blame tells, as JSON."""
    return lambda *arguments: json.loads(cli("blame", "--json", "-", *arguments).out)["names"]


def events(name: dict) -> list[tuple]:
    return [(each["what"], each["before"], each["after"]) for each in name["events"]]


def test_a_loss_is_between_two_commits_of_the_profile(git, blamed, cli, tmp_path):
    """A renamed profile is followed, and what is not committed is its newest version."""
    path, code = tmp_path / "app.startup", tmp_path / "app.c"

    def commit(message: str) -> str:
        git("add", "-A")
        git("commit", "-q", "-m", message)
        return git("rev-parse", "--short", "HEAD") + f" (2026-11-24, {message})"

    names = [f"f{number}" for number in range(20)]
    (tmp_path / "old.startup").write_bytes(of(*names, "parse", "print"))
    code.write_text("int parse();")
    first = commit("Record")
    git("mv", "old.startup", "app.startup")
    commit("Rename")
    code.write_text("")
    guilty = commit("Drop the parser")
    path.write_bytes(of(*names))
    lost = commit("Record again")
    path.write_bytes(of(*names, "print"))
    [name] = blamed(path)
    assert (name["name"], events(name)) == ("parse", [("came", None, 0), ("lost", 0, 1)])
    assert (name["lost"]["first"], name["lost"]["last"], name["lost"]["commits"]) == (
        first, lost, 3)
    [name] = blamed(path, "--name", "parse")
    assert [each["shown"] for each in name["lost"]["suspects"]] == [guilty]
    [name] = blamed(path, "--name", "print")
    assert events(name) == [("came", None, 0), ("lost", 0, 1), ("came back", 1, 2)]
    assert "lost, and not seen since: 1 name\n" in cli("blame", path).out


def test_a_function_is_found_by_its_code(tmp_path, blamed, compile):
    """What calls it, and where its data are, may be elsewhere: its instructions tell."""
    def built(file, parse="parse", source=SOURCE):
        return compile(source, file, "-ffunction-sections", f"-DPARSE={parse}")

    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(of("main", "parse", "print"))
    new.write_bytes(of("main", "scan", "print.isra.0"))
    same, other = (built(f"{number}.o", "scan", SOURCE.replace("77", number))
                   for number in ("77", "78"))
    builds = [f"--build={old}={built('old.o')}", f"--build={new}="]
    [name] = blamed(old, new, builds[0], f"{builds[1]}{same}", "--name", "scan")
    assert name["events"][1]["how"] == "code"
    assert blamed(old, new, builds[0], f"{builds[1]}{same}") == []
    [name] = blamed(old, new, builds[0], f"{builds[1]}{other}")
    assert (name["name"], name["lost"]["now"]) == ("parse", None)
