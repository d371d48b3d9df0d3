"""The command line itself: what is shown for a version, for help, and for what is mistyped."""

import pytest
from frontload import __version__
from frontload.cli.arguments import parse_bytes
from frontload.cli.parser import Parser


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
    (["predict", "--device", "hd", "x"], "did you mean hdd?"),
    (["info", "--jsn"], "did you mean --json?"),
])
def test_the_nearest_is_suggested(cli, args, said):
    """A verb, option or choice that does not exist gets the nearest that does."""
    shown = cli(*args, code=2)
    assert said in shown.err and "usage: " in shown.err


@pytest.mark.parametrize("args", [
    ["xyzzy"], ["info", "--xyzzy"], ["record", "--zzz", "--", "x"], ["info", "--", "--jsn"],
    ["check", "--prof", "/nonexistent", "x"]])  # an unambiguous beginning is no mistake
def test_nothing_is_suggested_without_reason(cli, args):
    assert "did you mean" not in cli(*args, code=2).err


def test_an_error_of_a_verb_is_said_by_the_verb(cli):
    """An unknown argument shows the usage of its verb, and where to look."""
    assert "\x1b" not in cli("info", "\x1b[31m", code=2).err
    shown = cli("info", "--xyzzy", code=2).err
    assert "usage: frontload info" in shown
    assert "frontload info: error: unrecognized arguments: --xyzzy" in shown
    assert shown.endswith("frontload info: note: see frontload info --help\n")


def test_help_has_exit_statuses_environment_and_examples(cli):
    shown = cli("--help").out
    assert "\n  128+N  " in shown and "\n  FRONTLOAD_TRACE" in shown
    shown = cli("record", "--help").out
    assert "examples:\n  # " in shown and "exit status:\n  1 " in shown
    # A verb names only the exit statuses that are its own, takes away what it does not have.
    parser = Parser(prog="x", exit_status={"128+N": "killed", "1": "no", "65": None})
    assert list(parser.sections["exit status"]) == ["0", "1", "2", "128+N"]


def test_prose_is_filled_and_the_indented_is_not(monkeypatch):
    """A description is filled to the terminal's width; names with hyphens stay whole."""
    text = "Some words and then some more --an-option here.\\nMore.\n\n  left   as it is\n"
    monkeypatch.setenv("COLUMNS", "40")
    shown = Parser(prog="x", description=text).format_help().splitlines()
    assert "  left   as it is" in shown and any(line.startswith("--an-option") for line in shown)
    monkeypatch.setenv("COLUMNS", "60")
    terms = {"a-long-term-of-a-list": "b " * 60}
    shown = Parser(prog="x", description=text * 5, lists={"l": terms})
    assert max(map(len, shown.format_help().splitlines())) <= 60


@pytest.mark.parametrize("text, value", [
    ("1", 1), ("4096", 4096), ("80k", 80_000), ("80M", 80_000_000), ("2G", 2_000_000_000),
    ("1.5M", 1_500_000), ("0.5", 0.5), ("1e3k", 1_000_000), ("80.0", 80),
    ("18446744073709551615", (1 << 64) - 1)])
def test_a_number_may_have_a_unit(text, value):
    """A whole number stays one, so that JSON has it as it was written."""
    assert parse_bytes(text) == value
    assert type(parse_bytes(text)) is type(value)


@pytest.mark.parametrize("text", [
    "", "0", "0M", "-1", "80MG", "80GM", "80kk", "80m", "80K", "80 M", " 80", "2T", "M", "1.M",
    ".5", "1_000", "nan", "inf", "1e999", "1e400G", "٣", "9" * 40, "0x10", "80MB"])
def test_what_is_no_number_of_bytes_is_refused(text):
    """Two units, other units, spaces, and what is not above nothing or no number at all."""
    with pytest.raises(ValueError, match="is not a number of bytes"):
        parse_bytes(text)
