"""frontload finish: programs of any linker get the parts that a start touches into their note."""

import json
import shutil
import subprocess
from pathlib import Path

import noted
import pytest
from compiled import compile_to
from elftools.elf.elffile import ELFFile
from frontload.auto import programs
from frontload.elf import file as elf
from frontload.elf import front
from linking import LD_FRONTLOAD
from places import BUILD

NOTE = BUILD / "lib/frontload/note.o"
LINKERS = ["ld.bfd", "ld.gold", "mold", "ld.lld-14", "ld.lld-19", "ld.lld-22"]
# `near` and `next` are less than a request apart, `far` is not, and no run touches what is between.
SOURCE = """
    char gap[4 << 20] = {1};
    __attribute__((section(".text.near"), noinline)) int near(int x) { return x + gap[0]; }
    __attribute__((section(".text.next"), noinline)) int next(int x) { return x - gap[1]; }
    __asm__(".section .text.gap, \\"ax\\"; .globl untouched; untouched: .fill 1 << 19, 8, 0x90");
    __attribute__((section(".text.far"), noinline)) int far(int x) { return x * gap[2]; }
    void untouched(void);
    int main(int argc, char **argv) {
        if (argc > 9) untouched();
        return near(argc) + next(argc) + far(argc) - 2;
    }
"""


@pytest.fixture(scope="session")
def finishable(tmp_path_factory, llvm, library):
    """finishable(linker, *flags): a program that asks for what its note says, and its profile."""
    folder = tmp_path_factory.mktemp("finish")
    profile = folder / "app.startup"
    profile.write_text("frontload-startup-profile 2\nprogram app\nruns 1\n" + "".join(
        f"function\ttext\t1\t+1\t-\t{name}\n" for name in ("main", "near", "next", "far")))
    o = compile_to(folder / "app.o", "gcc", "-O1", "-ffunction-sections", "-c", "app.c",
                   sources={"app.c": SOURCE})

    def finishable(linker, *flags, room=(NOTE,)):
        if not (path := shutil.which(linker)):
            pytest.skip(f"{linker} is not installed")
        out = folder / f"{Path(linker).name}.{len(list(folder.iterdir()))}"
        subprocess.run(
            [llvm / "clang", f"--ld-path={path}", o, *room, "-Wl,--no-as-needed", library,
             f"-Wl,-rpath,{library.parent},--build-id,--gc-sections", *flags, "-o", out],
            check=True)
        return out, profile

    return finishable


def sections(path) -> dict[str, tuple[int, bytes]]:
    with path.open("rb") as stream:
        return {section.name: (section["sh_offset"], section.data())
                for section in ELFFile(stream).iter_sections()}


def symbol(path, name: str) -> int:
    """The offset of a function in the file."""
    with path.open("rb") as stream:
        read = ELFFile(stream)
        (found,) = read.get_section_by_name(".symtab").get_symbol_by_name(name)
        return noted.front_offset(path, found["st_value"])


@pytest.mark.parametrize("linker", LINKERS)
def test_any_linker(finishable, frontload, asked, linker):
    """Only the note changes: the build-id is that of the linker, and in the first page, where the
    kernel and core dumps have it. What is far between touched functions is not asked for."""
    path, profile = finishable(linker)
    before, blank = path.read_bytes(), sections(path)
    assert asked(path, code=None) == []
    assert "asks for" in frontload("finish", path, "--profile", profile).stdout
    at, note = sections(path)[".note.frontload"]
    after = path.read_bytes()
    assert after[:at] + blank[".note.frontload"][1] + after[at + len(note):] == before
    build_id, identity = blank[".note.gnu.build-id"]
    assert build_id + len(identity) <= noted.PAGE and at + len(note) <= noted.PAGE
    ranges = front.ranges_of(elf.read(path))
    assert asked(path, code=None) == [piece for each in ranges for piece in noted.pieces(*each)]
    for name, has in (("near", True), ("next", True), ("far", True), ("untouched", False)):
        place = symbol(path, name) + (noted.MIB if name == "untouched" else 0)
        assert any(begin <= place < end for begin, end in ranges) == has, name


@pytest.mark.parametrize("linker", ["ld.bfd", "mold", "ld.lld-22"])
def test_its_ranges_are_no_front(finishable, frontload, linker):
    """check and report call them a note, and the linker its own."""
    path, profile = finishable(linker)
    frontload("finish", path, "--profile", profile)
    said = frontload("check", path, "--profile", profile).stdout
    assert "4 of 4 names of app (1 run) in its note: 100.00%" in said and "front" not in said
    assert "its note, of another linker  100.00%" in " ".join(said.split()).replace("r 1", "r  1")
    found = json.loads(frontload("check", path, "--profile", profile, "--json=-").stdout)
    assert found["front"]["is"] == "note" and found["asked"]["by"][0]["by"] == "note"
    assert found["asked"]["unasked_names"] == []
    refused = frontload("check", path, "--profile", profile, "--require-front", code=1)
    assert "was linked without a front" in refused.stderr
    read = elf.read(path)
    assert front.ranges_of(read) and not front.has_front(read)
    assert not programs.look(path).has_front


def test_again_and_after_strip(finishable, frontload, tmp_path):
    """The note is the same before strip and after it, with the debug file; and finishing again
    writes nothing."""
    path, profile = finishable("ld.bfd")
    stripped, debug = tmp_path / "stripped", tmp_path / "stripped.debug"
    for command in (["--only-keep-debug", path, debug], ["--strip-all", path, stripped],
                    [f"--add-gnu-debuglink={debug}", stripped]):
        subprocess.run(["objcopy", *command], check=True)
    for each in (path, stripped):
        frontload("finish", each, "--profile", profile)
    note = sections(stripped)[".note.frontload"]
    assert note == sections(path)[".note.frontload"] and note[1][28] > 1
    subprocess.run(["strip", path], check=True)
    assert sections(path)[".note.frontload"] == note
    before = path.stat().st_mtime_ns
    path.chmod(0o555)
    said = frontload("finish", stripped, "--profile", profile).stdout
    assert "asks for" in said and path.stat().st_mtime_ns == before


def test_what_stays_as_it_is(finishable, frontload, tmp_path):
    """Without room, with a front, or where the profile is of another program."""
    path, profile = finishable("ld.bfd", room=())
    said = frontload("finish", path, "--profile", profile, code=65)
    assert "has no room for a note" in said.stderr and "note.o" in said.stderr
    path, profile = finishable(str(LD_FRONTLOAD), f"-Wl,--startup-profile={profile},--front-always")
    before, parts = path.read_bytes(), front.ranges_of(elf.read(path))
    assert "has a front by ld.frontload" in frontload("finish", path, "--profile", profile).stdout
    assert path.read_bytes() == before and parts
    path, _ = finishable("ld.bfd")
    before, other = path.read_bytes(), tmp_path / "other.startup"
    other.write_text(profile.read_text().replace("near", "gone").replace("far", "away"))
    assert "2 of 4 names" in frontload("finish", path, "--profile", other, code=1).stderr
    assert path.read_bytes() == before
    said = frontload("finish", path, "--profile", other, "--min-match", "50")
    assert "2 of 4 names" in said.stderr
