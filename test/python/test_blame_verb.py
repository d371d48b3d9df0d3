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


class History:
    """A repository with a profile, and commits of which each has a message."""

    def __init__(self, folder):
        self.folder, self.path = folder, folder / "app.startup"
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM":
                       "/dev/null", "GIT_COMMITTER_DATE": "2026-11-24T12:00:00Z"}
        return check_run("git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments,
                         cwd=self.folder, env=environment).strip()

    def commit(self, message: str, **contents: bytes) -> str:
        """Commits files, of which an argument writes the dot as _; returns the short hash."""
        for file, content in contents.items():
            (self.folder / file.replace("_", ".")).write_bytes(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "--short", "HEAD")


@pytest.fixture
def history(tmp_path):
    (tmp_path / "repository").mkdir()
    return History(tmp_path / "repository")


@pytest.fixture
def blamed(cli):
    """blamed(*arguments): the names of which blame tells, as JSON."""
    return lambda *arguments: json.loads(cli("blame", "--json", "-", *arguments).out)["names"]


@pytest.fixture
def built(compile):
    """built(file, parse="parse"): an object, whose function is called so."""
    return lambda file, parse="parse", source=SOURCE: compile(
        source, file, "-ffunction-sections", f"-DPARSE={parse}")


def events(name: dict) -> list[tuple]:
    return [(each["what"], each["before"], each["after"]) for each in name["events"]]


def test_a_loss_is_between_two_commits_of_the_profile(history, blamed, cli):
    """A renamed profile is followed, and what is not committed is its newest version."""
    names = [f"f{number}" for number in range(20)]
    history.commit("Record", old_startup=of(*names, "parse", "print"), app_c=b"int parse();")
    history.git("mv", "old.startup", "app.startup")
    history.commit("Rename")
    guilty = history.commit("Drop the parser", app_c=b"")
    lost = history.commit("Record again", app_startup=of(*names))
    history.path.write_bytes(of(*names, "print"))
    [name] = blamed(history.path)
    assert (name["name"], events(name)) == ("parse", [("came", None, 0), ("lost", 0, 1)])
    assert (name["lost"]["first"], name["lost"]["last"], name["lost"]["commits"]) == (
        history.git("log", "--reverse", "--format=%h (2026-11-24, %s)").splitlines()[0],
        f"{lost} (2026-11-24, Record again)", 3)
    [name] = blamed(history.path, "--name", "parse")
    assert [each["shown"] for each in name["lost"]["suspects"]] == [
        f"{guilty} (2026-11-24, Drop the parser)"]
    [name] = blamed(history.path, "--name", "print")
    assert events(name) == [("came", None, 0), ("lost", 0, 1), ("came back", 1, 2)]
    out = cli("blame", history.path).out
    assert "lost, and not seen since: 1 name\n" in out and out.endswith(": 1 name\n  parse\n")


def test_builds_make_the_limits_narrower(history, blamed, built):
    """The last commit whose build has a name, and the first whose build lacks it."""
    old, new = built("old.o"), built("new.o", "scan", SOURCE.replace("77", "78"))
    history.commit("Record", app_startup=of("main", "parse"), app_o=old.read_bytes())
    commits = [history.commit(f"Work {number}") for number in range(3)]
    history.commit("Record again", app_startup=of("main"), app_o=new.read_bytes())
    [name] = blamed(history.path, "--build", f"{commits[1]}={new}", "--build", f"main~3={old}")
    assert (name["lost"]["first"], name["lost"]["last"]) == (
        f"the build of {commits[0]} (2026-11-24, Work 0)",
        f"the build of {commits[1]} (2026-11-24, Work 1)")
    assert (name["lost"]["commits"], name["lost"]["now"]) == (1, None)
    [name] = blamed(history.path, "--build", f"main={old}")
    assert name["lost"]["in_program"]
    [name] = blamed(history.path, "--objects", history.folder / "app.o")
    assert [each["has"] for each in name["lost"]["builds"]] == [True, False]


def test_a_function_is_found_by_its_code(tmp_path, blamed, built):
    """What calls it, and where its data are, may be elsewhere: its instructions tell."""
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


@pytest.mark.parametrize(("arguments", "code", "what"), [
    (["app.startup"], 65, "not a git repository"),
    (["a", "b", "--objects", "c"], 2, "git is not asked"),
    (["a", "b", "--build", "c=d"], 2, "c: is none of the profiles"),
    (["a", "b", "--build", "a=a"], 65, "a: "),
    (["a", "b", "--build", "a=none"], 2, "none: No such file"),
    (["a", "b", "--build", "a"], 2, "'a' is not VERSION=PATH"),
    (["a", "b", "--name", "parse"], 1, "no version of the profile has this name"),
])
def test_what_cannot_be_done_is_refused(tmp_path, cli, monkeypatch, arguments, code, what):
    """With what is wrong and what to do."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name, names in (("a", ("main", "f")), ("b", ("main",)), ("app.startup", ("main",))):
        (tmp_path / name).write_bytes(of(*names))
    assert what in cli("blame", *arguments, code=code).err
