"""frontload blame, as far as git goes: which versions it finds, whatever the commits are called and
however the user has set git up."""

import json

import pytest
from blame_history import History, of


@pytest.fixture
def history(tmp_path):
    (tmp_path / "repository").mkdir()
    return History(tmp_path / "repository")


@pytest.fixture
def blamed(cli, tmp_path, tools):
    """blamed(*arguments): what blame says, as JSON."""
    def blamed(*arguments) -> dict:
        cli("blame", "--json", tmp_path / "blame.json", *arguments)
        return json.loads((tmp_path / "blame.json").read_text())
    return blamed


def subjects(found: dict) -> list[str | None]:
    """Those of the versions, None for what is not committed."""
    return [each["commit"] and each["commit"]["subject"] for each in found["versions"]]


@pytest.mark.parametrize("subject", ["", "a\x02b", "\x01", "ends\x02"])
def test_a_commit_may_be_called_anything(history, blamed, subject):
    """Also nothing at all; both as a version and between two."""
    history.commit(subject, app_startup=of("main", "parse"), app_c="int parse();")
    history.commit(subject, app_c="")
    history.commit("Record", app_startup=of("main"))
    found = blamed(history.folder / "app.startup", "--name", "parse")
    assert subjects(found) == [subject, "Record"]
    lost = found["names"][0]["lost"]
    assert [each["subject"] for each in lost["suspects"]] == [subject]
    assert lost["commits"] == 2


def test_a_profile_may_be_called_anything(history, blamed):
    """git takes its name as it is: it is no pattern."""
    history.commit("Other", **{"sub/a1_startup": of(*(f"other{n}" for n in range(40)))})
    history.commit("Record", **{"sub/a[1]_startup": of("main", "parse")})
    history.commit("Other again", **{"sub/a1_startup": of(*(f"other{n}" for n in range(50)))})
    history.commit("Record again", **{"sub/a[1]_startup": of("main")})
    assert subjects(blamed(history.folder / "sub" / "a[1].startup")) == ["Record", "Record again"]


def branch(history: History) -> None:
    """Records a profile on main, and another on a branch, later than what comes next on main."""
    history.commit("Record", app_startup=of("main", "parse", "print"))
    history.git("checkout", "-q", "-b", "side")
    history.time = "13:00:00"
    history.commit("Record aside", app_startup=of("main", "parse", "side"))
    history.git("checkout", "-q", "main")
    history.time = "12:30:00"


@pytest.mark.parametrize(("names", "last", "lost"), [
    (["main"], ["Record aside", "Merge"], "parse"),
    (["main", "parse", "again"], ["Record aside", "Merge"], "side"),
    (["main", "parse", "side"], ["Record again", "Record aside"], "again")])
def test_a_merge_makes_a_version(history, blamed, names, last, lost):
    """Also if its profile is of neither side, or of the one whose commit is the older."""
    branch(history)
    history.commit("Record again", app_startup=of("main", "parse", "again"))
    history.time = "14:00:00"
    history.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    history.commit("Merge", app_startup=of(*names))
    history.commit("Work", other="x")
    found = blamed(history.folder / "app.startup")
    assert subjects(found)[-2:] == last
    [place] = [name["lost"] for name in found["names"] if name["name"] == lost]
    assert place["last"] == found["versions"][-1]["version"]


@pytest.mark.parametrize("setting", [
    "diff.relative=true", "log.follow=true", "log.showRoot=false", "log.showSignature=true",
    "i18n.logOutputEncoding=ISO-8859-1", "color.ui=always", "color.diff=always",
    "core.quotePath=true", "log.diffMerges=first-parent", "diff.renames=false",
    "format.pretty=raw", "log.decorate=full", "log.date=relative"])
def test_the_settings_of_a_user_change_nothing(history, blamed, setting):
    """blame reads what git says; a setting may be meant for people."""
    old, new = "sub/größe_startup", "sub/länge_startup"
    history.commit("Größe", **{old: of("main", "parse", *(f"f{n}" for n in range(20)))})
    history.git("mv", old.replace("_", "."), new.replace("_", "."))
    history.commit("Länge")
    history.commit("Drop it", app_c="int parse;")
    history.commit("Breite", **{new: of("main", *(f"f{n}" for n in range(20)))})
    path = history.folder / new.replace("_", ".")
    before = blamed(path, "--name", "parse")
    assert subjects(before) == ["Größe", "Breite"]
    assert [each["subject"] for each in before["names"][0]["lost"]["suspects"]] == ["Drop it"]
    history.git("config", *setting.split("="))
    assert blamed(path, "--name", "parse") == before


def test_how_a_user_writes_patterns_changes_nothing(history, blamed, monkeypatch):
    """GIT_LITERAL_PATHSPECS is for a shell, in which someone types."""
    history.commit("Record", app_startup=of("main", "parse"), app_c="int parse;")
    history.commit("Drop it", app_c="")
    history.commit("Record again", app_startup=of("main"))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    [name] = blamed(history.folder / "app.startup", "--name", "parse")["names"]
    assert [each["subject"] for each in name["lost"]["suspects"]] == ["Drop it"]
