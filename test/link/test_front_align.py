"""--front-align: the code begins at a multiple of what it says."""

import pytest
from abilities import needs
from linking import Image, bare_front, check_run, compile_text, front, functions, ld, write_profile
from whole import load_segments

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


def padding(path) -> int:
    """What lies in the file before the code."""
    sections = [s for s in Image(path).sections.values()
                if s["sh_flags"] & 2 and s["sh_type"] != "SHT_NOBITS" and s["sh_size"]]
    ends = sorted(s["sh_offset"] + s["sh_size"] for s in sections)
    begin = Image(path).sections[".text"]["sh_offset"]
    return begin - max(end for end in ends if end <= begin)


@pytest.mark.parametrize(("kind", "said", "size"), [
    ("-pie", "64K", 64 * KIB), ("-no-pie", "2M", 2 * MIB), ("-shared", "16384", 16 * KIB),
    ("-static", "64K", 64 * KIB)])
def test_code_begins_at_a_multiple(tmp_path, program, kind, said, size):
    """In the file as in memory, with a segment that the kernel places so; at the price that the
    help tells."""
    linked = front(tmp_path, program, kind, f"-Wl,--front-align={said}")
    segments = load_segments(linked.path)
    section = linked.image.sections[".text"]
    assert section["sh_addr"] % size == section["sh_offset"] % size == 0
    [segment] = [s for s in segments if s["p_flags"] & 1
                 and s["p_vaddr"] <= section["sh_addr"] < s["p_vaddr"] + s["p_memsz"]]
    assert segment["p_align"] % size == 0
    assert padding(linked.path) < size
    assert len({s["p_vaddr"] - s["p_offset"] for s in segments}) == 1  # as with every front


@needs("kernel>=5.10")  # which looks at the alignment of a segment
@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_the_kernel_keeps_to_it(tmp_path, program, kind):
    """Also where it chooses the address."""
    linked = front(tmp_path, program, kind, "-Wl,--front-align=2M")
    offset = linked.image.symbols["main"].address % (2 * MIB)
    assert int(check_run(linked.path), 16) % (2 * MIB) == offset


def test_more_than_the_image_is_aligned_to(tmp_path, program):
    """A program at a fixed address begins at a multiple, unless its place is given."""
    for flags, base in ((["--front-align=16M"], 16 * MIB),
                        (["--front-align=2M", "--image-base=0x400000"], 4 * MIB)):
        out = bare_front(tmp_path, program, "--unresolved-symbols=ignore-all", *flags).path
        assert min(s["p_vaddr"] for s in load_segments(out)) == base
    result = ld(program, "-o", tmp_path / "out", f"--startup-profile={tmp_path / 'app.startup'}",
                "--front-align=2M", "--image-base=0x10000", code=2)
    assert result.stderr == (
        "ld.frontload: error: --front-align=2M: --image-base=0x10000 is not a multiple of it\n"
        "ld.frontload: note: leave it out, or name a multiple\n")


@pytest.mark.parametrize("value", ["", "0", "3K", "48K", "2K", "2G", "-4K", "64k", "64KB", "K",
                                   "99999999999999999999", "18446744073709551616K"])
def test_bad_sizes_are_refused(tmp_path, program, value):
    """By one that can be had."""
    result = ld(program, "-o", tmp_path / "out", f"--front-align={value}",
                f"--startup-profile={write_profile(tmp_path, 'main')}", code=2)
    assert result.stderr == (
        f"ld.frontload: error: --front-align: '{value}' is not a power of two from 4K to 1G\n"
        "ld.frontload: note: name the size of a large folio, such as 64K or 2M\n")


def test_without_a_profile_there_is_nothing_to_align(refused):
    assert "--front-align: there is no front without a profile" in refused("--front-align=2M")
