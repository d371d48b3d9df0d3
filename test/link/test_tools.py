"""The tools that people use on ELF files do with a front's file what they do with any other."""

import re
import shutil
from types import SimpleNamespace

import abilities
import pytest
from abilities import needs
from frontload.elf import file as elf
from frontload.elf import front
from linking import Image, check_run
from places import LLVM
from whole import HOT, PAGE, SOURCE, check_whole, file_offset, load_segments

# A function on each side, and who calls it.
SIDES = {"hot_3_leaf": "cold_1_catch", "cold_2_leaf": "hot_2_catch"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """whole.cpp with a front and debug info, and what it prints."""
    folder = tmp_path_factory.mktemp("whole")
    # The newest that all of the tools read: valgrind 3.19 reads no DWARF 5 of clang's.
    front, plain = check_whole(folder, "-Wl,--build-id", compile_flags=["-gdwarf-4"])
    return SimpleNamespace(front=front, image=Image(front), output=check_run(plain))


def line_of(text: str) -> int:
    """The line of whole.cpp that contains `text`."""
    (found,) = [n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    return found


@pytest.mark.parametrize("tool", [
    ["strip"], ["eu-strip"], [LLVM / "llvm-objcopy", "--strip-all"],
    ["objcopy", "--remove-section=.comment"]], ids=str)
def test_tools_leave_what_is_loaded(tmp_path, whole, tool):
    """All segments and sections, the note of the front among them; and the program runs."""
    abilities.need(f"program:{tool[0]}")
    changed = shutil.copy(whole.front, tmp_path / "changed")
    check_run(*tool, changed)
    assert check_run(changed) == whole.output
    assert front.ranges_of(elf.read(changed)) == front.ranges_of(elf.read(whole.front))
    before, after = whole.front.read_bytes(), changed.read_bytes()
    for old, new in zip(load_segments(whole.front), load_segments(changed), strict=True):
        same = "p_flags", "p_offset", "p_vaddr", "p_align"
        assert [old[field] for field in same] == [new[field] for field in same]
        # GNU's strip takes away the padding behind the last section of a segment, and with it
        # nothing that anybody clears.
        assert 0 <= old.p_filesz - new.p_filesz < PAGE
        assert new.p_filesz == new.p_memsz or new == load_segments(changed)[-1]
    for section in whole.image.sections.values():
        if section["sh_flags"] & 2 and section["sh_type"] != "SHT_NOBITS":
            loaded = slice(section["sh_offset"], section["sh_offset"] + section["sh_size"])
            assert after[loaded] == before[loaded]


@needs("program:gdb", "ptrace")
@pytest.mark.parametrize("objcopy", [None, "objcopy", LLVM / "llvm-objcopy"],
                         ids=["inside", "binutils", "llvm"])
def test_gdb_breaks_and_unwinds_on_both_sides(tmp_path, whole, objcopy):
    """Names and lines of all frames are right, also with the debug info in a file of its own."""
    program = whole.front
    if objcopy:
        program, debug = tmp_path / "copy", tmp_path / "copy.debug"
        check_run(objcopy, "--only-keep-debug", whole.front, debug)
        check_run(objcopy, "--strip-all", f"--add-gnu-debuglink={debug}", whole.front, program)
        assert ".debug_info" not in Image(program).sections
    commands = ["set debuginfod enabled off", "break hot_3_leaf", "break cold_2_leaf", "run", "bt",
                "continue", "continue", "bt"]
    output = check_run("gdb", "-nx", "-batch", *(f"--eval-command={c}" for c in commands), program)
    frames = re.findall(r"^#\d .*?(\w+) \(.*\) at (?:\S*/)?whole\.cpp:(\d+)$", output, re.MULTILINE)
    call = line_of("int sum =")
    assert [(name, int(line)) for name, line in frames] == [
        ("cold_2_leaf", line_of("int cold_2_leaf")), ("hot_2_catch", line_of("cold_2_leaf(x) +")),
        ("main", call),
        ("hot_3_leaf", line_of("int hot_3_leaf")), ("cold_1_catch", line_of("hot_3_leaf(x) +")),
        ("main", call)]


@needs("program:perf", "mounts")
@pytest.mark.parametrize("debug_info", [True, False])
def test_perf_probe_finds_the_functions(tmp_path, whole, debug_info):
    """The breakpoint is at the function's beginning; without debug info, perf asks each symbol's
    section."""
    program = whole.front
    if not debug_info:
        program = tmp_path / "program"
        check_run("strip", "--strip-debug", "-o", program, whole.front)
    for name in SIDES:
        # perf mounts tracefs; that must not outlive the test.
        definition = check_run("unshare", "--mount", "perf", "--buildid-dir", tmp_path, "probe",
                               "-x", program, "-D", name)
        offset = int(re.search(r":(0x[0-9a-f]+)", definition)[1], 16)
        assert offset == file_offset(program, whole.image.symbols[name].address)


@needs(f"program:{LLVM / 'llvm-bolt'}")
def test_bolt_takes_it(tmp_path, whole):
    """It loops for ever if an absolute symbol has the address of code."""
    program, _ = check_whole(tmp_path, "-Wl,--emit-relocs,-z,now")
    check_run(LLVM / "llvm-bolt", program, "-o", tmp_path / "bolted", "--reorder-blocks=ext-tsp",
              timeout=60)
    assert check_run(tmp_path / "bolted") == whole.output


@needs("program:valgrind")
def test_valgrind_runs_it(tmp_path, whole):
    """Without a complaint, exceptions included; and it knows functions and lines of both sides."""
    assert check_run("valgrind", "-q", "--error-exitcode=9", whole.front) == whole.output
    output = tmp_path / "out"
    check_run("valgrind", "-q", "--tool=callgrind", "--compress-strings=no",
              f"--callgrind-out-file={output}", whole.front)
    parts = [part.split("\n", 1) for part in output.read_text().split("\nfl=")[1:]]
    files = {name: file for file, rest in parts for name in re.findall("^fn=(.*)$", rest, re.M)}
    assert {*HOT[:-1], *SIDES, *SIDES.values()} <= set(files)
    assert all(files[name].endswith("whole.cpp") for pair in SIDES.items() for name in pair)
