"""The command line itself: what is shown without a verb, for a version, for help, and for what is
mistyped."""

import os
import shutil
import subprocess
import sys

import pytest
from frontload import __version__
from frontload.cli import prose
from frontload.cli.parser import Parser


def test_without_arguments_the_command_says_where_to_start(cli):
    """`frontload` alone is wrong use, and shows the verbs and what to type first."""
    shown = cli(code=2)
    assert shown.out == "" and "# start here" in shown.err and "frontload info" in shown.err


def test_help_of_the_command_has_exit_statuses_and_environment(cli):
    """`frontload --help` says what each exit status means, and which variables are read."""
    shown = cli("--help").out
    for status in ("0", "1", "2", "65", "128+N"):
        assert f"\n  {status:6} " in shown
    for variable in ("FRONTLOAD_PYTHON", "FRONTLOAD_TRACE", "TMPDIR"):
        assert f"\n  {variable}" in shown


def test_the_version_is_that_of_llvm_too(cli, tools, monkeypatch, tmp_path):
    """--version says which LLVM ld.frontload has, or that there is no ld.frontload."""
    assert cli("--version").out.startswith(f"frontload {__version__} (LLVM 22.")
    monkeypatch.delenv("FRONTLOAD_BINDIR")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "without ld.frontload" in cli("--version").out


@pytest.mark.parametrize(("args", "said"), [
    (["recrod"], "did you mean record?"),
    (["record", "--untl", "f", "--", "x"], "did you mean --until?"),
    (["check", "app", "--profle=x"], "did you mean --profile?"),
    (["measure", "--devise=hdd", "--", "x"], "did you mean --device?"),
    (["predict", "--device", "hd", "x"], "did you mean hdd?"),
    (["info", "--jsn"], "did you mean --json?"),
    (["cargo", "build", "--prefech"], "did you mean --prefetch?"),
])
def test_the_nearest_is_suggested(cli, args, said):
    """A verb, option or choice that does not exist gets the nearest that does."""
    shown = cli(*args, code=2)
    assert said in shown.err and "usage: frontload" in shown.err


def test_nothing_is_suggested_without_reason(cli):
    """What is like nothing, short forms, and what belongs to the command, get no suggestion."""
    for args in (["xyzzy"], ["info", "--xyzzy"], ["record", "--zzz", "--", "x"],
                 ["info", "--", "--jsn"]):
        assert "did you mean" not in cli(*args, code=2).err
    # An unambiguous beginning is no mistake.
    assert "did you mean" not in cli("check", "--prof", "/nonexistent", "x", code=2).err


def test_an_error_of_a_verb_is_said_by_the_verb(cli):
    """An unknown argument shows the usage of its verb, and where to look."""
    shown = cli("info", "--xyzzy", code=2).err
    assert "usage: frontload info" in shown and "frontload info: error: " in shown
    assert shown.endswith("frontload info: note: see frontload info --help\n")


def test_what_is_typed_cannot_steer_the_terminal(cli):
    """Escape sequences in an argument are shown, not obeyed."""
    for args in (["\x1b[31m"], ["info", "\x1b[31m"]):
        assert "\x1b" not in cli(*args, code=2).err


@pytest.mark.parametrize("topic", [[], ["check"]])
def test_help_shows_what_dash_dash_help_does(cli, topic):
    """`frontload help VERB` is VERB --help where nobody looks at a terminal."""
    assert cli("help", *topic).out == cli(*topic, "--help").out


def test_help_of_what_is_no_verb(cli):
    """`frontload help` knows the verbs."""
    assert "did you mean check?" in cli("help", "chek", code=2).err


def test_help_on_a_terminal_is_the_man_page(build, tmp_path):
    """`frontload help VERB` runs man with the page that was installed with this very command."""
    if not (build / "share" / "man" / "man1" / "frontload-check.1").is_file():
        pytest.skip("the build has no man pages: its Python lacked packages, as CMake has said")
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    ours, theirs = os.openpty()
    with subprocess.Popen([build / "bin" / "frontload", "help", "check"], stdout=theirs,
                          stdin=theirs, stderr=theirs,
                          env={**os.environ, "MANPAGER": "cat", "TERM": "dumb",
                               "FRONTLOAD_PYTHON": sys.executable}) as process:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 4096):
                shown += data
        except OSError:  # how Linux says that the other end is closed
            pass
        assert process.wait(timeout=60) == 0
    os.close(ours)
    assert b"FRONTLOAD-CHECK(1)" in shown and b"show how much of a profile" in shown


def test_a_verb_inherits_the_common_exit_statuses():
    """A verb names only the exit statuses that are its own, takes away what it does not have, and
    all come in the order of their numbers."""
    parser = Parser(prog="x", exit_status={"128+N": "killed", "1": "no", "65": None})
    assert list(parser.sections["exit status"]) == ["0", "1", "2", "128+N"]


def test_prose_is_filled_and_the_indented_is_not(monkeypatch):
    """A description is filled to the terminal's width; names with hyphens stay whole."""
    text = "Some words and --an-option here.\\nMore.\n\n  left   as it is\n"
    assert prose.fill(text, 20).splitlines()[-1] == "  left   as it is"
    assert "--an-option" in prose.fill(text, 18)
    monkeypatch.setenv("COLUMNS", "60")
    terms = {"a-long-term-of-a-list": "b " * 60}
    shown = Parser(prog="x", description=text * 5, lists={"l": terms})
    assert max(map(len, shown.format_help().splitlines())) <= 60
