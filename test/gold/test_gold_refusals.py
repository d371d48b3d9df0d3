"""What the plugin refuses, what it says then, and that nothing is lost by it."""

import json
import os
import random
import re
import shutil
import subprocess

import pytest
from abilities import needs
from golds import NEEDS_GOLD, PLUGIN, drive, gold, plugin_flags
from killed import at_call, writing_calls
from linking import MAIN, check_run, compile_text, profile_text, write_profile

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
    ("prophile=x", "unknown option", "profile=FILE"),
    ("profile", "has no value", "profile=VALUE"), ("report=", "has no value", "report=VALUE"),
    *((f"min-match={value}", "is not a percentage", "0 to 100")
      for value in ("most", "101", "-1", "nan"))])
def test_bad_option(refuse, profile, option, message, note):
    """An option that is unknown or malformed is named, and what there is instead."""
    lines = refuse(f"profile={profile}", option)
    assert f"--plugin-opt={option}: {message}" in lines[0]
    assert note in lines[1]


def test_no_profile(refuse):
    assert "no profile" in refuse("min-match=3")[0]


@pytest.mark.parametrize("name, message", [
    ("missing", "No such file or directory"), (".", "Is a directory")])
def test_profile_that_cannot_be_read(tmp_path, refuse, name, message):
    lines = refuse(f"profile={tmp_path / name}")
    assert f"{tmp_path / name}: {message}" in lines[0]
    assert "frontload record" in lines[1]


def test_profile_of_another_program(tmp_path, refuse):
    """No name is found: the link fails before gold has written, and the names are told."""
    profile = write_profile(tmp_path, *(f"x{i}" for i in range(12)))
    line, note, *missing = refuse(f"profile={profile}")
    assert f"{profile}: none of its 12 names is in this link" in line
    assert "belongs to another program, or is out of date: record it again" in note
    assert "min-match" in note
    assert missing == [*(f"  x{i}" for i in range(10)), "  ... and 2 more"]


@pytest.mark.parametrize("options, code", [([], 1), (["min-match=67"], 1), (["min-match=66"], 0)])
def test_threshold(tmp_path, program, options, code):
    """Two of three names are found: enough or not, as min-match says; 80% if it does not."""
    profile = write_profile(tmp_path, "f", "x", "g")
    result = gold("-o", tmp_path / "out", program, plugin=[f"profile={profile}", *options],
                  code=code)
    assert f"{profile}: 2 of 3 names found (66.7%)" in result.stderr
    assert ((tmp_path / "out").read_bytes() == BEFORE.encode()) == (code == 1)


@pytest.mark.parametrize("report", ["app.startup", "out", "nowhere/report"])
def test_report_that_cannot_be_written(tmp_path, refuse, profile, report):
    """A report must not replace a file of the link, and needs a folder."""
    lines = refuse(f"profile={profile}", f"report={tmp_path / report}")
    assert str(tmp_path / report) in lines[0]
    assert profile.read_text() == profile_text("f", "g")


@pytest.mark.parametrize("option", ["report=/dev/full", "no-such-option=1"])
@pytest.mark.parametrize("kind", ["percent", "link"])
def test_previous_output_of_any_name(tmp_path, program, profile, option, kind):
    """It is there also if the link has come to its end; in a folder whose name LLVM would take for
    a model of names, and if it is a link."""
    folder = tmp_path / "100%"
    folder.mkdir()
    out = folder / "out"
    if kind == "link":
        (folder / "target").write_text(BEFORE)
        out.symlink_to("target")
    else:
        out.write_text(BEFORE)
    files = set(os.listdir(folder))
    result = gold("-o", out, program, plugin=[f"profile={profile}", option], code=1)
    assert ("/dev/full: No space left on device" in result.stderr) == ("full" in option)
    assert out.read_text() == BEFORE
    assert out.is_symlink() == (kind == "link")
    assert set(os.listdir(folder)) == files


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


@pytest.mark.parametrize("fails", [True, False])
def test_a_link_that_fails_by_itself(tmp_path, program, fails):
    """gold says what it has to say, the previous output and report stay, and nothing else does."""
    text = "int missing(void); int main(void) { return missing(); }\n"
    o = compile_text(tmp_path, "p.c", text) if fails else program
    report = tmp_path / "report"
    report.write_text(BEFORE)
    profile = write_profile(tmp_path, "main" if fails else "f")
    files = set(os.listdir(tmp_path))
    said = gold("-o", tmp_path / "out", o, plugin=[f"profile={profile}", f"report={report}"],
                code=int(fails)).stderr
    if fails:
        assert "undefined reference to 'missing'" in said
    else:
        assert said == f"frontload-gold: {profile}: 1 of 1 names found (100.0%)\n"
    assert (report.read_text() == BEFORE) == fails
    assert ((tmp_path / "out").read_bytes() == BEFORE.encode()) == fails
    assert set(os.listdir(tmp_path)) == files


@pytest.fixture
def idle(tmp_path):
    """A plugin that does nothing: with any, gold itself crashes if there is no object at all."""
    source = compile_text(tmp_path, "idle.c", "int onload(void *calls) { return calls == 0; }\n",
                          "-fPIC")
    check_run("gcc", "-shared", source, "-o", tmp_path / "idle.so")
    return f"--plugin={tmp_path / 'idle.so'}"


def test_damaged_objects_are_left_to_gold(tmp_path, idle):
    """What gold refuses, it refuses with the plugin, too, and what it accepts never crashes. Some
    of what it refuses it reads beyond the end, where it looks at sections twice, as here and for
    --gc-sections: whether that ends in a message or a crash is up to what lies there."""
    o = compile_text(tmp_path, "o.c", "static int t[9]; int f(int x) { return t[x]; }\n" + SOURCE
                     .replace("void f(void) {}", "").replace("f();", "f(1);"))
    good, bad = o.read_bytes(), tmp_path / "bad.o"
    profile = write_profile(tmp_path, "f", "g", "t")
    chance = random.Random(1)
    for round in range(60):
        damaged = bytearray(good[:chance.randrange(len(good))] if round % 10 == 0 else good)
        for _ in range(chance.choice([1, 4, 20])):
            if damaged:
                damaged[chance.randrange(len(damaged))] = chance.choice([0, 1, 0x7f, 0xff])
        bad.write_bytes(damaged)
        alone = gold("-o", tmp_path / "alone", bad, idle)
        together = gold("-o", tmp_path / "together", bad,
                        plugin=[f"profile={profile}", "min-match=0"])
        assert together.returncode or not alone.returncode, (round, alone, together)
        assert together.returncode >= 0 or alone.returncode, (round, alone, together)


@needs("program:ld.bfd")
@pytest.mark.parametrize("option", ["profile=missing", "nonsense"])
def test_gnu_ld_links_on(tmp_path, option):
    """GNU ld does not accept an order: one line says so, and the output is that of a plain link."""
    o = compile_text(tmp_path, "o.c", MAIN)
    plain = drive(tmp_path / "plain", o, linker="bfd")
    assert plain.stdout + plain.stderr == ""
    result = drive(tmp_path / "out", o, *plugin_flags(None, option), linker="bfd")
    assert re.fullmatch(".*does not accept an order.*\n", result.stdout + result.stderr)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes()


def test_version():
    """gold loads its plugins before it says who it is."""
    assert "GNU gold" in gold("--version", f"--plugin={PLUGIN}").stdout
