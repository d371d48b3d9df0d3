"""What the plugin refuses, what it says then, and that nothing is lost by it."""

import json
import os
import re
import shutil
import subprocess

import pytest
from abilities import needs
from golds import NEEDS_GOLD, PLUGIN, drive, gold, plugin_flags
from killed import at_call, writing_calls
from linking import MAIN, compile_text, write_profile

pytestmark = NEEDS_GOLD

SOURCE = "void f(void) {} void g(void) {} void _start(void) { f(); g(); }\n"
BEFORE = "what was linked before"


@pytest.fixture
def program(tmp_path):
    """An object that gold links as it is; and a previous output."""
    (tmp_path / "out").write_text(BEFORE)
    return compile_text(tmp_path, "o.c", SOURCE)


@pytest.fixture
def profile(tmp_path):
    return write_profile(tmp_path, "f", "g")


@pytest.fixture
def refuse(tmp_path, program):
    """refuse(*options): links by gold itself, which must refuse and leave all as it was; returns
    what it says, a line each."""

    def refuse(*options, arguments=()) -> list[str]:
        files = set(os.listdir(tmp_path))
        result = gold("-o", tmp_path / "out", program, *arguments, plugin=options, code=1)
        assert (tmp_path / "out").read_text() == BEFORE
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
    ("report=app.startup", "app.startup: ", ""), ("report=out", "out: ", ""),
    ("report=nowhere/report", "nowhere/report: ", "")])
def test_bad_option(tmp_path, refuse, monkeypatch, profile, option, message, note):
    """It is named, and what there is instead; and no profile at all is an error."""
    monkeypatch.chdir(tmp_path)
    before = profile.read_text()
    lines = refuse(f"profile={profile}", option)
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
    assert ((tmp_path / "out").read_bytes() == BEFORE.encode()) == (code == 1)


@pytest.mark.parametrize("is_link", [True, False])
def test_previous_output_of_any_name(tmp_path, program, profile, is_link):
    """It is there also if the link has come to its end; in a folder whose name LLVM would take for
    a model of names, and if it is a link."""
    folder = tmp_path / "100%"
    folder.mkdir()
    out = folder / "out"
    if is_link:
        out.symlink_to("../out")
    else:
        out.write_text(BEFORE)
    said = gold("-o", out, program, plugin=[f"profile={profile}", "report=/dev/full"], code=1)
    assert "/dev/full: No space left on device" in said.stderr
    assert out.read_text() == BEFORE and out.is_symlink() == is_link
    assert os.listdir(folder) == ["out"]


def test_killed_at_any_call(tmp_path, program, profile, strace):
    """gold writes its output in place. Until that is whole the previous one is there, under its own
    name or beside it; a report is the old one or, behind a whole output, the new one."""
    folder = tmp_path / "files"
    out, report = folder / "out", folder / "report"
    command = ["ld.gold", "-o", out, program, f"--plugin={PLUGIN}",
               f"--plugin-opt=profile={profile}", f"--plugin-opt=report={report}"]

    def begin():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        out.write_text(BEFORE)
        report.write_text(BEFORE)

    begin()
    calls = writing_calls(strace, tmp_path / "log", *command)
    linked, told = out.read_bytes(), report.read_text()
    assert linked.startswith(b"\x7fELF") and json.loads(told)
    states = set()
    for call in calls:
        begin()
        subprocess.run([*at_call(strace, *call), *command], capture_output=True)
        kept = [path.read_text() for path in folder.glob("out.kept-*")]
        found = out.read_bytes() if out.exists() else b""
        is_linked, is_told = found == linked, report.read_text() == told
        assert is_linked or BEFORE in kept or found == BEFORE.encode(), call
        assert is_told or report.read_text() == BEFORE, call
        assert is_linked or not is_told, call
        states.add((is_linked, bool(kept), is_told))
    assert states == {(False, False, False), (False, True, False), (True, True, False),
                      (True, False, False)}


@pytest.mark.parametrize("flag", ["--section-ordering-file=order", "--sort-section=name"])
def test_two_orders(tmp_path, refuse, profile, flag):
    """gold would forget one of them without a word."""
    (tmp_path / "order").write_text(".text.g\n")
    (tmp_path / "response").write_text(flag.replace("=order", f"={tmp_path / 'order'}"))
    lines = refuse(f"profile={profile}", arguments=[f"@{tmp_path / 'response'}"])
    assert "cannot be combined" in lines[0]


def test_a_link_that_fails_by_itself(tmp_path, program):
    """gold says what it has to say, the previous output and report stay, and nothing else does."""
    text = "int missing(void); int main(void) { return missing(); }\n"
    o, out, report = compile_text(tmp_path, "p.c", text), tmp_path / "out", tmp_path / "report"
    report.write_text(BEFORE)
    profile = write_profile(tmp_path, "main")
    files = set(os.listdir(tmp_path))
    said = gold("-o", out, o, plugin=[f"profile={profile}", f"report={report}"], code=1).stderr
    assert "undefined reference to 'missing'" in said
    assert report.read_text() == out.read_text() == BEFORE
    assert set(os.listdir(tmp_path)) == files


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
