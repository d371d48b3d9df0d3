"""What the plugin refuses, and what it says then."""

import os
import re

import pytest
from abilities import needs
from golds import NEEDS_GOLD, PLUGIN, drive, gold, plugin_flags
from linking import MAIN, compile_text, write_profile

pytestmark = NEEDS_GOLD

SOURCE = "void f(void) {} void g(void) {} void _start(void) { f(); g(); }\n"


@pytest.fixture
def program(tmp_path):
    """An object that gold links as it is."""
    return compile_text(tmp_path, "o.c", SOURCE)


@pytest.fixture
def profile(tmp_path):
    return write_profile(tmp_path, "f", "g")


@pytest.fixture
def refuse(tmp_path, program):
    """refuse(*options): links by gold itself, which must refuse and write nothing; returns what it
    says, a line each."""

    def refuse(*options, arguments=()) -> list[str]:
        files = set(os.listdir(tmp_path))
        result = gold("-o", tmp_path / "out", program, *arguments, plugin=options, code=1)
        assert set(os.listdir(tmp_path)) == files
        lines = result.stderr.splitlines()
        assert "fatal error: frontload-gold: " in lines[0]
        assert lines[1].startswith("frontload-gold: note: ")
        assert all(line.startswith("  ") for line in lines[2:])
        return lines

    return refuse


@pytest.mark.parametrize("option, message, note", [
    ("prophile=x", "--plugin-opt={}: unknown option", "profile=FILE"),
    ("report=", "--plugin-opt={}: has no value", "report=VALUE"),
    *((f"min-match={value}", "--plugin-opt={}: is not a percentage", "0 to 100")
      for value in ("most", "101", "nan")),
    ("profile=missing", "missing: No such file or directory", "frontload record"),
    # A report must not replace a file of the link, and needs a folder.
    ("report=app.startup", "app.startup: ", ""), ("report=HERE/out", "out: ", ""),
    ("report=nowhere/report", "nowhere/report: ", "")])
def test_bad_option(tmp_path, refuse, monkeypatch, profile, option, message, note):
    """It is named, and what there is instead; and no profile at all is an error."""
    monkeypatch.chdir(tmp_path)
    before = profile.read_text()
    lines = refuse(f"profile={profile}", option.replace("HERE", str(tmp_path)))
    assert message.format(option) in lines[0] and note in lines[1]
    assert profile.read_text() == before
    assert "no profile" in refuse("min-match=3")[0]


def test_profile_of_another_program(tmp_path, refuse):
    """No name is found: the link fails before gold has written, and the names are told."""
    profile = write_profile(tmp_path, *(f"x{i}" for i in range(12)))
    line, note, *missing = refuse(f"profile={profile}")
    assert f"{profile}: none of its 12 names is in this link" in line and "min-match" in note
    assert missing == [*(f"  x{i}" for i in range(10)), "  ... and 2 more"]


@pytest.mark.parametrize("options, code", [([], 1), (["min-match=66"], 0)])
def test_threshold(tmp_path, program, options, code):
    """Two of three names are found: enough or not, as min-match says; 80% if it does not."""
    profile = write_profile(tmp_path, "f", "x", "g")
    result = gold("-o", tmp_path / "out", program, plugin=[f"profile={profile}", *options],
                  code=code)
    assert f"{profile}: 2 of 3 names found (66.7%)" in result.stderr
    assert (tmp_path / "out").exists() == (code == 0)


def test_a_report_that_cannot_be_written(tmp_path, program, profile):
    """It is known when gold is done, and fails the link."""
    said = gold("-o", tmp_path / "out", program, plugin=[f"profile={profile}", "report=/dev/full"],
                code=1)
    assert "/dev/full: No space left on device" in said.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("flag", ["--section-ordering-file=order", "--sort-section=name"])
def test_two_orders(tmp_path, refuse, profile, flag):
    """gold would forget one of them without a word."""
    (tmp_path / "order").write_text(".text.g\n")
    (tmp_path / "response").write_text(flag.replace("=order", f"={tmp_path / 'order'}"))
    lines = refuse(f"profile={profile}", arguments=[f"@{tmp_path / 'response'}"])
    assert "cannot be combined" in lines[0]


def test_a_link_that_fails_by_itself(tmp_path):
    """gold reports its own error."""
    text = "int missing(void); int main(void) { return missing(); }\n"
    o, profile = compile_text(tmp_path, "p.c", text), write_profile(tmp_path, "main")
    said = gold("-o", tmp_path / "out", o, plugin=[f"profile={profile}"], code=1).stderr
    assert "undefined reference to 'missing'" in said
    assert not (tmp_path / "out").exists()


@needs("program:ld.bfd")
def test_gnu_ld_links_on(tmp_path):
    """GNU ld does not accept an order: one line says so, and the output is that of a plain link."""
    o = compile_text(tmp_path, "o.c", MAIN)
    plain = drive(tmp_path / "plain", o, linker="bfd")
    assert plain.stdout + plain.stderr == ""
    result = drive(tmp_path / "out", o, *plugin_flags(None, "nonsense"), linker="bfd")
    assert re.fullmatch(".*does not accept an order.*\n", result.stdout + result.stderr)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes()


def test_version():
    """gold loads its plugins before it says who it is."""
    assert "GNU gold" in gold("--version", f"--plugin={PLUGIN}").stdout
