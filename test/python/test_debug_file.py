"""A stripped program with its debug file is as good as the whole program: to every command, from
all tools that write such files, in all places where debuggers look."""

import json
import os
import re
import shutil

import pytest
from abilities import needs
from frontload.elf import debug_file, functions
from frontload.elf import file as elf
from linking import check_run
from places import LLVM
from small_programs import SOURCE
from trace_writer import DATA, FUNCTION, TraceWriter

pytestmark = pytest.mark.usefixtures("tools")
LLVM_OBJCOPY, LLVM_STRIP = LLVM / "llvm-objcopy", LLVM / "llvm-strip"


def split_off(program, debug, by="objcopy"):
    """Moves the symbols of a program to its debug file."""
    debug.parent.mkdir(parents=True, exist_ok=True)
    if by == "eu-strip":
        return check_run("eu-strip", "-f", debug, program)
    copy, strip = (LLVM_OBJCOPY, LLVM_STRIP) if by == "llvm-objcopy" else ("objcopy", "strip")
    check_run(copy, "--only-keep-debug", program, debug)
    check_run(strip, "--strip-all", program)
    return check_run(copy, f"--add-gnu-debuglink={debug}", program)


@pytest.fixture
def program(link, cli, tmp_path, monkeypatch):
    """A program that was recorded, with its blocks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", f"{tmp_path}/cache")
    made = link("-pie", flags=["-g", "-fPIE", "-fbasic-block-address-map"],
                source=SOURCE.replace("{ printf", "{ if (argc < 2) puts(table); printf"))
    os.mkdir("traces")
    writer = TraceWriter().module(1, str(made.path), made.build_id)
    for kind, names in ((FUNCTION, ("main", "f1", "helper")),
                        (DATA, ("table", "counter", "zeros", "pointer"))):
        for name in names:
            writer.event(made.addresses[name], kind=kind)
    writer.write(tmp_path / "traces/t.fltrace")
    cli("profile", "traces", "-o", "ref")
    return made


def answers(cli, run, build, path):
    """What all commands make of the program at `path`."""
    found = {"profile": cli("profile", "traces").out,
             "until": functions.find(elf.read(path), str(path), "helper")}
    with open("names", "w") as names:
        names.write("main\nf3.llvm.7\nhelper\nzeros\n")
    found["import"] = cli("import", "--format=lld", "names", "--binary", path).out
    for linker in ("lld", "bolt", "gold", "llvm-profdata"):
        found[linker] = cli("order", "ref", "--linker", linker, "--binary", path).out
    found["check"] = re.sub('"file_bytes": .*', "", cli(  # the files themselves differ in size
        "check", path, "--profile", "ref", "--json=-", code=None).out)
    found["touches"] = json.loads(run(build / "bin/frontload-predict", "--list-touches",
                                      "--recorded", path, path, "traces/t.fltrace").stdout)
    found["blocks"] = run(build / "bin/frontload-resolve", "--touched", "--starts", path, "-",
                          input=f"{found['until']:x}\n").stdout
    assert len(found["blocks"].splitlines()) == 2
    return found


@needs("program:eu-strip")
@pytest.mark.parametrize("by", ["objcopy", "eu-strip", "llvm-objcopy"])
@pytest.mark.parametrize("place", ["app.debug", ".debug/app.debug", "cache"])
def test_every_command_says_the_same(program, cli, run, build, tmp_path, by, place):
    whole = answers(cli, run, build, program.path)
    debug = tmp_path / ("other/app.debug" if place == "cache" else place)
    split_off(program.path, debug, by)
    assert elf.read(program.path).debug is not None or place == "cache"
    if place == "cache":
        cli("profile", "traces", code=65)
        (tmp_path / "cache" / program.build_id.hex()).mkdir(parents=True)
        shutil.move(debug, tmp_path / "cache" / program.build_id.hex() / "debuginfo")
    assert answers(cli, run, build, program.path) == whole


@needs("ptrace")
def test_a_recording_of_the_stripped_program_is_the_same(program, cli, tmp_path):
    def recorded(to):
        cli("record", "--blocks", "-o", to, "--", program.path)
        return cli("profile", to).out

    whole = recorded("whole")
    assert "\nblocks:" in whole
    split_off(program.path, tmp_path / "app.debug", "llvm-objcopy")
    assert recorded("stripped") == whole


@needs("ptrace", "valgrind")
@pytest.mark.parametrize("options", [[], ["--data"]])
def test_it_ends_in_a_function_of_the_debug_file(program, cli, tmp_path, options):
    split_off(program.path, tmp_path / "app.debug")
    said = cli("record", *options, "--until", "f3", "-o", "new", "--", program.path).err
    assert "--until" not in said
    named = cli("profile", "new").out
    assert "\tf1\n" in named and "\tf5\n" not in named


@needs("program:eu-strip")
@pytest.mark.parametrize("by", ["objcopy", "eu-strip", "llvm-objcopy"])
def test_a_debug_file_that_is_given_stands_for_the_recorded_program(program, cli, run, build,
                                                                    tmp_path, by):
    """Its own sections have no contents: with the program gone, it is refused, not taken for one
    whose data are zeros."""
    debug = tmp_path / "elsewhere" / "symbols"
    split_off(program.path, debug, by)
    assert "data\tdata\t" in (tmp_path / "ref").read_text()
    cli("profile", "traces", "--binary", debug, "-o", "got")
    assert (tmp_path / "got").read_bytes() == (tmp_path / "ref").read_bytes()
    moved = program.path.rename(tmp_path / "moved")
    cli("profile", "traces", "--binary", moved, "--binary", debug, "-o", "got")
    assert (tmp_path / "got").read_bytes() == (tmp_path / "ref").read_bytes()
    moved.unlink()
    said = run(build / "bin/frontload-predict", debug, "traces/t.fltrace", code=65).stderr
    assert "has only the debug information" in said
    for command in (["profile", "traces", "--binary", debug], ["check", debug, "--profile", "ref"],
                    ["order", "ref", "--linker", "bolt", "--binary", debug]):
        said = cli(*command, code=65).err
        assert f"{debug}: has only the debug information of a program" in said
        assert "note: give the program itself" in said


@pytest.mark.parametrize("build_id", ["sha1", "none"])
def test_another_builds_debug_file_is_passed_over(link, cli, run, build, startup, tmp_path,
                                                  build_id):
    """The build-id decides, or the checksum in the program."""
    other = link(f"-Wl,--build-id={build_id}", source=SOURCE + "int more;")
    split_off(other.path, tmp_path / "app.debug")
    stale = (tmp_path / "app.debug").read_bytes()
    program = link(f"-Wl,--build-id={build_id}").path
    split_off(program, tmp_path / "app.debug")
    names, good = startup("main", "f1"), (tmp_path / "app.debug").read_bytes()
    for contents, code in ((good, 0), (stale, 65), (good[:100], 65), (good, 0)):
        (tmp_path / "app.debug").write_bytes(contents)
        cli("order", names, "--linker", "lld", "--binary", program, code=code)
        run(build / "bin/frontload-resolve", names, program, code=code)
    (tmp_path / "app.debug").unlink()
    assert "or install its debug information" in cli("check", program, "--profile", names,
                                                     code=65).err


@needs("mounts")
def test_packages_install_them_below_usr_lib_debug(program, run, build, tmp_path, monkeypatch):
    """By build-id, and by folder and name; natively in a namespace where the folder is ours."""
    digits, root = program.build_id.hex(), tmp_path / "root"
    by_name = root / str(program.path)[1:]
    split_off(program.path, by_name.with_suffix(".debug"))
    monkeypatch.setattr(debug_file, "_ROOT", str(root))
    by_id = root / f".build-id/{digits[:2]}/{digits[2:]}.debug"
    for place in (by_name.with_suffix(".debug"), by_id):
        place.parent.mkdir(parents=True, exist_ok=True)
        for known in root.rglob("*.debug"):
            known.rename(place)
        assert elf.read(program.path).debug.path == str(place)
        if os.path.isdir("/usr/lib/debug"):
            run("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /usr/lib/debug && "$@"',
                root, build / "bin/frontload-resolve", "ref", program.path)
