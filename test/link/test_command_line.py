"""The options of ld.frontload, and what it says to bad ones."""

import json
import os
import shutil

import pytest
from linking import TWO_FUNCTIONS, Image, bare_front, compile_text, ld, profile_text, write_profile
from whole import file_offset


@pytest.fixture
def profile(tmp_path):
    return write_profile(tmp_path, "main")


@pytest.mark.parametrize("text, where, what", [
    ("", ":1:", "not a startup profile"),
    ("frontload-startup-profile 1\n", ":1:", "version 1"),
    (profile_text("main")[:-3], ":1:", "truncated"),
    (profile_text("main") + "function\ttext\t1\t+1\n", ":6:", "6 or 7 fields"),
    (profile_text("main") + "thing\ttext\t1\t+1\t-\tx\n", ":6:", "unknown kind"),
    (profile_text("main") + "function\tcode\t1\t+1\t-\tx\n", ":6:", "unknown section class"),
    (profile_text("main") + "function\ttext\t2\t+1\t-\tx\n", ":6:", "touched by 2 of 1 runs"),
    (profile_text("main") + "data\trodata\t1\t+1\t-\tx\n", ":6:", "touched by 1 of 0 runs"),
    (profile_text("main").replace("data-runs 0", "data-runs x"), ":4:", "bad number"),
    (profile_text("main", data_runs=2), ":5:", "2 of 1 runs have data"),
    (profile_text("main", ("section", "rodata", "x")), ":6:", "without its object"),
    (profile_text("main") + "function\ttext\t1\t+1\t-\ta\\q\n", ":6:", "bad escape"),
    (profile_text("main") + "function\ttext\t1\t+1\t-\t\n", ":6:", "empty name"),
    (profile_text(), "", "no names"),
])
def test_corrupt_profile(tmp_path, refused, text, where, what):
    """The line is named; exit code 65. For one that cannot be read, the system's reason."""
    profile = tmp_path / "bad.startup"
    profile.write_text(text)
    message = refused(f"--startup-profile={profile}", code=65)
    assert f"bad.startup{where}" in message and what in message
    assert "No such file" in refused(f"--startup-profile={tmp_path / 'none'}")


def test_stale_profile_fails_the_link(tmp_path, refused, program):
    """Below four fifths found, or what --min-match says; 0 accepts everything. Strings alone are
    no names that count. Each link tells what it has found."""
    said = bare_front(tmp_path, program, entries=("main", "gone\\n", "helper", "main", "main")).said
    assert "4 of 5 names found (80.0%); missing: gone\\n" in said
    profile = f"--startup-profile={write_profile(tmp_path, ('string', 'rodata', 'hello'))}"
    assert "no names that a link could place" in refused(profile, code=1)
    profile = f"--startup-profile={write_profile(tmp_path, 'not_here', 'nor_here')}"
    assert "none of its 2 names" in refused(profile, code=1)
    ld(program, "-o", tmp_path / "out", "-e", "main", profile, "--min-match", "0")
    write_profile(tmp_path, "main", *(f"gone{i}" for i in range(12)))
    assert "1 of 13 names found (7.7%)" in refused(profile, code=1)
    assert "1 of 13" in refused(profile, "--min-match=7.8", code=1)
    result = ld(program, "-o", tmp_path / "out", "-e", "main", profile, code=1)
    *missing, last = result.stderr.splitlines()[2:]
    assert missing == [f"  gone{i}" for i in range(10)] and last == "  ... and 2 more"
    ld(program, "-o", tmp_path / "out", "-e", "main", profile, "--min-match=7.5")


def test_names_that_have_faded_and_are_gone_do_not_count(tmp_path, refused, program):
    """What only older generations touched may be gone; what the newest one touched may not."""
    profile = tmp_path / "app.startup"
    gone = "".join(f"function\ttext\t1@{{runs}}\t+1\t-\tgone{n}\n" for n in range(3))
    head = ("frontload-startup-profile 5\nprogram app\nruns 3\ngenerations 2:1:0 1:1:0\n"
            "function\ttext\t3@1,1\t+1\t-\tmain\nfunction\ttext\t1@0,1\t+1\t-\thelper\n")
    profile.write_text(head + gone.format(runs="0,1"))
    result = ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}")
    assert result.stderr.endswith(": 2 of 2 names found (100.0%); not counted: 3 names that starts "
                                  "touch no more and that are gone\n")
    profile.write_text(head + gone.format(runs="1,0").replace("\t1@", "\t2@"))
    assert "2 of 5 names found (40.0%)" in refused(f"--startup-profile={profile}", code=1)


@pytest.mark.parametrize(("flag", "message"), [
    *((f"--min-match={v}", "is not a number from 0 to 100") for v in ("", "many", "101", "nan")),
    # Two orders cannot both be had, and a silent choice would be wrong for somebody.
    *((flag, flag.replace("-zno", "-z no")) for flag in (
        "-N", "--symbol-ordering-file=x", "-shuffle-sections=*=1", "--unique",
        "-znosectionheader", "--enable-non-contiguous-regions", "--lld=ld.lld-19"))])
def test_options_that_are_refused(refused, profile, flag, message):
    assert message in refused(f"--startup-profile={profile}", flag)


@pytest.mark.parametrize("how", ["-T", "--default-script", "as an input", "included"])
def test_scripts_that_decide_the_layout_are_refused(tmp_path, refused, profile, how):
    """Each of the two would take what the other means to place."""
    script, outer = tmp_path / "layout.ld", tmp_path / "outer.ld"
    script.write_text("SECTIONS { .mine : { *(.text .text.*) } } INSERT AFTER .data;\n")
    # lld reads it in the place of the line that names it.
    outer.write_text(f"x = 1;\nINCLUDE {script}\n")
    given = {"as an input": [script], "included": [outer]}.get(how) or [how, script]
    assert "layout.ld" in refused(f"--startup-profile={profile}", *given)


@pytest.mark.parametrize("assignment, places", [
    ("_end = ADDR(.bss); end = _end + 1; edata = _end + 2; _etext = end + 2;",
     {"_end": 0, "end": 1, "edata": 2, "_etext": 3}),
    ("INCLUDE {folder}/end.ld", {"_end": 16, "end": 5})])
def test_a_script_may_set_the_end_itself(tmp_path, assignment, places):
    """Small systems keep room for a stack before it; what their script says holds."""
    program = compile_text(tmp_path, "a.c", TWO_FUNCTIONS + "extern char _end[];\n"
                           "char zeroes[16];\nchar *end_of_program(void) { return _end; }\n")
    script = tmp_path / "outer.ld"
    (tmp_path / "end.ld").write_text("end = ADDR(.bss) + 5;")
    script.write_text(assignment.format(folder=tmp_path))
    image = bare_front(tmp_path, program, script).image
    begin = image.sections[".bss"]["sh_addr"]
    assert image.sections[".bss"]["sh_size"] == 16
    assert {name: image.symbols[name].address - begin for name in places} == places


@pytest.mark.parametrize("given", ["=app.startup", "-dir=."])
def test_relocatable_links_are_left_alone(tmp_path, program, profile, given):
    """-r has no layout, and the flags of a build reach it all the same."""
    ld("-r", program, "-o", "app", f"--startup-profile{given}", cwd=tmp_path)
    ld("-r", program, "-o", tmp_path / "plain.o")
    assert (tmp_path / "app").read_bytes() == (tmp_path / "plain.o").read_bytes()


def test_report(tmp_path, program):
    """It tells what was placed and why names were not found."""
    asm = compile_text(tmp_path, "b.s", ".section .init\n.globl early\nearly: nop\n"
                       ".section .text\n.globl user\nuser: call outside\n")
    linked = bare_front(tmp_path, program, asm, "-shared", "--min-match=0",
                        entries=("main", "gone", "early", "outside", "helper"))
    assert linked.report["schema"] == "frontload-front-report/1"
    assert linked.report["classes"]["text"]["sections"] == 2 and linked.report["objects"] == 1
    assert {k: linked.names[k] for k in ("total", "placed", "unmovable")} == {
        "total": 5, "placed": 2, "unmovable": 1}
    assert {(m["name"], m["reason"]) for m in linked.names["missing"]} == {
        ("gone", "not defined"), ("outside", "not defined")}
    # What follows the front begins on the next page.
    assert file_offset(linked.path, linked.image.code_end) == linked.end


def test_reports_that_are_refused(tmp_path, refused, program, profile):
    """Before the link, like any bad argument; a slip costs neither output nor profile."""
    assert "without a profile" in refused(f"--front-report={tmp_path / 'r.json'}")
    given, before = f"--startup-profile={profile}", profile.read_text()
    for target in (tmp_path / "out", profile):
        assert "replace" in refused(given, f"--front-report={target}")
    assert profile.read_text() == before
    ld(program, "-o", tmp_path / "new", "-e", "main", given,
       f"--front-report={tmp_path / 'new'}", code=2)
    assert not (tmp_path / "new").exists()


def test_report_through_a_link_and_to_a_pipe(tmp_path, program, profile):
    """What the path is stays what it is; only the contents are new."""
    real, alias = tmp_path / "real.json", tmp_path / "alias.json"
    alias.symlink_to(real)
    arguments = (program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}")
    ld(*arguments, f"--front-report={alias}")
    assert alias.is_symlink() and json.loads(real.read_text())["schema"]
    assert json.loads(ld(*arguments, "--front-report=/dev/stdout").stdout)["schema"]


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_what_is_not_a_link_touches_no_file(tmp_path, program, profile, flag):
    """A file with the output's name stays, although its data lies behind its code."""
    output = tmp_path / "out"
    ld(program, compile_text(tmp_path, "data.c", "int data = 3;\n"), "-o", output, "-e", "main")
    before = output.read_bytes()
    said = ld(f"--startup-profile={profile}", "-o", output, flag, code=None).stdout
    assert output.read_bytes() == before
    # Build systems tell linkers apart by the version; the help has both kinds of options.
    for text in ("--startup-profile=FILE", "--gc-sections") if flag == "--help" else ["LLD 22"]:
        assert text in said


@pytest.mark.parametrize("given", ["=app.startup", "-dir=."])
def test_dependencies_list_the_profile(tmp_path, program, profile, given):
    """A build that asks the linker what it has read links again when the profile has changed."""
    ld(program, "-e", "main", "-o", "app", "--dependency-file=depends",
       f"--startup-profile{given}", cwd=tmp_path)
    listed = (tmp_path / "depends").read_text().partition("\n\n")[0]
    assert listed.endswith("app.startup") and str(program) in listed


def test_a_profile_from_a_pipe_is_read_once(tmp_path, program):
    """As a shell gives it by <(command)."""
    ld(program, "-e", "main", "-o", tmp_path / "app", "--startup-profile=/dev/stdin",
       input=profile_text("main"))
    assert Image(tmp_path / "app").section_of("main") == ".text.front"


def test_corrupt_object_is_left_to_lld(tmp_path, program, profile):
    """lld's message for a bad object comes as it is, whatever a profile says."""
    for cut in (10, program.stat().st_size - 70):
        bad = shutil.copy(program, tmp_path / "bad.o")
        os.truncate(bad, cut)
        plain = ld(bad, "-o", tmp_path / "out", code=1)
        front = ld(program, bad, "-o", tmp_path / "out", "-e", "main",
                   f"--startup-profile={profile}", code=1)
        assert front.stderr.splitlines()[0] in plain.stderr


@pytest.mark.parametrize("output", ["-", "/dev/stdout", "fifo"])
def test_an_output_that_is_no_file_is_refused(tmp_path, program, profile, output):
    """It could neither be checked nor get its note; a pipe would make the link wait for ever."""
    if output == "fifo":
        output = tmp_path / "fifo"
        os.mkfifo(output)
    result = ld(program, "-e", "main", "-o", output, f"--startup-profile={profile}", code=2)
    assert "only be laid out in a file" in result.stderr
