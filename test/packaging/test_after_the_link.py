"""What packaging does to a linked program, and whether its front stays where it was."""

import shutil
from pathlib import Path

import pytest
from abilities import need, needs
from elftools.elf.elffile import ELFFile
from trees import PROGRAMS, checked

# As dh_strip, Fedora's find-debuginfo and others call them. docs/how-to/package.md lists these.
HARMLESS = [
    ["strip", "--remove-section=.comment", "--remove-section=.note"],
    ["strip", "--strip-debug"],
    ["llvm-strip-22"],
    ["eu-strip"],
    ["objcopy", "--strip-all", "--compress-debug-sections"],
    ["llvm-objcopy-22", "--strip-all"],
    ["dwz"],
    ["debugedit", "--build-id", "--base-dir=/", "--dest-dir=/usr/src"],
]


@pytest.fixture(scope="module")
def program(link_options, tmp_path_factory) -> Path:
    """A program with a front, debug information and a build ID."""
    folder = tmp_path_factory.mktemp("program")
    checked("g++", "-g", "-O1", "-ffunction-sections", *PROGRAMS.glob("*.cpp"), *link_options,
            "-Wl,--build-id=sha1", "-o", folder / "program")
    return folder / "program"


def loaded(path: Path) -> dict[str, tuple]:
    """Where the sections that are loaded are, and what is in them; and how they are mapped."""
    with open(path, "rb") as file:
        image = ELFFile(file)
        found = {section.name: (section["sh_offset"], section["sh_addr"], section.data())
                 for section in image.iter_sections() if section["sh_flags"] & 2}
        # The kernel maps whole pages: strip may take away what fills the last one with zeros.
        found["mapping"] = tuple(sorted((one["p_type"], one["p_offset"],
                                         -(-one["p_filesz"] // 4096))
                                        for one in image.iter_segments()))
    return found


def changed(program: Path, *commands: list) -> set[str]:
    """What the commands change in the program's copy `changed`, which still has to run."""
    copy = program.with_name("changed")
    shutil.copy(program, copy)
    for command in commands:
        need(f"program:{command[0]}")
        checked(*command, copy)
    assert "words" in checked(copy)
    before, after = loaded(program), loaded(copy)
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize("command", HARMLESS, ids=" ".join)
def test_strippers_keep_the_front(program, command):
    """They change no byte that is loaded, but for debugedit the build ID, which it is for."""
    assert changed(program, command) <= {".note.gnu.build-id"}


def test_debug_information_in_a_file_of_its_own_is_found(program):
    """The steps of dh_strip: the front stays, and gdb's way to the debug information is there."""
    debug = program.with_name("program.debug")
    checked("objcopy", "--only-keep-debug", "--compress-debug-sections", program, debug)
    assert changed(program, HARMLESS[0], ["objcopy", f"--add-gnu-debuglink={debug}"]) == set()
    assert "program.debug" in checked("readelf", "--string-dump=.gnu_debuglink",
                                      program.with_name("changed"))


@needs("program:patchelf")
def test_patchelf_moves_what_grows_out_of_the_front(program):
    """The exception: where a longer path needs room, the loader's tables go to the end."""
    grown = changed(program, ["patchelf", "--set-rpath", "/a/folder/of/libraries" * 4])
    assert {".dynstr", "mapping"} <= grown
