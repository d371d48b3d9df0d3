"""The tools that people use on ELF files do with a front's file what they do with any other."""

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from linking import Image, check_run
from needed import need
from places import LLVM
from whole import HOT, PAGE, SOURCE, compile_whole, file_offset, link_whole, load_segments

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from frontload.device import covering


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """whole.cpp with debug info: `front`, `plain`, and what it prints."""
    folder = tmp_path_factory.mktemp("whole")
    # The newest that all of the tools read: valgrind 3.19 reads no DWARF 5 of clang's.
    front, plain = link_whole(folder, compile_whole(folder, "-gdwarf-4"), "-Wl,--build-id")
    return SimpleNamespace(front=front, plain=plain, image=Image(front), output=check_run(plain))


def line_of(text: str) -> int:
    """The line of whole.cpp that contains `text`."""
    (found,) = [n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    return found


def split_debug_info(folder: Path, program: Path, objcopy: Path | str) -> Path:
    """A stripped copy of `program`, linked to the file with its debug info."""
    copy, debug = folder / "copy", folder / "copy.debug"
    check_run(objcopy, "--only-keep-debug", program, debug)
    check_run(objcopy, "--strip-all", f"--add-gnu-debuglink={debug}", program, copy)
    assert ".debug_info" not in Image(copy).sections
    return copy


@pytest.mark.parametrize("strip", ["strip", LLVM / "llvm-strip", "eu-strip"],
                         ids=["binutils", "llvm", "elfutils"])
def test_strip_leaves_what_is_loaded(tmp_path, whole, strip):
    """Each segment stays as it is, byte for byte but for the ELF header; and the program runs."""
    need(str(strip))
    stripped = tmp_path / "stripped"
    check_run(strip, "-o", stripped, whole.front)
    assert not Image(stripped).symbols and ".debug_info" not in Image(stripped).sections
    assert check_run(stripped) == whole.output
    before, after = whole.front.read_bytes(), stripped.read_bytes()
    for old, new in zip(load_segments(whole.front), load_segments(stripped), strict=True):
        same = "p_flags", "p_offset", "p_vaddr", "p_align"
        assert [old[field] for field in same] == [new[field] for field in same]
        # GNU's strip takes away the padding behind the last section of a segment, and with it
        # nothing that anybody clears.
        assert new.p_filesz <= old.p_filesz and old.p_filesz - new.p_filesz < PAGE
        assert new.p_filesz == new.p_memsz or new == load_segments(stripped)[-1]
    for section in whole.image.sections.values():
        if section["sh_flags"] & 2 and section["sh_type"] != "SHT_NOBITS":
            loaded = slice(section["sh_offset"], section["sh_offset"] + section["sh_size"])
            assert after[loaded] == before[loaded]


@pytest.mark.parametrize("debug_info", ["inside", "binutils", "llvm"])
def test_gdb_breaks_and_unwinds_on_both_sides(tmp_path, whole, debug_info):
    """Names and lines of all frames are right, also with the debug info in a file of its own."""
    objcopy = {"binutils": "objcopy", "llvm": LLVM / "llvm-objcopy"}
    program = (whole.front if debug_info == "inside"
               else split_debug_info(tmp_path, whole.front, objcopy[debug_info]))
    commands = ["set debuginfod enabled off", "break hot_3_leaf", "break cold_2_leaf", "run", "bt",
                "continue", "continue", "bt"]
    output = check_run(need("gdb"), "-nx", "-batch", *(f"--eval-command={c}" for c in commands),
                       program)
    frames = re.findall(r"^#\d .*?(\w+) \(.*\) at (?:\S*/)?whole\.cpp:(\d+)$", output, re.MULTILINE)
    call = line_of("int sum =")
    assert [(name, int(line)) for name, line in frames] == [
        ("cold_2_leaf", line_of("int cold_2_leaf")), ("hot_2_catch", line_of("cold_2_leaf(x) +")),
        ("main", call),
        ("hot_3_leaf", line_of("int hot_3_leaf")), ("cold_1_catch", line_of("hot_3_leaf(x) +")),
        ("main", call)]


def check_probe(cache: Path, program: Path, name: str, address: int) -> None:
    """Checks that `perf probe` would set its breakpoint at `address`; its cache is in `cache`."""
    # perf mounts tracefs if it is root's; that must not outlive the test.
    alone = ["unshare", "--mount"] if os.geteuid() == 0 else []
    if alone and (obstacle := covering.mounts_obstacle()):
        pytest.skip(obstacle)
    definition = check_run(*alone, need("perf"), "--buildid-dir", cache, "probe", "-x", program,
                           "-D", name)
    offset = int(re.search(r":(0x[0-9a-f]+)", definition)[1], 16)
    assert offset == file_offset(program, address)


@pytest.mark.parametrize("name", ["cold_2_leaf", "hot_3_leaf"])
def test_perf_probe_by_debug_info(tmp_path, whole, name):
    """The breakpoint is at the function's beginning."""
    check_probe(tmp_path, whole.front, name, whole.image.symbols[name].address)


@pytest.mark.parametrize("name", ["cold_2_leaf", "hot_3_leaf"])
def test_perf_probe_by_symbol(tmp_path, whole, name):
    """Without debug info, perf asks each symbol's section."""
    program = tmp_path / "program"
    check_run("strip", "--strip-debug", "-o", program, whole.front)
    check_probe(tmp_path, program, name, whole.image.symbols[name].address)


def test_valgrind_runs_it(whole):
    """Without a complaint, exceptions included."""
    assert check_run(need("valgrind"), "-q", "--error-exitcode=9", whole.front) == whole.output


@pytest.fixture(scope="module")
def callgrind(whole, tmp_path_factory) -> dict[str, str]:
    """For each function that callgrind has seen, the file that it says it is of."""
    output = tmp_path_factory.mktemp("callgrind") / "out"
    check_run(need("valgrind"), "-q", "--tool=callgrind", "--compress-strings=no",
              f"--callgrind-out-file={output}", whole.front)
    files, file = {}, ""
    for line in output.read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "fl":
            file = value
        elif key == "fn":
            files[value] = file
    return files


CALLED = ("main", "hot_1_step", "hot_2_catch", "hot_3_leaf",
          "cold_1_catch", "cold_2_leaf", "cold_3_step")


def test_valgrind_knows_the_functions_of_both_sides(callgrind):
    assert set(CALLED) <= set(callgrind)


@pytest.mark.parametrize("name", [
    "cold_2_leaf",
    pytest.param("hot_3_leaf", marks=pytest.mark.xfail(strict=True, reason=(
        "valgrind looks lines up in the section named .text only, as search_all_loctabs() does"))),
])
def test_valgrind_knows_the_source_of(callgrind, name):
    assert callgrind[name].endswith("whole.cpp")


def test_elflint_has_no_complaint_that_lld_s_file_has_not(whole):
    """eu-elflint finds fault with some of what lld does, but with nothing that a front adds, save
    that it knows only some vendors' notes."""
    need("eu-elflint")

    note = "unknown object file note type 1 with owner name 'Frontload'"

    def complaints(program: Path) -> set[str]:
        result = check_run("sh", "-c", 'eu-elflint --gnu-ld "$0" || true', program)
        # Numbers of sections and symbols differ, and what is written out is no longer NOBITS.
        differing = r"\[ *\d+\]|symbol \d+|is (NOBITS|PROGBITS)$"
        return {re.sub(differing, "", line) for line in result.splitlines() if note not in line}

    assert complaints(whole.front) <= complaints(whole.plain)


@pytest.mark.parametrize("tool", ["addr2line", LLVM / "llvm-symbolizer"], ids=["binutils", "llvm"])
def test_addresses_have_names_and_lines(whole, tool):
    """Of functions on both sides."""
    addresses = [hex(whole.image.symbols[name].address) for name in ("hot_3_leaf", "cold_2_leaf")]
    output = check_run(tool, "-f", "-e", whole.front, *addresses)
    for name in ("hot_3_leaf", "cold_2_leaf"):
        assert re.search(rf"^{name}\n.*/whole\.cpp:{line_of(f'int {name}')}\b", output,
                         re.MULTILINE)


@pytest.mark.parametrize("tool", ["objdump", LLVM / "llvm-objdump"], ids=["binutils", "llvm"])
def test_disassembly_has_both_sides(whole, tool):
    """Calls from one to the other have the callee's name."""
    output = check_run(tool, "-d", whole.front)
    for caller, callee in (("hot_2_catch", "cold_2_leaf"), ("cold_1_catch", "hot_3_leaf")):
        body = re.search(rf"<{caller}>:\n(?:.+\n)*", output)[0]
        assert re.search(rf"call.*<{callee}>", body)


def test_nm_and_size_tell_the_sections(whole):
    """Functions of the front are code (T) for nm, and count as code for size."""
    listing = check_run("nm", whole.front)
    assert all(re.search(rf" T {name}$", listing, re.MULTILINE) for name in HOT)
    text = [int(check_run("size", p).splitlines()[1].split()[0])
            for p in (whole.front, whole.plain)]
    assert abs(text[0] - text[1]) < 1024
