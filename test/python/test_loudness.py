"""How much a verb says: --quiet and --verbose, which all of them have."""

import re

import pytest
from frontload.base import errors
from frontload.cli import main as command_line


def test_every_verb_has_them():
    """Long and short."""
    for verb in command_line.VERBS:
        assert {"-q", "--quiet", "-v", "--verbose"} <= command_line.verb_parser(
            verb)._option_string_actions.keys(), verb


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_leaves_the_result_and_errors(cli, link, tmp_path, option):
    """No warnings and notes, except the note that says what to do about an error."""
    link().trace(tmp_path / "t", "main")
    loud, quiet = cli("profile", tmp_path / "t"), cli("profile", option, tmp_path / "t")
    assert loud.out == quiet.out and "note: " in loud.err and quiet.err == ""
    refused = cli("profile", option, tmp_path / "nothing", code=2).err
    assert re.fullmatch("frontload: error: .*\nfrontload: note: .*\n", refused)
    # It is over when the command is, also for who calls us from Python.
    assert not errors.is_quiet()


def test_verbose_tells_what_is_run(cli, tools, link, startup):
    """Each program that is started, as it could be typed."""
    check = ("check", link().path, "--profile", startup("main"))
    shown = cli(*check, "--verbose").err
    assert re.search(r"^frontload: run: .*/frontload-resolve'? ", shown, re.MULTILINE)
    assert "frontload: run: " not in cli(*check).err


def test_an_error_may_have_several_notes(capsys):
    """None of them is lost, and what comes after something else is none of them."""
    errors.be_quiet(True)
    try:
        for say, text in ((errors.note, "a"), (errors.error, "b"), (errors.note, "c"),
                          (errors.note, "d"), (errors.warning, "e"), (errors.note, "f")):
            say(text)
    finally:
        errors.be_quiet(False)
    assert [line[-1] for line in capsys.readouterr().err.splitlines()] == ["b", "c", "d"]
