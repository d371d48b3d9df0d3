"""frontload check: what is in the front, what is missing and why, and the verdict."""

import json
import shutil
import sys

import numpy as np
import pytest
from abilities import needs
from frontload.base import errors
from frontload.base.errors import BadData
from frontload.elf import constants, front
from frontload.elf import file as elf
from frontload.profile import coverage
from frontload.profile import format as profile
from frontload.profile.resolver import Place, Places
from frontload.profile.startup_profile import Name, Profile, from_run
from hypothesis import given
from hypothesis import strategies as st
from small_programs import SOURCE
from test_resolve import BSS, datum, function, linked

pytestmark = pytest.mark.usefixtures("tools")
ORDER = ["f3", "helper", "main", "f1", "f5"]
# The usual program, with 4 KiB of other code between its functions.
PADDED = SOURCE.replace("#define F(name, next)", "#define F(name, next) "
                        'void pad_##name(void) { __asm__(".zero 4096"); }')


def of_run(*names: str | Name) -> Profile:
    return from_run(b"app", [name if isinstance(name, Name) else Name(
        "function", "text", name.encode()) for name in names])


def write(path, *names: str | Name):
    path.write_bytes(profile.to_bytes(of_run(*names)))
    return path


def check_json(cli, program, path, code=0, options=()) -> dict:
    return json.loads(cli("check", program.path, "--profile", path, "--json=-", *options,
                          code=code).out)


@pytest.fixture
def ordered(link, tmp_path):
    """A program with much cold code, ordered by lld as in ORDER."""
    (tmp_path / "order").write_text("\n".join(ORDER))
    return link(f"-Wl,--symbol-ordering-file={tmp_path / 'order'}", source=PADDED)


_WITHOUT_NUMPY = """import sys; sys.modules["numpy"] = None
from frontload.cli.main import main
sys.exit(main())"""


@needs("built:bin/ld.frontload")
def test_a_front_is_everything_before_the_cold_sections(build, link, cli, run, tmp_path):
    """In a file with a front, names are placed if they lie before the rest of .text."""
    data = [Name("data", "rodata", b"table"), Name("data", "data", b"counter"),
            Name("data", "relro", b"pointer"), Name("data", "bss", b"zeros")]
    path = write(tmp_path / "p", *ORDER, *data)
    program = link(f"--ld-path={build / 'bin/ld.frontload'}", f"-Wl,--startup-profile={path}",
                   source=PADDED)
    report = check_json(cli, program, path, options=("--require-front",))
    assert (report["good"], report["coverage"], report["placed"]) == (True, 100, 9)
    plain = run(sys.executable, "-c", _WITHOUT_NUMPY, "check", program.path, "--profile", path,
                "--json=-", "--require-front").stdout
    assert json.loads(plain) == report
    [end] = {end for _, end in front.parts_of(elf.read(program.path))}
    assert report["front"]["is"] == "prefix" and report["front"]["bytes"] == end
    assert report["classes"]["rodata"] == {"names": 1, "present": 1, "placed": 1,
                                           "bytes_present": 64, "bytes_placed": 64}
    report = check_json(cli, program, write(tmp_path / "q", *ORDER, "f2"), code=1)
    assert report["missing"] == [{"name": "f2", "kind": "function", "class": "text", "file": None,
                                  "reason": "outside the front", "section": ".text"}]
    assert report["coverage"] == pytest.approx(100 * 5 / 6)


def test_an_order_file_gives_a_startup_block(ordered, cli, tmp_path):
    """Without a front, the block that lld's order made counts, and its density is high."""
    path, program = write(tmp_path / "p", *ORDER), ordered.path
    report = check_json(cli, ordered, path)
    assert (report["good"], report["coverage"], report["front"]["is"]) == (True, 100, "blocks")
    assert [block["section"] for block in report["front"]["blocks"]] == [".text"]
    assert report["front"]["bytes"] < 400 and report["front"]["density"] > 0.7
    assert "has no front of ld.frontload" in cli("check", program, "--profile", path).err
    refused = cli("check", program, "--profile", path, "--require-front", code=1)
    assert f"error: {program}: was linked without a front\n" in refused.err


def test_a_program_in_link_order_fails(link, cli, tmp_path):
    """Without any order the startup names lie apart: exit 1, with the remedy, and a table."""
    path = write(tmp_path / "p", *ORDER)
    program = link(source=PADDED).path
    result = cli("check", program, "--profile", path, code=1)
    assert "less than 95%" in result.err and "ld.frontload --startup-profile=" in result.err
    assert "outside the front: " in result.out
    cli("check", program, "--profile", path, "--min-coverage", 20)
    for wrong in ("-1", "101", "many", "nan"):
        cli("check", program, "--profile", path, f"--min-coverage={wrong}", code=2)
    # Rounded down: 94.999% must not read as the 95% that it misses.
    assert errors.percent(94999, 100000) == "94.99%" and errors.percent(7, 7) == "100.00%"


def test_a_stale_profile_fails(ordered, cli, tmp_path):
    """Names that the program has no more count against the coverage; however little has to be in
    the front, it fails if too few names are anywhere."""
    gone = [f"gone{number}" for number in range(13)]
    path = write(tmp_path / "p", *ORDER, "printf", Name("data", "data", b"main.llvm.7"), *gone)
    report = check_json(cli, ordered, path, code=1)
    assert (report["present"], report["names"]) == (5, 20)
    assert {entry["name"]: entry["reason"] for entry in report["missing"]} == {
        "printf": "only referred to, or in a section that is not loaded",
        **dict.fromkeys(["main.llvm.7", *gone], "no such symbol")}
    check = ("check", ordered.path, "--profile", path)
    assert "record the program again" in cli(*check, code=1).err
    for limit, code in ((25, 0), (25.1, 1), (0, 0)):
        said = cli(*check, "--min-coverage", 20, "--min-match", limit, code=code).err
        assert "5 of 20 names found (25.00%)" in said
        assert "gone7, and 5 more" in said and "gone8" not in said
        assert ("found (25.00%), less than 25.1%" in said) == bool(code)
    assert json.loads(cli(*check, "--min-coverage", 20, "--min-match", 26, "--json=-", code=1).out)[
        "good"] is False
    alien = ("check", ordered.path, "--profile", write(tmp_path / "q", "alien"))
    assert "it is a profile of app" in cli(*alien, code=1).err
    assert "less than 80%" in cli(*alien, "--min-coverage", 0, code=1).err


def test_what_is_looked_for(ordered, cli, tmp_path):
    """What this build calls otherwise is found as the linkers find it."""
    extra = [Name("section", "rodata", b".rodata.f", b"a.o"), Name("string", "rodata", b"hello")]
    path = write(tmp_path / "p", "f3.llvm.123", "helper.isra.0", "main", *extra)
    report = check_json(cli, ordered, path)
    assert (report["placed"], report["inexact"], report["missing"]) == (3, 2, [])
    assert (report["names"], report["coverage"], report["not_sought"]) == (3, 100, 2)
    text = cli("check", ordered.path, "--profile", path).out
    assert "found under the name they have now: 2 names" in text
    assert "having no symbol: 2 sections" in text
    write(path, *extra)
    assert "no function" in cli("check", ordered.path, "--profile", path, code=65).err
    write(path, "main", "\x1b[31mred", Name("function", "text", b"\xff\n"))
    result = cli("check", ordered.path, "--profile", path, code=1)
    assert "\\x1b[31mred" in result.out and "\x1b" not in result.out
    assert "missing: \\x1b[31mred, \\xff\\n\n" in result.err
    assert [entry["name"] for entry in check_json(cli, ordered, path, code=1)["missing"]] == [
        "\\x1b[31mred", "\\xff\\n"]


def test_bad_files_are_refused(ordered, cli, run, llvm, tmp_path):
    """A folder, a missing file, a text file in place of either, a stripped program."""
    path = write(tmp_path / "p", "main")
    run(llvm / "llvm-strip", ordered.path, "-o", tmp_path / "stripped")
    for program, startup, what, code in (
            (tmp_path, path, "one is a folder", 2), (tmp_path / "no", path, "No such file", 2),
            (path, path, "not an ELF file", 65), (tmp_path / "app.o", path, "is an object", 65),
            (ordered.path, ordered.path, "not a startup profile", 65),
            (tmp_path / "stripped", path, "then strip", 65)):
        assert what in cli("check", program, "--profile", startup, code=code).err


def test_a_folder_is_checked(ordered, cli, run, llvm, tmp_path):
    """Each program and library that has a profile; one that is bad or missing fails it."""
    folder, profiles = tmp_path / "install", tmp_path / "startup"
    profiles.mkdir()
    folder.mkdir()
    for program, name in (("app", "app"), ("libapp.so.1.2", "libapp.so")):
        shutil.copy(ordered.path, folder / program)
        write(profiles / f"{name}.startup", *ORDER)
    (folder / "libapp.so").symlink_to("libapp.so.1.2")
    (folder / "README").write_text("no program")
    check = ("check", folder, "--profile", profiles)
    assert cli(*check).out.split().count("good") == 2
    document = json.loads(cli(*check, "--json=-").out)
    assert document["schema"] == "frontload-check-folder/1" and document["good"]
    assert [file["binary"] for file in document["files"]] == [
        f"{folder}/app", f"{folder}/libapp.so.1.2"]
    assert document["files"][0].keys() >= {"good", "runs", "missing"}
    assert "is for one file" in cli(*check, "--front-report", "report", code=2).err
    assert cli(*check, "--require-front", code=1).err.count("was linked without a front") == 2
    write(profiles / "app.startup", "main", "none", "nothing")
    said = cli(*check, code=1).err
    assert f"{folder}/app: 33.33% of the names" in said and "libapp" not in said
    run(llvm / "llvm-strip", folder / "app")
    assert "is stripped" in cli(*check, code=1).err
    (folder / "app").unlink()
    result = cli(*check, "--json=-", code=1)
    assert "app.startup: is of no program or library" in result.err
    assert json.loads(result.out)["unused_profiles"] == [f"{profiles}/app.startup"]
    (profiles / "app.startup").unlink()
    assert cli(*check).err == ""
    (profiles / "libapp.so.startup").unlink()
    assert "has no startup profile" in cli(*check, code=2).err


def looked_up(file: elf.Elf, startup: Profile, left_out=()) -> coverage.Report:
    """Examines a file of which frontload-resolve would find all symbols of the profile's names."""
    symbols = file.linked_symbols()
    names_there = symbols.names.some(np.arange(len(symbols.value)))
    places = Places(Place(entry, "exact", b"app", b"", symbol, int(symbols.value[row]), row)
                    for entry, name in enumerate(startup.touches)
                    for row, symbol in enumerate(names_there) if symbol == name.name)
    return coverage.examine(file, startup, places, left_out)


def test_a_file_that_is_replaced_meanwhile_is_told():
    """Places in the symbol table are those of the file that frontload-resolve has read."""
    a, b = datum("a", 0x2000, 64), datum("b", 0x2040, 64)
    startup = of_run(Name("data", "rodata", b"b"))
    places = Places([Place(0, "exact", b"app", b"", b"b", 0x2040, 1)])
    for other in ([a], [a, a]):
        with pytest.raises(BadData, match="replaced while it was read"):
            coverage.examine(linked(*other), startup, places)
    assert coverage.examine(linked(a, b), startup, places).present == 1


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
    program, report = link(source=PADDED), tmp_path / "link.json"
    path = write(tmp_path / "p", "main", "f5")
    plain = check_json(cli, program, path, code=1)
    options = ("--front-report", report)
    report.write_text(json.dumps({"schema": "frontload-front-report/1",
                                  "names": {"left_out": ["f5", "main"]}}))
    found = check_json(cli, program, path, options=options)
    assert (plain["left_out"], found["left_out"], found["good"]) == (0, 1, True)
    assert found["missing"][0]["reason"].startswith("left out of the front")
    # The report of a link writes names as a profile does: no name is another's text.
    file = linked(function("near", 0x1000, 64), function("a\nb", 0x3000, 32),
                  function(r"a\nb", 0x5000, 32))
    missing = looked_up(file, of_run("near", "a\nb", r"a\nb"), left_out={r"a\nb"}).missing
    assert [entry.reason for entry in missing] == [coverage.Reason.LEFT_OUT,
                                                   coverage.Reason.OUTSIDE]
    for text in ("{}", "[]", '{"schema": "frontload-front-report/1"}', "no"):
        report.write_text(text)
        assert "--front-report" in cli("check", program.path, "--profile", path, *options,
                                       code=65).err


def examine(symbols: list[tuple], *names: str | Name) -> coverage.Report:
    return looked_up(linked(*symbols), of_run(*names))


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


def test_odd_sizes():
    """Labels have a place, if no size, and zeros no bytes in the file; wild sizes do no harm."""
    near = examine([function("a", 0x1000, 64), function("b", 0x1050, 64)], "a", "b")
    assert near.blocks == [coverage.Block(b".text", 0x1000, 0x90)]
    assert near.coverage == 100 and near.density == pytest.approx(128 / 0x90)
    report = examine([function("a", 0x1000, 0, kind=constants.STT_NOTYPE)], "a")
    assert report.classes["text"] == coverage.ClassCount(1, 1, 1, 1, 1)
    file = linked(datum("z", 0x9000, section=BSS), function("f", 0x1000))
    file.sections["type"][BSS] = constants.SHT_NOBITS
    report = looked_up(file, of_run("f", Name("data", "bss", b"z")))
    assert report.coverage == 100 and report.density == 1
    top = 2**64 - 1
    report = examine([function("a", top, top), function("b", 0, top), function("c", 1 << 63, 1)],
                     "a", "b", "c")
    assert report.present == 3
