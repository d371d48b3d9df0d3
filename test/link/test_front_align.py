"""--front-align: the code of the front, and that behind it, begin at a multiple of what it says."""

import platform
import re

import pytest
from elftools.elf.elffile import ELFFile
from linking import (
    Image,
    check_run,
    compile_text,
    functions,
    ld,
    link,
    write_profile,
)
from other_lld import other_lld

KIB, MIB = 1 << 10, 1 << 20
# A string and a jump table, so that the front has more than code.
PROGRAM = "#include <stdio.h>\n" + functions("cold") + """
int main(int argc, char **argv) {
  if (argc > 1)
    return cold(argc);
  printf("%lx\\n", (unsigned long)main);
  return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    return compile_text(tmp_path, "a.c", PROGRAM, "-fPIC")


@pytest.fixture
def profile(tmp_path):
    return write_profile(tmp_path, "main")


def segments(path) -> list:
    with path.open("rb") as stream:
        return [s.header for s in ELFFile(stream).iter_segments("PT_LOAD")]


def padding(path) -> int:
    """What lies in the file before the code of the front, and before that behind it."""
    sections = [s for s in Image(path).sections.values()
                if s["sh_flags"] & 2 and s["sh_type"] != "SHT_NOBITS" and s["sh_size"]]
    ends = sorted(s["sh_offset"] + s["sh_size"] for s in sections)
    begins = [Image(path).sections[name]["sh_offset"] for name in (".text.front", ".text")]
    return sum(begin - max(end for end in ends if end <= begin) for begin in begins)


@pytest.mark.parametrize("said, size", [("64K", 64 * KIB), ("2M", 2 * MIB), ("16384", 16 * KIB)])
@pytest.mark.parametrize("kind", ["-pie", "-no-pie", "-shared", "-static"])
def test_code_begins_at_a_multiple(tmp_path, program, profile, kind, said, size):
    """In the file as in memory, with a segment that the kernel places so; and it says the price."""
    out = tmp_path / "out"
    result = link(out, program, kind, f"-Wl,--front-align={said}", profile=profile)
    sections = Image(out).sections
    for name in (".text.front", ".text"):
        assert sections[name]["sh_addr"] % size == sections[name]["sh_offset"] % size == 0
        [segment] = [s for s in segments(out) if s["p_flags"] & 1
                     and s["p_vaddr"] <= sections[name]["sh_addr"] < s["p_vaddr"] + s["p_memsz"]]
        assert segment["p_align"] % size == 0
    told = re.search(rf"note: --front-align={said}: (\d+) bytes of padding\n", result.stderr)
    assert told and int(told[1]) == padding(out) < 2 * size
    distances = {s["p_vaddr"] - s["p_offset"] for s in segments(out)}
    assert len(distances) == 1  # as in every file with a front


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_the_kernel_keeps_to_it(tmp_path, program, profile, kind):
    """Also where it chooses the address."""
    if tuple(map(int, platform.release().split(".")[:2])) < (5, 10):
        pytest.skip("Linux before 5.10 does not look at the alignment of a segment")
    link(tmp_path / "out", program, kind, "-Wl,--front-align=2M", profile=profile)
    offset = Image(tmp_path / "out").symbols["main"].address % (2 * MIB)
    assert int(check_run(tmp_path / "out"), 16) % (2 * MIB) == offset


def test_by_another_lld_too(tmp_path, program, profile):
    """It has the same script."""
    flags = ["-Wl,--front-align=64K", f"-Wl,--lld={other_lld('22')}"]
    result = link(tmp_path / "out", program, "-pie", *flags, profile=profile)
    assert "bytes of padding" in result.stderr
    assert Image(tmp_path / "out").sections[".text.front"]["sh_offset"] % (64 * KIB) == 0


def test_more_than_the_image_is_aligned_to(tmp_path, program, profile):
    """A program at a fixed address begins at a multiple, unless its place is given."""
    flags = ["-e", "main", "--unresolved-symbols=ignore-all", f"--startup-profile={profile}"]
    ld(program, "-o", tmp_path / "out", *flags, "--front-align=16M")
    assert min(s["p_vaddr"] for s in segments(tmp_path / "out")) == 16 * MIB
    ld(program, "-o", tmp_path / "out", *flags, "--front-align=2M", "--image-base=0x400000")
    assert min(s["p_vaddr"] for s in segments(tmp_path / "out")) == 4 * MIB
    result = ld(program, "-o", tmp_path / "out", *flags, "--front-align=2M",
                "--image-base=0x10000", code=2)
    assert result.stderr == (
        "ld.frontload: error: --front-align=2M: --image-base=0x10000 is not a multiple of it\n"
        "ld.frontload: note: leave it out, or name a multiple\n")


def test_off_by_default(tmp_path, program, profile):
    """Nothing is said then, and nothing padded by more than a page."""
    result = link(tmp_path / "out", program, "-no-pie", profile=profile)
    assert "padding" not in result.stderr
    assert padding(tmp_path / "out") < 2 * 4 * KIB


@pytest.mark.parametrize("value", ["", "0", "3K", "48K", "2K", "2G", "-4K", "64k", "64KB", "K",
                                   "99999999999999999999", "18446744073709551616K"])
def test_bad_sizes_are_refused(tmp_path, program, profile, value):
    """By one that can be had."""
    result = ld(program, "-o", tmp_path / "out", f"--startup-profile={profile}",
                f"--front-align={value}", code=2)
    assert result.stderr == (
        f"ld.frontload: error: --front-align: '{value}' is not a power of two from 4K to 1G\n"
        "ld.frontload: note: name the size of a large folio, such as 64K or 2M\n")


def test_without_a_profile_there_is_nothing_to_align(tmp_path, program):
    result = ld(program, "-o", tmp_path / "out", "--front-align=2M", code=2)
    assert "--front-align: there is no front without a profile" in result.stderr
