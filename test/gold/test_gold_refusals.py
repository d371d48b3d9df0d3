"""What the plugin refuses, what it says then, and that nothing is lost by it."""

import json
import os
import random
import shutil
import subprocess

import pytest
from golds import GOLD, PLUGIN, drive, gold, link_gold, needs_gold, plugin_flags
from killed import at_call, writing_calls
from linking import Image, check_run, compile_text, profile_text, write_profile

pytestmark = needs_gold()

SOURCE = "void f(void) {} void g(void) {} void _start(void) { f(); g(); }\n"
BEFORE = "what was linked before"


@pytest.fixture
def program(tmp_path):
    """An object that gold links as it is; and a previous output."""
    (tmp_path / "out").write_text(BEFORE)
    return compile_text(tmp_path, "o.c", SOURCE)


def refuse(folder, *arguments, options):
    """Links by gold itself, which must refuse; returns what it says, a line each."""
    files = set(os.listdir(folder))
    result = gold("-o", folder / "out", *arguments, f"--plugin={PLUGIN}",
                  *(f"--plugin-opt={option}" for option in options), code=1)
    assert (folder / "out").read_text() == BEFORE
    assert set(os.listdir(folder)) == files
    lines = result.stderr.splitlines()
    assert "fatal error: frontload-gold: " in lines[0]
    assert lines[1].startswith("frontload-gold: note: ")
    assert all(line.startswith("  ") for line in lines[2:])
    return lines


@pytest.mark.parametrize("option, message, note", [
    ("prophile=x", "--plugin-opt=prophile=x: unknown option", "profile=FILE"),
    ("profile", "--plugin-opt=profile: has no value", "profile=VALUE"),
    ("report=", "--plugin-opt=report=: has no value", "report=VALUE"),
    ("min-match=most", "--plugin-opt=min-match=most: is not a percentage", "0 to 100"),
    ("min-match=101", "--plugin-opt=min-match=101: is not a percentage", "0 to 100"),
    ("min-match=-1", "--plugin-opt=min-match=-1: is not a percentage", "0 to 100"),
    ("min-match=nan", "--plugin-opt=min-match=nan: is not a percentage", "0 to 100"),
])
def test_bad_option(tmp_path, program, option, message, note):
    """An option that is unknown or malformed is named, and what there is instead."""
    profile = write_profile(tmp_path, "f")
    lines = refuse(tmp_path, program, options=[f"profile={profile}", option])
    assert message in lines[0]
    assert note in lines[1]


def test_no_profile(tmp_path, program):
    assert "no profile" in refuse(tmp_path, program, options=["min-match=3"])[0]


@pytest.mark.parametrize("name, message", [
    ("missing", "No such file or directory"), (".", "Is a directory")])
def test_profile_that_cannot_be_read(tmp_path, program, name, message):
    lines = refuse(tmp_path, program, options=[f"profile={tmp_path / name}"])
    assert f"{tmp_path / name}: {message}" in lines[0]
    assert "frontload record" in lines[1]


@pytest.mark.parametrize("text, message", [
    (b"", ":1: not a startup profile"),
    (b"\x7fELF\0\0", ":1: not a startup profile"),
    (profile_text("f").replace("profile 2", "profile 6").encode(), ":1: "),
    (profile_text("f").encode() + b"function\ttext\t0\n", ":6: "),
    (profile_text().encode(), ": the profile has no names"),
])
def test_profile_that_is_none(tmp_path, program, text, message):
    """The message has the file, and the line if it is one line."""
    profile = tmp_path / "bad.startup"
    profile.write_bytes(text)
    assert f"{profile}{message}" in refuse(tmp_path, program, options=[f"profile={profile}"])[0]


def test_profile_of_another_program(tmp_path, program):
    """No name is found: the link fails before gold has written, and the names are told."""
    profile = write_profile(tmp_path, *(f"x{i}" for i in range(12)))
    line, note, *missing = refuse(tmp_path, program, options=[f"profile={profile}"])
    assert f"{profile}: none of its 12 names is in this link" in line
    assert "belongs to another program, or is out of date: record it again" in note
    assert "min-match" in note
    assert missing == [*(f"  x{i}" for i in range(10)), "  ... and 2 more"]


@pytest.mark.parametrize("threshold, code", [(None, 1), (67, 1), (66, 0), (0, 0)])
def test_threshold(tmp_path, program, threshold, code):
    """Two of three names are found: enough or not, as min-match says; 80% if it does not."""
    profile = write_profile(tmp_path, "f", "x", "g")
    options = [] if threshold is None else [f"--plugin-opt=min-match={threshold}"]
    result = gold("-o", tmp_path / "out", program, f"--plugin={PLUGIN}",
                  f"--plugin-opt=profile={profile}", *options, code=code)
    assert f"{profile}: 2 of 3 names found (66.7%)" in result.stderr
    assert ((tmp_path / "out").read_bytes() == BEFORE.encode()) == (code == 1)


def test_no_name_is_found_and_that_is_allowed(tmp_path, program):
    """Then the order is that of a plain link."""
    profile = write_profile(tmp_path, "x")
    gold("-o", tmp_path / "out", program, f"--plugin={PLUGIN}",
         f"--plugin-opt=profile={profile}", "--plugin-opt=min-match=0", code=0)
    gold("-o", tmp_path / "plain", program, code=0)
    image, plain = Image(tmp_path / "out"), Image(tmp_path / "plain")
    assert image.matching("") == plain.matching("")


@pytest.mark.parametrize("report", ["app.startup", "out", "nowhere/report"])
def test_report_that_cannot_be_written(tmp_path, program, report):
    """A report must not replace a file of the link, and needs a folder."""
    profile = write_profile(tmp_path, "f", "g")
    lines = refuse(tmp_path, program,
                   options=[f"profile={profile}", f"report={tmp_path / report}"])
    assert str(tmp_path / report) in lines[0]
    assert profile.read_text() == profile_text("f", "g")


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", ["percent", "link"])
def test_previous_output_of_any_name(tmp_path, late, kind):
    """Also in a folder whose name LLVM would take for a model of names, and if it is a link."""
    program = compile_text(tmp_path, "o.c", SOURCE)
    folder = tmp_path / "100%"
    folder.mkdir()
    out = folder / "out"
    if kind == "link":
        (folder / "target").write_text(BEFORE)
        out.symlink_to("target")
    else:
        out.write_text(BEFORE)
    files = set(os.listdir(folder))
    (tmp_path / "full").symlink_to("/dev/full")
    option = f"report={tmp_path / 'full'}" if late else "no-such-option=1"
    gold("-o", out, program, f"--plugin={PLUGIN}",
         f"--plugin-opt=profile={write_profile(tmp_path, 'f', 'g')}", f"--plugin-opt={option}",
         code=1)
    assert out.read_text() == BEFORE
    assert out.is_symlink() == (kind == "link")
    assert set(os.listdir(folder)) == files


def test_report_that_fails_late(tmp_path, program):
    """The previous output is there also if the link has come to its end."""
    profile = write_profile(tmp_path, "f", "g")
    result = gold("-o", tmp_path / "out", program, f"--plugin={PLUGIN}",
                  f"--plugin-opt=profile={profile}", "--plugin-opt=report=/dev/full", code=1)
    assert "/dev/full: No space left on device" in result.stderr
    assert (tmp_path / "out").read_text() == BEFORE


def test_killed_at_any_call(tmp_path, program, strace):
    """gold writes its output in place. Until that is whole the previous one is there, under its own
    name or beside it; a report is the old one or, behind a whole output, the new one."""
    profile = write_profile(tmp_path, "f", "g")
    folder = tmp_path / "files"
    out, report = folder / "out", folder / "report"
    command = [GOLD, "-o", out, program, f"--plugin={PLUGIN}", f"--plugin-opt=profile={profile}",
               f"--plugin-opt=report={report}"]

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
def test_two_orders(tmp_path, program, flag):
    """gold would forget one of them without a word."""
    (tmp_path / "order").write_text(".text.g\n")
    profile = write_profile(tmp_path, "f", "g")
    (tmp_path / "response").write_text(flag.replace("=order", f"={tmp_path / 'order'}"))
    lines = refuse(tmp_path, program, f"@{tmp_path / 'response'}",
                   options=[f"profile={profile}"])
    assert "cannot be combined" in lines[0]


def test_a_link_that_fails_by_itself(tmp_path):
    """gold says what it has to say, and nothing stays behind."""
    o = compile_text(tmp_path, "o.c", "int missing(void); int main(void) { return missing(); }\n")
    profile = write_profile(tmp_path, "main")
    files = set(os.listdir(tmp_path))
    result = drive(tmp_path / "out", o, *plugin_flags(profile), code=1)
    assert "undefined reference to 'missing'" in result.stderr
    assert set(os.listdir(tmp_path)) == files


@pytest.mark.parametrize("fails", [True, False])
def test_report_of_a_link_that_fails_by_itself(tmp_path, program, fails):
    """There is none, the previous ones stay, and nothing else does."""
    text = "int missing(void); int main(void) { return missing(); }\n"
    o = compile_text(tmp_path, "p.c", text) if fails else program
    report = tmp_path / "report"
    report.write_text(BEFORE)
    profile = write_profile(tmp_path, "main" if fails else "f")
    files = set(os.listdir(tmp_path))
    gold("-o", tmp_path / "out", o, f"--plugin={PLUGIN}", f"--plugin-opt=profile={profile}",
         f"--plugin-opt=report={report}", code=int(fails))
    assert (report.read_text() == BEFORE) == fails
    assert ((tmp_path / "out").read_bytes() == BEFORE.encode()) == fails
    assert set(os.listdir(tmp_path)) == files


def test_success_leaves_nothing_behind(tmp_path, program):
    profile = write_profile(tmp_path, "f", "g")
    files = set(os.listdir(tmp_path))
    result = gold("-o", tmp_path / "out", program, f"--plugin={PLUGIN}",
                  f"--plugin-opt=profile={profile}", code=0)
    assert result.stderr == f"frontload-gold: {profile}: 2 of 2 names found (100.0%)\n"
    assert set(os.listdir(tmp_path)) == files


@pytest.fixture
def idle(tmp_path):
    """A plugin that does nothing: with any, gold itself crashes if there is no object at all."""
    source = tmp_path / "idle.c"
    source.write_text("int onload(void *calls) { return calls == 0; }\n")
    check_run("gcc", "-shared", "-fPIC", source, "-o", tmp_path / "idle.so")
    return f"--plugin={tmp_path / 'idle.so'}"


def test_damaged_objects_are_left_to_gold(tmp_path, idle):
    """What gold refuses, it refuses with the plugin, too, and what it accepts never crashes. Some
    of what it refuses it reads beyond the end, where it looks at sections twice, as here and for
    --gc-sections: whether that ends in a message or a crash is up to what lies there."""
    o = compile_text(tmp_path, "o.c", "static int t[9]; int f(int x) { return t[x]; }\n" + SOURCE
                     .replace("void f(void) {}", "").replace("f();", "f(1);"))
    good = o.read_bytes()
    profile = write_profile(tmp_path, "f", "g", "t")
    chance = random.Random(1)
    bad = tmp_path / "bad.o"
    for round in range(150):
        damaged = bytearray(good[:chance.randrange(len(good))] if round % 10 == 0 else good)
        for _ in range(chance.choice([1, 4, 20])):
            if damaged:
                damaged[chance.randrange(len(damaged))] = chance.choice([0, 1, 0x7f, 0xff])
        bad.write_bytes(damaged)
        alone = gold("-o", tmp_path / "alone", bad, idle)
        together = gold("-o", tmp_path / "together", bad, f"--plugin={PLUGIN}",
                        f"--plugin-opt=profile={profile}", "--plugin-opt=min-match=0")
        assert together.returncode or not alone.returncode, (round, alone, together)
        assert together.returncode >= 0 or alone.returncode, (round, alone, together)


def test_damaged_archive_is_left_to_gold(tmp_path, idle):
    o = compile_text(tmp_path, "o.c", SOURCE)
    archive = tmp_path / "lib.a"
    check_run("ar", "rcs", archive, o)
    good = archive.read_bytes()
    profile = write_profile(tmp_path, "f", "g")
    for cut in range(0, len(good), 37):
        archive.write_bytes(good[:cut])
        alone = gold("-u", "_start", archive, "-o", tmp_path / "alone", idle)
        together = gold("-u", "_start", archive, "-o", tmp_path / "together",
                        f"--plugin={PLUGIN}", f"--plugin-opt=profile={profile}",
                        "--plugin-opt=min-match=0")
        assert together.returncode == alone.returncode, (cut, alone, together)


@pytest.mark.parametrize("options", [["profile=missing"], ["nonsense"]])
def test_gnu_ld_links_on(tmp_path, options):
    """GNU ld does not accept an order: one line says so, and the output is that of a plain link."""
    o = compile_text(tmp_path, "o.c", "int main(void) { return 0; }\n")
    if shutil.which("ld.bfd") is None:
        pytest.skip("needs ld.bfd (Debian: binutils)")
    plain = drive(tmp_path / "plain", o, linker="bfd")
    assert plain.stdout + plain.stderr == ""
    result = drive(tmp_path / "out", o, *plugin_flags(None, *options), linker="bfd")
    lines = (result.stdout + result.stderr).splitlines()
    assert len(lines) == 1
    assert "does not accept an order" in lines[0]
    assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes()


def test_odd_output_names(tmp_path, program):
    """What is no file cannot be kept, and need not be."""
    profile = write_profile(tmp_path, "x")
    gold("-o", "/dev/null", program, f"--plugin={PLUGIN}", f"--plugin-opt=profile={profile}",
         code=1)
    assert not os.path.isfile("/dev/null")


def test_version(tmp_path):
    """gold loads its plugins before it says who it is."""
    assert GOLD
    assert "GNU gold" in gold("--version", f"--plugin={PLUGIN}").stdout
    link_gold(tmp_path / "out", compile_text(tmp_path, "o.c", "int main(void) { return 0; }\n"),
              profile=write_profile(tmp_path, "main"))
