"""The options of ld.frontload, and what it says to bad ones."""

import json
import os
import resource
import shutil

import pytest
from linking import (
    ALWAYS,
    BUILD,
    LD_FRONTLOAD,
    TWO_FUNCTIONS,
    Image,
    check_run,
    compile_text,
    ld,
    link,
    profile_text,
    write_profile,
)
from places import LLVM


@pytest.mark.parametrize(("given", "meant"), [
    ("--startup-profle=x", "--startup-profile"),
    ("--startup_profile-dir=x", "--startup-profile-dir"),
    ("--front-prefech", "--front-prefetch"), ("--minmatch=80", "--min-match")])
def test_a_mistyped_option_of_ours(tmp_path, program, given, meant):
    """lld does not know our options, so it could not say which was meant."""
    result = ld(program, "-o", tmp_path / "out", given, code=2)
    assert result.stderr == (f"ld.frontload: error: {given}: unknown option\n"
                             f"ld.frontload: note: did you mean {meant}?\n")
    assert not (tmp_path / "out").exists()


def test_a_mistyped_option_of_llds(tmp_path, program):
    """What is not near to one of ours is for lld to refuse."""
    result = ld(program, "-o", tmp_path / "out", "--gc-section", code=1)
    assert "unknown argument '--gc-section', did you mean '--gc-sections'" in result.stderr


def refused(tmp_path, program, profile, code: int, *flags):
    """Links with a profile that must be refused; an output that was there must stay as it was."""
    output = tmp_path / "out"
    output.write_text("precious")
    result = ld(program, "-o", output, "-e", "main", f"--startup-profile={profile}", *flags,
                code=code)
    assert output.read_text() == "precious"
    lines = result.stderr.splitlines()
    assert lines[0].startswith("ld.frontload: error: ")
    assert lines[1].startswith("ld.frontload: note: ")
    assert all(line.startswith("  ") for line in lines[2:])
    return lines[0]


def test_missing_profile(tmp_path, program):
    """It is named, with the system's reason, and nothing is linked."""
    assert "No such file" in refused(tmp_path, program, tmp_path / "none", 2)


def test_folder_in_place_of_a_profile(tmp_path, program):
    assert "directory" in refused(tmp_path, program, tmp_path, 2)


@pytest.mark.parametrize("text, where, what", [
    ("", ":1:", "not a startup profile"),
    ("\x7fELF\x02\x01\x01", ":1:", "not a startup profile"),
    ("frontload-startup-profile 1\n", ":1:", "version 1"),
    ("frontload-startup-profile x\n", ":1:", "bad version"),
    (profile_text("main")[:-3], ":1:", "truncated"),
    (profile_text("main") + "function\ttext\t1\t+1\n", ":6:", "6 or 7 fields"),
    (profile_text("main") + "thing\ttext\t1\t+1\t-\tx\n", ":6:", "unknown kind"),
    (profile_text("main") + "function\tcode\t1\t+1\t-\tx\n", ":6:", "unknown section class"),
    (profile_text("main") + "function\ttext\t0\t+1\t-\tx\n", ":6:", "number of runs"),
    (profile_text("main") + "function\ttext\t1\t1\t-\tx\n", ":6:", "rank step"),
    (profile_text("main") + "function\ttext\t1\t+1\t9/1\tx\n", ":6:", "touched bytes"),
    (profile_text("main") + "function\ttext\t2\t+1\t-\tx\n", ":6:", "touched by 2 of 1 runs"),
    (profile_text("main") + "data\trodata\t1\t+1\t-\tx\n", ":6:", "touched by 1 of 0 runs"),
    (profile_text("main").replace("data-runs 0", "data-runs x"), ":4:", "bad number"),
    (profile_text("main", data_runs=2), ":5:", "2 of 1 runs have data"),
    (profile_text("main", ("section", "rodata", "x")), ":6:", "without its object"),
    (profile_text("main") + "function\ttext\t1\t+1\t-\ta\\q\n", ":6:", "bad escape"),
    (profile_text("main") + "function\ttext\t1\t+1\t-\t\n", ":6:", "empty name"),
    (profile_text(), "", "no names"),
])
def test_corrupt_profile(tmp_path, program, text, where, what):
    """The line is named; exit code 65."""
    profile = tmp_path / "bad.startup"
    profile.write_text(text)
    message = refused(tmp_path, program, profile, 65)
    assert f"bad.startup{where}" in message and what in message


def test_profile_of_another_program(tmp_path, program):
    """If no name is found the link fails, and the old output stays."""
    profile = write_profile(tmp_path, "not_here", "nor_here")
    assert "none of its 2 names" in refused(tmp_path, program, profile, 1)


def test_every_link_tells_how_much_it_has_found(tmp_path, program):
    """And, if not all, what it has not."""
    profile = write_profile(tmp_path, "main", "helper")
    result = ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}")
    assert result.stderr == f"ld.frontload: {profile}: 2 of 2 names found (100.0%)\n"
    profile = write_profile(tmp_path, "main", "gone\\n", "helper", "main", "main")
    result = ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}")
    assert "4 of 5 names found (80.0%); missing: gone\\n" in result.stderr


def test_what_does_not_count_is_told(tmp_path):
    """Strings are told by the output, and a section with a name of its own keeps its place."""
    program = compile_text(tmp_path, "a.c", "__attribute__((section(\"own\"))) int kept(void) "
                           "{ return 0; }\nint main(void) { return kept(); }\n")
    profile = write_profile(tmp_path, "main", "kept", ("string", "rodata", "a"),
                            ("string", "rodata", "b"))
    result = ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}")
    assert result.stderr.endswith(": 1 of 1 names found (100.0%); not counted: 2 strings, "
                                  "1 name in sections that keep their place\n")


def test_stale_profile_fails_the_link(tmp_path, program):
    """Below four fifths found, or what --min-match says; 0 accepts everything."""
    names = ["main", *(f"gone{i}" for i in range(12))]
    profile = write_profile(tmp_path, *names)
    assert "1 of 13 names found (7.7%)" in refused(tmp_path, program, profile, 1)
    assert "1 of 13" in refused(tmp_path, program, profile, 1, "--min-match=7.8")
    result = ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}",
                code=1)
    *missing, last = result.stderr.splitlines()[2:]
    assert missing == [f"  gone{i}" for i in range(10)] and last == "  ... and 2 more"
    for least in ("7.5", "0"):
        ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}",
           f"--min-match={least}")
    profile = write_profile(tmp_path, "not_here")
    ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}",
       "--min-match", "0")


def test_names_that_have_faded_and_are_gone_do_not_count(tmp_path, program):
    """What only older generations touched may have gone from the program; what the newest one
    touched has to be there."""
    profile = tmp_path / "app.startup"
    gone = "".join(f"function\ttext\t1@{{runs}}\t+1\t-\tgone{n}\n" for n in range(3))
    head = ("frontload-startup-profile 5\nprogram app\nruns 3\ngenerations 2:1:0 1:1:0\n"
            "function\ttext\t3@1,1\t+1\t-\tmain\nfunction\ttext\t1@0,1\t+1\t-\thelper\n")
    profile.write_text(head + gone.format(runs="0,1"))
    result = ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}")
    assert result.stderr.endswith(": 2 of 2 names found (100.0%); not counted: 3 names that starts "
                                  "touch no more and that are gone\n")
    profile.write_text(head + gone.format(runs="1,0").replace("\t1@", "\t2@"))
    assert "2 of 5 names found (40.0%)" in refused(tmp_path, program, profile, 1)


def test_a_profile_that_places_nothing_is_no_success(tmp_path, program):
    """Strings alone make no front, wherever they are from."""
    profile = write_profile(tmp_path, ("string", "rodata", "hello"))
    assert "no names that a link could place" in refused(tmp_path, program, profile, 1)
    ld(program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}",
       "--min-match=0")


@pytest.mark.parametrize("value", ["", "many", "-1", "101", "nan"])
def test_bad_min_match(tmp_path, program, value):
    """A threshold that is no percentage is refused."""
    profile = write_profile(tmp_path, "main")
    message = refused(tmp_path, program, profile, 2, f"--min-match={value}")
    assert "is not a number from 0 to 100" in message


SECTIONS_SCRIPT = "SECTIONS { .mine : { *(.text .text.*) } } INSERT AFTER .data;\n"


@pytest.mark.parametrize("flags", [("-T",), ("--default-script",), ()])
def test_scripts_that_decide_the_layout_are_refused(tmp_path, program, flags):
    """By option or among the inputs: each of the two would take what the other means to place."""
    script = tmp_path / "layout.ld"
    script.write_text(SECTIONS_SCRIPT)
    profile = write_profile(tmp_path, "main")
    assert "layout.ld" in refused(tmp_path, program, profile, 2, *flags, script)


def test_an_included_script_that_decides_the_layout_is_refused(tmp_path, program):
    """lld reads it in the place of the line that names it."""
    (tmp_path / "layout.ld").write_text(SECTIONS_SCRIPT)
    script = tmp_path / "outer.ld"
    script.write_text(f"x = 1;\nINCLUDE {tmp_path}/layout.ld\n")
    profile = write_profile(tmp_path, "main")
    assert "layout.ld" in refused(tmp_path, program, profile, 2, script)


@pytest.mark.parametrize("assignment, places", [
    ("_end = ADDR(.bss) + SIZEOF(.bss) + 0x100;", {"_end": 0x110}),
    ("PROVIDE(_end = ADDR(.bss) + 4);", {"_end": 4}),
    ("_end = ADDR(.bss); end = _end + 1; edata = _end + 2; _etext = end + 2;",
     {"_end": 0, "end": 1, "edata": 2, "_etext": 3}),
    ("end = ADDR(.bss) + 5;", {"_end": 16, "end": 5})])
@pytest.mark.parametrize("is_included", [False, True], ids=["script", "included"])
def test_a_script_may_set_the_end_itself(tmp_path, assignment, places, is_included):
    """Small systems keep room for a stack before it; what their script says holds."""
    program = compile_text(tmp_path, "a.c", TWO_FUNCTIONS + "extern char _end[];\n"
                           "char zeroes[16];\nchar *end_of_program(void) { return _end; }\n")
    script = tmp_path / "end.ld"
    script.write_text(assignment)
    if is_included:
        (tmp_path / "outer.ld").write_text(f"INCLUDE {script}\n")
        script = tmp_path / "outer.ld"
    ld(program, script, "-o", tmp_path / "out", "-e", "main",
       f"--startup-profile={write_profile(tmp_path, 'main')}")
    image = Image(tmp_path / "out")
    begin = image.sections[".bss"]["sh_addr"]
    assert image.sections[".bss"]["sh_size"] == 16
    assert {name: image.symbols[name].address - begin for name in places} == places


def test_scripts_that_name_files_are_no_trouble(tmp_path, program):
    """libc.so is such a script on most systems."""
    script = tmp_path / "libhelper.so"
    script.write_text(f"/* no SECTIONS here */ GROUP ( {program} )\n")
    ld(script, "-o", tmp_path / "out", "-e", "main",
       f"--startup-profile={write_profile(tmp_path, 'main')}")
    assert Image(tmp_path / "out").section_of("main") == ".text.front"


@pytest.mark.parametrize("flag", ["-N", "--omagic", "--symbol-ordering-file=x",
                                  "-shuffle-sections=*=1", "--unique", "-znosectionheader",
                                  "--enable-non-contiguous-regions"])
def test_options_that_decide_the_order_are_refused(tmp_path, program, flag):
    """Two orders cannot both be had, and a silent choice would be wrong for somebody."""
    message = refused(tmp_path, program, write_profile(tmp_path, "main"), 2, flag)
    assert flag.replace("-zno", "-z no") in message


def test_relocatable_links_are_left_alone(tmp_path, program):
    """-r has no layout, and the flags of a build reach it all the same."""
    profile = write_profile(tmp_path, "main")
    ld("-r", program, "-o", tmp_path / "r.o", f"--startup-profile={profile}")
    ld("-r", program, "-o", tmp_path / "plain.o")
    assert (tmp_path / "r.o").read_bytes() == (tmp_path / "plain.o").read_bytes()


def test_report_without_profile_is_refused(tmp_path, program):
    result = ld(program, "-o", tmp_path / "out", f"--front-report={tmp_path / 'r.json'}", code=2)
    assert "--startup-profile" in result.stderr


def test_report(tmp_path, program):
    """It tells what was placed and why names were not found."""
    asm = compile_text(tmp_path, "b.s", ".section .init\n.globl early\nearly: nop\n"
                       ".section .text\n.globl user\nuser: call outside\n")
    report = tmp_path / "report.json"
    ld(program, asm, "-o", tmp_path / "out", "-e", "main", "-shared", "--front-report", report,
       "--min-match=0",
       "--startup-profile", write_profile(tmp_path, "main", "gone", "early", "outside", "helper"))
    data = json.loads(report.read_text())
    assert data["schema"] == "frontload-front-report/1"
    assert data["classes"]["text"]["sections"] == 2
    assert {k: data["names"][k] for k in ("total", "placed", "unmovable")} == {
        "total": 5, "placed": 2, "unmovable": 1}
    assert {(m["name"], m["reason"]) for m in data["names"]["missing"]} == {
        ("gone", "not defined"), ("outside", "not defined")}
    # What follows the front begins on the next page.
    rest = Image(tmp_path / "out").sections[".text"]["sh_offset"]
    assert 0 <= rest - data["front"]["bytes"] < 4096


def test_report_of_names_that_are_found_otherwise(tmp_path):
    """It tells how, and what was taken for them."""
    o = compile_text(tmp_path, "a.c", TWO_FUNCTIONS + "int helper2(void) { return 1; }\n")
    twin = compile_text(tmp_path, "b.s", ".section .text.x\n.type same,@function\nsame: ret\n"
                        ".section .rodata.str1.1,\"aMS\",@progbits,1\n.asciz \"hello\"\n")
    other = tmp_path / "c.o"
    other.write_bytes(twin.read_bytes())
    profile = write_profile(tmp_path, "main", "helper.isra.0", ("function", "text", "same", "x.c"),
                            ("string", "rodata", "hello"))
    report = tmp_path / "report.json"
    ld(o, twin, other, "-o", tmp_path / "out", "-e", "main", "--front-report", report,
       "--startup-profile", profile)
    assert json.loads(report.read_text())["names"]["inexact"] == [
        {"name": "helper.isra.0", "how": "clone", "ambiguous": False, "found": ["helper"]},
        {"name": "same", "how": "exact", "ambiguous": True, "found": ["same", "same"]}]


def test_report_that_cannot_be_written(tmp_path, program):
    """It is refused before the link, like any bad argument."""
    refused(tmp_path, program, write_profile(tmp_path, "main"), 2,
            f"--front-report={tmp_path / 'no' / 'r.json'}")


def test_report_in_place_of_the_output_or_the_profile(tmp_path, program):
    """A slip of the pen costs neither."""
    profile = write_profile(tmp_path, "main")
    before = profile.read_text()
    for target in (tmp_path / "out", profile):
        assert "replace" in refused(tmp_path, program, profile, 2, f"--front-report={target}")
    assert profile.read_text() == before
    ld(program, "-o", tmp_path / "new", "-e", "main", f"--front-report={tmp_path / 'new'}",
       f"--startup-profile={profile}", code=2)
    assert not (tmp_path / "new").exists()


def test_report_through_a_link_and_to_a_pipe(tmp_path, program):
    """What the path is stays what it is; only the contents are new."""
    profile = write_profile(tmp_path, "main")
    real, alias = tmp_path / "real.json", tmp_path / "alias.json"
    alias.symlink_to(real)
    arguments = (program, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}")
    ld(*arguments, f"--front-report={alias}")
    assert alias.is_symlink() and json.loads(real.read_text())["schema"]
    assert json.loads(ld(*arguments, "--front-report=/dev/stdout").stdout)["schema"]


def test_names_that_the_link_does_not_need_are_not_found(tmp_path, program):
    """Members of archives that stay out do not make a profile fit."""
    other = compile_text(tmp_path, "b.c", "int unneeded(int x) { return x; }\n")
    archive = tmp_path / "lib.a"
    check_run("ar", "rcs", archive, other)
    profile = write_profile(tmp_path, "unneeded")
    assert "none of its 1 names" in refused(tmp_path, program, profile, 1, archive)


def test_names_without_bytes_in_the_file_do_not_count_as_missing(tmp_path):
    """.bss is not read from the file, so its names have nowhere to go."""
    o = compile_text(tmp_path, "a.c", "int zeroes[9];\nint main(void) { return zeroes[3]; }\n")
    profile = write_profile(tmp_path, "main", *(("data", "bss", "zeroes") for _ in range(9)))
    found = ld(o, "-o", tmp_path / "out", "-e", "main", f"--startup-profile={profile}").stderr
    assert "(100.0%)" in found


@pytest.mark.parametrize("flag", ["--version", "--help", "-v"])
def test_what_is_not_a_link_touches_no_file(tmp_path, program, flag):
    """A file with the output's name stays, although its data lies behind its code."""
    output = tmp_path / "out"
    data = compile_text(tmp_path, "data.c", "int data = 3;\n")
    ld(program, data, "-o", output, "-e", "main")
    before = output.read_bytes()
    profile = write_profile(tmp_path, "main")
    ld(f"--startup-profile={profile}", "-o", output, flag, code=None)
    assert output.read_bytes() == before


def test_sections_with_names_of_their_own_stay_themselves(tmp_path):
    """What an author puts into a section of his naming is not mixed with anything."""
    o = compile_text(tmp_path, "a.c", TWO_FUNCTIONS + """
        __attribute__((section("text.mine"), used)) int mine(int x) { return x; }
    """)
    ld(o, "-o", tmp_path / "out", "-e", "main",
       f"--startup-profile={write_profile(tmp_path, 'main', 'helper')}")
    assert Image(tmp_path / "out").section_of("mine") == "text.mine"


def test_failed_link_keeps_lld_s_message_and_code(tmp_path):
    o = compile_text(tmp_path, "a.c", "int nowhere(void); int main(void) { return nowhere(); }\n")
    result = ld(o, "-o", tmp_path / "out", "-e", "main",
                f"--startup-profile={write_profile(tmp_path, 'main')}", code=1)
    assert "undefined symbol: nowhere" in result.stderr


def test_options_in_a_response_file(tmp_path, program):
    """Compiler drivers pass long command lines in a file."""
    output = tmp_path / "out put"
    response = tmp_path / "args"
    response.write_text(f"'{program}' -e main -o '{output}'\n"
                        f"--startup-profile='{write_profile(tmp_path, 'main')}' {ALWAYS}\n")
    ld(f"@{response}")
    assert Image(output).section_of("main") == ".text.front"


def test_dependencies_list_the_profile(tmp_path, program):
    """A build that asks the linker what it has read links again when the profile has changed."""
    profile, depends = write_profile(tmp_path, "main"), tmp_path / "depends"
    for option in (f"--startup-profile={profile}", f"--startup-profile-dir={tmp_path}"):
        ld(program, "-e", "main", "-o", tmp_path / "app", f"--dependency-file={depends}", option)
        listed = depends.read_text().partition("\n\n")[0]
        assert listed.endswith(f"\n {profile}") and str(program) in listed
        depends.unlink()


def test_a_profile_from_a_pipe_is_read_once(tmp_path, program):
    """As a shell gives it by <(command)."""
    text = write_profile(tmp_path, "main").read_text()
    ld(program, "-e", "main", "-o", tmp_path / "app", "--startup-profile=/dev/stdin", input=text)
    assert Image(tmp_path / "app").section_of("main") == ".text.front"


def test_gcc_finds_the_linker_by_a_folder(tmp_path, program):
    """gcc -B<folder> -fuse-ld=lld."""
    link_folder = BUILD / "lib" / "frontload" / "gcc"
    check_run("gcc", f"-B{link_folder}", "-fuse-ld=lld", program, "-o", tmp_path / "out",
              f"-Wl,--startup-profile={write_profile(tmp_path, 'main')},{ALWAYS}")
    assert Image(tmp_path / "out").section_of("main") == ".text.front"


def test_one_file_named_twice(tmp_path, program):
    """Archives are often listed more than once."""
    archive = tmp_path / "lib.a"
    check_run("ar", "rcs", archive, program)
    link(tmp_path / "out", archive, archive, profile=write_profile(tmp_path, "helper", "main"))
    check_run(tmp_path / "out")
    image = Image(tmp_path / "out")
    assert image.symbols["helper"].address < image.symbols["main"].address


def test_inputs_are_never_written(tmp_path, program):
    """Read-only inputs are as good as others."""
    before = program.read_bytes()
    os.chmod(program, 0o444)
    ld(program, "-o", tmp_path / "out", "-e", "main",
       f"--startup-profile={write_profile(tmp_path, 'main')}")
    assert program.read_bytes() == before


def test_help_tells_both_kinds_of_options():
    text = ld("--help").stdout
    assert "--startup-profile=FILE" in text and "--gc-sections" in text


def test_version_is_lld_s():
    """Build systems tell linkers apart by it."""
    assert "LLD 22" in check_run(LD_FRONTLOAD, "--version")


def test_corrupt_object_is_left_to_lld(tmp_path, program):
    """lld's message for a bad object comes as it is, whatever a profile says."""
    for cut in (10, 64, 200, program.stat().st_size - 70):
        bad = tmp_path / "bad.o"
        shutil.copy(program, bad)
        os.truncate(bad, cut)
        plain = ld(bad, "-o", tmp_path / "out", code=1)
        front = ld(program, bad, "-o", tmp_path / "out", "-e", "main",
                   f"--startup-profile={write_profile(tmp_path, 'main')}", code=1)
        assert front.stderr.splitlines()[0] in plain.stderr




@pytest.mark.parametrize("output", ["-", "/dev/stdout", "fifo"])
def test_an_output_that_is_no_file_is_refused(tmp_path, program, output):
    """It could neither be checked nor get its note; a pipe would make the link wait for ever."""
    if output == "fifo":
        output = tmp_path / "fifo"
        os.mkfifo(output)
    result = ld(program, "-e", "main", "-o", output,
                f"--startup-profile={write_profile(tmp_path, 'main')}", code=2)
    assert "only be laid out in a file" in result.stderr


def test_references_into_a_long_string_take_no_time(tmp_path):
    """A string of megabytes with thousands of references into it is not read for each of them."""
    o = compile_text(tmp_path, "a.s", '.section .rodata.q.str1.1,"aMS",@progbits,1\n'
                     'q: .fill 4000000, 1, 65\n .byte 0\n'
                     '.section .text.main,"ax",@progbits\n.globl main\nmain: ret\n'
                     + "".join(f".quad q + {3900000 + i}\n" for i in range(60000)),
                     compiler="clang")
    ld(o, "-e", "main", "-o", tmp_path / "out", "-z", "notext",
       f"--startup-profile={write_profile(tmp_path, 'main')}")


def test_namesakes_that_nothing_tells_apart_take_no_memory(tmp_path):
    """Thousands of local functions of one name, and a profile with many entries for it."""
    text = "".join(f'.section .text.d{i},"ax",@progbits\n.type dup{i},@function\ndup{i}: ret\n'
                   for i in range(3000))
    o = compile_text(tmp_path, "a.s", text + ".text\n.globl main\nmain: ret\n", compiler="clang")
    renamed = tmp_path / "b.o"
    check_run(LLVM / "llvm-objcopy", o, renamed,
              *(f"--redefine-sym=dup{i}=dup" for i in range(3000)))
    profile = write_profile(tmp_path, "main", *(("function", "text", "dup", f"f{i}.c")
                                                for i in range(2000)))
    ld(renamed, "-e", "main", "-o", tmp_path / "out", f"--startup-profile={profile}",
       "--min-match=0",
       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (700 << 20, 700 << 20)))
