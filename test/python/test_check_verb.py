"""frontload check: what is in the front, what is missing and why, and the verdict."""

import json
import shutil

import numpy as np
import pytest
from conftest import SOURCE, Program
from frontload.base import errors
from frontload.base.errors import BadData
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.profile import coverage
from frontload.profile import format as profile
from frontload.profile.resolver import Places
from frontload.profile.startup_profile import Name, Profile, from_run
from hypothesis import given
from hypothesis import strategies as st
from test_resolve import BSS, RODATA, datum, function, linked

pytestmark = pytest.mark.usefixtures("tools")
ORDER = ["f3", "helper", "main", "f1", "f5"]


def named(*names: str | Name) -> list[Name]:
    return [name if isinstance(name, Name) else Name("function", "text", name.encode())
            for name in names]


def of_run(*names: str | Name) -> Profile:
    return from_run(b"app", named(*names))


def write(path, *names: str | Name):
    path.write_bytes(profile.to_bytes(of_run(*names)))
    return path


def check_json(cli, program: Program, path, code=0, options=()) -> dict:
    return json.loads(cli("check", program.path, "--profile", path, "--json", *options,
                          code=code).out)


@pytest.fixture
def ordered(link, tmp_path):
    """A program with much cold code, ordered by lld as in ORDER."""
    (tmp_path / "order").write_text("\n".join(ORDER))
    return link(f"-Wl,--symbol-ordering-file={tmp_path / 'order'}", source=with_padding())


def with_padding() -> str:
    """The usual program, with 4 KiB of other code between its functions."""
    return SOURCE.replace("#define F(name, next)", "#define F(name, next) "
                          "void pad_##name(void) { __asm__(\".zero 4096\"); }")


# A front as ld.frontload makes it, by hand, for machines where it is not built.
FRONT_SCRIPT = """
OVERWRITE_SECTIONS {
  .text.front : { *(.text.f3) *(.text.helper) *(.text.main) *(.text.f1) *(.text.f5) }
  .rodata.front : { *(.rodata.table) }
}
SECTIONS { .text : { } .rodata : { } } INSERT AFTER .bss;
"""


@pytest.fixture
def with_front(link, tmp_path):
    """A program with a front that holds ORDER and `table`."""
    (tmp_path / "front.ld").write_text(FRONT_SCRIPT)
    return link(f"-Wl,-T,{tmp_path / 'front.ld'}", source=with_padding())


def test_a_front_is_everything_before_the_cold_sections(with_front, cli, tmp_path):
    """In a file with a front, names are placed if they lie before .text and .rodata."""
    data = [Name("data", "rodata", b"table"), Name("data", "data", b"counter"),
            Name("data", "relro", b"pointer"), Name("data", "bss", b"zeros")]
    report = check_json(cli, with_front, write(tmp_path / "p", *ORDER, *data))
    assert (report["good"], report["coverage"], report["placed"]) == (True, 100, 9)
    read = elf.read(with_front.path)
    text = read.sections[read.section_names.index(b".text")]
    assert report["front"]["is"] == "prefix" and report["front"]["bytes"] <= text["offset"]
    assert report["classes"]["rodata"] == {"names": 1, "present": 1, "placed": 1,
                                           "bytes_present": 64, "bytes_placed": 64}
    assert report["longest_ordered_run"] == {"names": 5, "section": ".text.front", "first": "f3",
                                             "last": "f5"}


def test_names_behind_the_front_are_missing(with_front, cli, tmp_path):
    """A function that the linker left in .text is named, with the section it is in."""
    path = write(tmp_path / "p", *ORDER, "f2")
    report = check_json(cli, with_front, path, code=1)
    assert report["missing"] == [{"name": "f2", "kind": "function", "class": "text", "file": None,
                                  "reason": "outside the front", "section": ".text"}]
    assert report["coverage"] == pytest.approx(100 * 5 / 6)


def test_a_real_front_passes(build, link, cli, tmp_path):
    """A program that ld.frontload linked with a profile passes the check of that profile."""
    linker = build / "bin" / "ld.frontload"
    if not linker.exists():
        pytest.skip("ld.frontload is not built")
    path = write(tmp_path / "p", *ORDER, Name("data", "rodata", b"table"))
    program = link(f"--ld-path={linker}", f"-Wl,--startup-profile={path}", source=with_padding())
    report = check_json(cli, program, path, options=("--require-front",))
    assert (report["placed"], report["front"]["is"]) == (6, "prefix")
    assert report["longest_ordered_run"]["names"] == 5


def test_an_order_file_gives_a_startup_block(ordered, cli, tmp_path):
    """Without a front, the block that lld's order made counts, and its density is high."""
    report = check_json(cli, ordered, write(tmp_path / "p", *ORDER))
    assert (report["coverage"], report["front"]["is"]) == (100, "blocks")
    assert [block["section"] for block in report["front"]["blocks"]] == [".text"]
    assert report["front"]["bytes"] < 400 and report["front"]["density"] > 0.7
    assert report["longest_ordered_run"]["names"] == 5


def test_a_gate_can_ask_for_a_front(ordered, cli, tmp_path):
    """All names may lie together without a front: that is told, and fails if one is required."""
    path = write(tmp_path / "p", *ORDER)
    program = ordered.path
    assert "has no front of ld.frontload" in cli("check", program, "--profile", path).err
    refused = cli("check", program, "--profile", path, "--require-front", code=1)
    assert f"error: {program}: was linked without a front\n" in refused.err


def test_a_program_in_link_order_fails(link, cli, tmp_path):
    """Without any order the startup names lie apart: exit 1, with the remedy, and a table."""
    path = write(tmp_path / "p", *ORDER)
    program = link(source=with_padding())
    result = cli("check", program.path, "--profile", path, code=1)
    assert "less than 95%" in result.err and "ld.frontload --startup-profile=" in result.err
    assert "outside the front: " in result.out
    cli("check", program.path, "--profile", path, "--min-coverage", 20)


def test_a_stale_profile_fails(ordered, cli, tmp_path):
    """Names that the program does not have any more count against the coverage."""
    path = write(tmp_path / "p", *ORDER, "gone", "puts", Name("data", "data", b"f1.llvm.7"))
    report = check_json(cli, ordered, path, code=1)
    assert report["present"] == 5 and report["names"] == 8
    assert {(entry["name"], entry["reason"]) for entry in report["missing"]} == {
        ("gone", "no such symbol"), ("puts", "no such symbol"), ("f1.llvm.7", "no such symbol")}
    assert "record the program again" in cli("check", ordered.path, "--profile", path, code=1).err


def test_below_the_least_match_it_fails(ordered, cli, tmp_path):
    """However little has to be in the front, exit 1 if too few names are anywhere, and which."""
    path = write(tmp_path / "p", *ORDER, *(f"gone{number}" for number in range(15)))
    arguments = ("check", ordered.path, "--profile", path, "--min-coverage", 20, "--min-match")
    for limit, code in ((25, 0), (25.1, 1), (0, 0)):
        result = cli(*arguments, limit, code=code)
        assert "5 of 20 names found (25.00%)" in result.err
        assert "gone9, and 5 more" in result.err and "gone10" not in result.err
    assert json.loads(cli(*arguments, 26, "--json", code=1).out)["good"] is False


def test_names_that_have_become_others_are_found(cli, link, tmp_path):
    """What this build calls otherwise is found as the linkers find it, and is in the front."""
    path = write(tmp_path / "p", "f3.llvm.123", "helper.isra.0", "main")
    (tmp_path / "order").write_text("f3\nhelper\nmain\n")
    program = link(f"-Wl,--symbol-ordering-file={tmp_path / 'order'}", source=with_padding())
    report = check_json(cli, program, path)
    assert (report["placed"], report["inexact"], report["missing"]) == (3, 2, [])
    text = cli("check", program.path, "--profile", path).out
    assert "found under the name they have now: 2 names" in text


def test_what_has_no_symbol_does_not_count(ordered, cli, tmp_path):
    """Sections and strings cannot be looked for: they are neither found nor missing."""
    extra = [Name("section", "rodata", b".rodata.f", b"a.o"), Name("string", "rodata", b"hello")]
    path = write(tmp_path / "p", *ORDER, *extra)
    report = check_json(cli, ordered, path)
    assert (report["names"], report["coverage"], report["not_sought"]) == (5, 100, 2)
    assert "having no symbol: 2 sections" in cli("check", ordered.path, "--profile", path).out
    only = write(tmp_path / "q", *extra)
    assert "no function" in cli("check", ordered.path, "--profile", only, code=65).err


def test_a_function_that_moved_to_a_library_is_told_apart(link, cli, tmp_path):
    """A name that the program only refers to is not the same as one that is nowhere."""
    program = link(source="int rand(void); int main(void) { return rand(); }")
    report = check_json(cli, program, write(tmp_path / "p", "main", "rand"), code=1)
    assert [(entry["name"], entry["reason"]) for entry in report["missing"]] == [
        ("rand", "only referred to, or in a section that is not loaded")]


def test_a_profile_of_another_program_says_so(ordered, cli, tmp_path):
    """If nothing of a profile is there, the note names the program that it is of."""
    result = cli("check", ordered.path, "--profile", write(tmp_path / "p", "alien"), code=1)
    assert "0.00%" in result.err and "it is a profile of app" in result.err
    assert "0 of 1 name found (0.00%)" in result.err
    result = cli("check", ordered.path, "--profile", tmp_path / "p", "--min-coverage", 0, code=1)
    assert "less than 80%" in result.err


def test_what_fails_is_never_shown_as_enough():
    """Percentages are rounded down: 94.999% must not read as the 95% that it misses."""
    assert errors.percent(94999, 100000) == "94.99%" and errors.percent(7, 7) == "100.00%"


@pytest.mark.parametrize("coverage", ["-1", "101", "many", "nan"])
def test_a_coverage_that_is_none_is_refused(cli, coverage):
    """--min-coverage takes a percentage."""
    cli("check", "app", "--profile", "p", f"--min-coverage={coverage}", code=2)


def test_a_stripped_program_is_refused(ordered, cli, run, llvm, tmp_path):
    """A stripped program cannot be checked, and the note says to check before strip."""
    run(llvm / "llvm-strip", ordered.path)
    result = cli("check", ordered.path, "--profile", write(tmp_path / "p", "main"), code=65)
    assert "is stripped" in result.err and "then strip" in result.err


def test_bad_files_are_refused(ordered, cli, tmp_path):
    """A folder, a missing file, a text file in place of either: one line and the right code."""
    path = write(tmp_path / "p", "main")
    assert "one is a folder" in cli("check", tmp_path, "--profile", path, code=2).err
    assert "No such file" in cli("check", tmp_path / "no", "--profile", path, code=2).err
    assert "not an ELF file" in cli("check", path, "--profile", path, code=65).err
    assert "not a startup profile" in cli("check", ordered.path, "--profile", ordered.path,
                                          code=65).err
    assert "is an object" in cli("check", tmp_path / "app.o", "--profile", path, code=65).err


@pytest.fixture
def install(ordered, tmp_path):
    """A folder with a program, a library of a version, a link to it and a text; and one with their
    profiles."""
    for name in ("install/bin", "install/lib", "startup"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(ordered.path, tmp_path / "install/bin/app")
    shutil.copy(ordered.path, tmp_path / "install/lib/libapp.so.1.2")
    (tmp_path / "install/lib/libapp.so").symlink_to("libapp.so.1.2")
    (tmp_path / "install/README").write_text("no program")
    for name in ("app", "libapp.so"):
        write(tmp_path / f"startup/{name}.startup", *ORDER)
    return tmp_path / "install", tmp_path / "startup"


def test_a_folder_is_checked(install, cli):
    """Each program and library that has a profile."""
    folder, profiles = install
    out = cli("check", folder, "--profile", profiles).out
    assert out.split().count("good") == 2
    document = json.loads(cli("check", folder, "--profile", profiles, "--json").out)
    assert document["schema"] == "frontload-check-folder/1" and document["good"]
    assert [file["binary"] for file in document["files"]] == [
        f"{folder}/bin/app", f"{folder}/lib/libapp.so.1.2"]
    assert document["files"][0].keys() >= {"good", "runs", "relocations", "missing"}


def test_one_bad_file_fails_a_folder(install, cli, run, llvm):
    """Too few names in the front, no front, no symbols, or no file for a profile."""
    folder, profiles = install
    result = cli("check", folder, "--profile", profiles, "--require-front", code=1)
    assert result.err.count("was linked without a front") == 2
    write(profiles / "app.startup", "main", "none", "nothing")
    result = cli("check", folder, "--profile", profiles, code=1)
    assert f"{folder}/bin/app: 33.33% of the names" in result.err and "libapp" not in result.err
    run(llvm / "llvm-strip", folder / "bin/app")
    assert "is stripped" in cli("check", folder, "--profile", profiles, code=1).err
    (folder / "bin/app").unlink()
    result = cli("check", folder, "--profile", profiles, "--json", code=1)
    assert "app.startup: is of no program or library" in result.err
    assert json.loads(result.out)["unused_profiles"] == [f"{profiles}/app.startup"]
    (profiles / "app.startup").unlink()
    assert cli("check", folder, "--profile", profiles).err == ""
    (profiles / "libapp.so.startup").unlink()
    assert "has no startup profile" in cli("check", folder, "--profile", profiles, code=2).err


def test_a_folder_has_no_report_of_one_file(install, cli):
    folder, profiles = install
    assert "are for one file" in cli("check", folder, "--profile", profiles, "--relocations",
                                     code=2).err


def test_names_are_escaped(link, cli, tmp_path):
    """A name that would steer the terminal is shown as in the profile, and is valid JSON."""
    path = write(tmp_path / "p", "main", "\x1b[31mred", Name("function", "text", b"\xff\n"))
    program = link()
    out = cli("check", program.path, "--profile", path, code=1).out
    assert "\\x1b[31mred" in out and "\x1b" not in out
    report = check_json(cli, program, path, code=1)
    assert [entry["name"] for entry in report["missing"]] == ["\\x1b[31mred", "\\xff\\n"]


def looked_up(file: elf.Elf, startup: Profile, left_out=()) -> coverage.Report:
    """Examines a file of which frontload-resolve would find all symbols of the profile's names."""
    symbols = file.linked_symbols()
    names_there = symbols.names.some(np.arange(len(symbols.value)))
    places = Places()
    for entry, name in enumerate(startup.touches):
        for row, symbol in enumerate(names_there):
            if symbol == name.name:
                places.add(b"name\t%d\texact\tapp\t\t%b\t%x\t%d\n" % (
                    entry, profile.escape(symbol), int(symbols.value[row]), row))
    return coverage.examine(file, startup, places, left_out)


def test_a_file_that_is_replaced_meanwhile_is_told():
    """Places in the symbol table are those of the file that frontload-resolve has read."""
    file = linked(datum("a", 0x2000, 64), datum("b", 0x2040, 64))
    places = Places()
    places.add(b"name\t0\texact\tapp\t\tb\t2040\t1\n")
    for other in (linked(datum("a", 0x2000, 64)), linked(*[datum("a", 0x2000, 64)] * 2)):
        with pytest.raises(BadData, match="replaced while it was read"):
            coverage.examine(other, of_run(Name("data", "rodata", b"b")), places)
    assert coverage.examine(file, of_run(Name("data", "rodata", b"b")), places).present == 1


def test_of_static_data_of_an_object_one_is_enough():
    """No symbol table tells objects, so one namesake in the front is taken for the right one."""
    file = linked(datum("twin", 0x2000, 64, bind=constants.STB_LOCAL), datum("near", 0x2040, 64),
                  datum("twin", 0x9000, 64, bind=constants.STB_LOCAL))
    file.symbols.source_files = lambda rows: [[b"a.c", b"", b"a.c"][row] for row in rows]
    near = Name("data", "rodata", b"near")
    for of, placed in ((b"lib.a(a.o)", 2), (b"a.c", 1)):
        report = looked_up(file, of_run(near, Name("data", "rodata", b"twin", of)))
        assert (report.placed, report.classes["rodata"].bytes_placed) == (placed, 64 * placed)


def test_what_the_link_left_out_on_purpose_counts_as_settled(cli, link, tmp_path):
    """It costs less to fault in; its report says so."""
    program = link()
    path = write(tmp_path / "p", "main", "f1")
    report = tmp_path / "link.json"
    options = ("--front-report", report)
    report.write_text(json.dumps({"schema": "frontload-front-report/1",
                                  "names": {"left_out": ["f1", "main"]}}))
    found = check_json(cli, program, path, options=options, code=None)
    plain = check_json(cli, program, path, code=None)
    assert plain["left_out"] == 0 and found["placed"] + found["left_out"] == 2
    missing = [each for each in found["missing"] if each["name"] in ("f1", "main")]
    assert all(each["reason"].startswith("left out of the front") for each in missing)
    assert found["good"]
    for text in ("{}", "[]", '{"schema": "frontload-front-report/1"}', "no"):
        report.write_text(text)
        assert "--front-report" in cli("check", program.path, "--profile", path, *options,
                                       code=65).err


def test_what_was_left_out_is_no_other_name():
    """The report of a link writes names as a profile does: no name is another's text."""
    file = linked(function("near", 0x1000, 64), function("a\nb", 0x3000, 32),
                  function(r"a\nb", 0x5000, 32))
    report = looked_up(file, of_run("near", "a\nb", r"a\nb"), left_out={r"a\nb"})
    assert {entry.name.name: entry.reason for entry in report.missing} == {
        b"a\nb": coverage.Reason.LEFT_OUT, rb"a\nb": coverage.Reason.OUTSIDE}


def examine(symbols: list[tuple], *names: str | Name) -> coverage.Report:
    return looked_up(linked(*symbols), of_run(*names))


def test_a_block_is_at_most_a_quarter_longer_than_its_symbols():
    """Of two names 1,000 bytes apart only the larger one is in the block."""
    report = examine([function("a", 0x1000, 32), function("b", 0x1400, 64)], "a", "b")
    assert report.blocks == [coverage.Block(b".text", 0x1400, 64)]
    assert [entry.name.name for entry in report.missing] == [b"a"]
    near = examine([function("a", 0x1000, 64), function("b", 0x1050, 64)], "a", "b")
    assert near.blocks == [coverage.Block(b".text", 0x1000, 0x90)]
    assert near.coverage == 100 and near.density == pytest.approx(128 / 0x90)


@given(st.lists(st.tuples(st.integers(0, 600), st.integers(1, 40)), min_size=1, max_size=8))
def test_the_block_is_the_best_window(ranges):
    """No window of the allowed length holds more bytes of whole symbols than the block."""
    report = examine([function(f"f{i}", start, size) for i, (start, size) in enumerate(ranges)],
                     *(f"f{i}" for i in range(len(ranges))))
    merged: list[list[int]] = []
    for start, end in sorted((start, start + size) for start, size in ranges):
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    limit = int(1.25 * sum(-(-(end - start) // 16) * 16 for start, end in merged))
    best = max(sum(end - start for start, end in merged if first <= start and end <= first + limit)
               for first, _ in merged)
    assert report.classes["text"].bytes_placed == best
    assert report.front_size <= limit


def test_a_symbol_without_a_size_counts_as_one_byte():
    """Labels of assembly code have a place, if no size."""
    report = examine([function("a", 0x1000, 0, kind=constants.STT_NOTYPE)], "a")
    assert report.classes["text"] == coverage.ClassCount(1, 1, 1, 1, 1)


def test_bss_is_always_placed():
    """What has no bytes in the file cannot be outside of the front."""
    file = linked(datum("z", 0x9000, section=BSS), function("f", 0x1000))
    file.sections["type"][BSS] = constants.SHT_NOBITS
    report = looked_up(file, of_run("f", Name("data", "bss", b"z")))
    assert report.coverage == 100 and report.density == 1


def longest(symbols: list[tuple], *names: str | Name) -> int:
    return examine(symbols, *names).longest_run.names


def test_the_longest_run_needs_order_and_no_strangers():
    """Order, padding and other startup names continue a run; strangers and steps back end it."""
    functions = [function(name, 0x1000 + 32 * i) for i, name in enumerate("abcdef")]
    assert longest(functions, *"abcdef") == 6
    assert longest(functions, *"abdecf") == 4  # a b d e, with c between; then back to c
    assert longest(functions, *"abef") == 2  # c and d are strangers
    assert longest(functions, *"fedcba") == 1
    assert longest(functions, "a", "missing", "b", "c") == 3


def test_names_of_other_sections_do_not_interrupt_a_run():
    """Data between functions is in another section, so it leaves their run alone."""
    symbols = [function("a", 0x1000), function("b", 0x1010), datum("t", 0x5000, section=RODATA)]
    assert longest(symbols, "a", Name("data", "rodata", b"t"), "b") == 2


def test_aliases_do_not_interrupt_a_run():
    """Two names of one function follow each other, and a third that is not named is no stranger."""
    symbols = [function("c1", 0x1000), function("c2", 0x1000), function("other", 0x1000),
               function("next", 0x1010)]
    assert longest(symbols, "c1", "c2", "next") == 3


def test_wild_symbol_values_do_no_harm():
    """Addresses and sizes near the limits of 64 bits are placed nowhere, without a crash."""
    top = 2**64 - 1
    report = examine([function("a", top, top), function("b", 0, top), function("c", 1 << 63, 1)],
                     "a", "b", "c")
    assert report.present == 3


def test_the_result_is_the_same_for_shuffled_profiles(with_front):
    """The order of entries in memory does not matter, only their ranks."""
    startup = of_run(*ORDER, "f2")
    backwards = Profile(b"app", 1, dict(reversed(startup.touches.items())))
    read = elf.read(with_front.path)
    assert looked_up(read, startup) == looked_up(read, backwards)
