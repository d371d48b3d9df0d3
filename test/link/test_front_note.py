"""The note that says where a file's front ends, in all kinds of files; and what of a table that is
left out of the front it has: one place that nearly all runs touch."""

import os
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from frontload.elf import file as elf
from frontload.elf import front as front_of
from linking import LD_FRONTLOAD, Entry, bare_front, check_run, compile_text, front, ld, measured
from places import LLVM
from whole import PAGE, file_offset, load_segments

ROOM = 16
# Freestanding, for any target.
PROGRAM = """
    const char *volatile sink;
    const char *const *volatile tables;
    int data = 3;
    static const char *const hot_table[] = {"hot, the first", "hot, the second"};
    static const char *const cold_table[] = {"cold, the first", "cold, the second"};
    __attribute__((noinline)) void cold(void) { sink = "cold alone"; tables = cold_table; }
    __attribute__((noinline)) void hot(void) { sink = "hot alone"; tables = hot_table; }
    void _start(void) { data ? hot() : cold(); }
"""
CREL = "-Wa,--crel,--allow-experimental-crel"


def front_notes(path: Path) -> list[tuple[int, list[tuple[int, int]]]]:
    """The notes of a front in a file's PT_NOTE segments: offset, and the ranges' addresses."""
    found = []
    with path.open("rb") as stream:
        linked = ELFFile(stream)
        order = "<" if linked.little_endian else ">"
        for note in (n for s in linked.iter_segments("PT_NOTE") for n in s.iter_notes()):
            if note["n_name"] == "Frontload":
                version, count, *numbers = struct.unpack(f"{order}II{2 * ROOM}Q",
                                                         note["n_descdata"])
                assert version == 3 and count >= 1 and not any(numbers[2 * count:])
                ranges = zip(numbers[:2 * count:2], numbers[1:2 * count:2], strict=True)
                found.append((note["n_offset"], list(ranges)))
    return found


def check_note(linked) -> None:
    """It is in the first page, and tells the end that the report tells; each range is in memory as
    it is in the file."""
    path = linked.path
    ((offset, ranges),) = front_notes(path)
    assert offset < PAGE
    # The last byte of the front is one that is loaded.
    offsets = [(file_offset(path, begin), file_offset(path, end - 1) + 1) for begin, end in ranges]
    assert all(to - at == end - begin
               for (at, to), (begin, end) in zip(offsets, ranges, strict=True))
    assert offsets[0][0] == 0 and offsets[-1][1] == linked.end
    # Where pages are small, they follow each other: one range for whoever reads the file.
    if max(segment.p_align for segment in load_segments(path)) == PAGE:
        offsets = [(0, linked.end)]
    assert front_of.ranges_of(elf.read(path)) == offsets


@pytest.mark.parametrize("flags", [
    ["-no-pie"], ["-shared"], ["-static-pie"], ["-pie", "-Wl,-z,separate-loadable-segments"],
    ["-pie", "-s"], ["-pie", "-nostdlib"]], ids=" ".join)
def test_a_file_of_any_kind_has_it(tmp_path, flags):
    """Programs and libraries, whether or not they have an interpreter or other notes."""
    start = "void _start(void) {}" if "-nostdlib" in flags else "int main(void) { return f(0); }"
    o = compile_text(tmp_path, "a.c", f"""
        const char *f_word; int filler[9] = {{1}};
        int f(int x) {{ f_word = "word"; return x; }} {start}
    """, "-fPIC")
    check_note(front(tmp_path, o, *flags, entries=["f"]))


# i386, 32-bit ARM and MIPS have addends in the bytes that are relocated, and 64-bit MIPS of little
# endian has a layout of its own for relocations.
@pytest.mark.parametrize("target", [
    "i386", "i386 -fPIC", f"i386 {CREL}", "armv7", "armebv7", "thumbv7", "mips", "mipsel", "mips64",
    "mips64el", "riscv32", "riscv64", "aarch64", "aarch64_be", "x86_64", f"x86_64 {CREL}",
    "powerpc", "powerpc64le", "s390x"])
def test_a_target_of_any_kind_has_it(tmp_path, target):
    """32 and 64 bits, both byte orders, and with other features to claim. The front has the strings
    that its code and tables refer to, by a label or by their place in the section."""
    processor, *flags = target.split()
    o = compile_text(tmp_path, "a.c", PROGRAM, f"--target={processor}-linux-gnu", "-ffreestanding",
                     "-fno-pic", "-Wno-everything", *flags, compiler="clang")
    linked = bare_front(tmp_path, o, entry="_start", entries=("_start", "hot"))
    check_note(linked)
    for text in (b" alone\0", b", the first\0", b", the second\0"):
        assert linked.front_has(b"hot" + text), text
        # Of relocations of others it is not known what they refer to.
        assert target in ("powerpc", "powerpc64le", "s390x") or not linked.front_has(b"cold" + text)


@pytest.mark.parametrize(("target", "flag", "expected"), [
    ("x86_64", "-fcf-protection=full", "x86 feature: IBT, SHSTK"),
    ("i386", "-fcf-protection=full", "x86 feature: IBT, SHSTK"),
    ("aarch64", "-mbranch-protection=standard", "aarch64 feature: BTI, PAC")])
def test_features_of_all_objects_stay(tmp_path, target, flag, expected):
    """Branch protection is on if all objects have it, and if one has it not, it is off. An archive
    that comes first may have members that nobody needs: they do not count."""
    def compiled(name: str, text: str, *flags) -> Path:
        return compile_text(tmp_path, name, text, f"--target={target}-linux-gnu", *flags,
                            compiler="clang")

    a, b, c = (compiled("a.c", PROGRAM, flag), compiled("b.c", "int b;", flag),
               compiled("c.c", "int c;"))
    check_run(LLVM / "llvm-ar", "rcs", tmp_path / "lib.a", c)
    for objects, has in (((a, b), True), ((a, c), False), ((c, a), False),
                         ((tmp_path / "lib.a", a), True)):
        out = bare_front(tmp_path, *objects, entry="_start", entries=["hot"]).path
        assert (expected in check_run(LLVM / "llvm-readelf", "-n", out)) == has
        assert front_notes(out)


def test_an_output_that_its_owner_may_not_write(tmp_path, program, ordinary):
    """The umask may take away the right to write; the file has its note, and the same rights.
    /dev/null, to which builds link to see whether they can, stays what it is."""
    expected, out = bare_front(tmp_path, program, output="expected").path, tmp_path / "out"
    before = os.stat("/dev/null").st_rdev
    ld(program, "-e", "main", "-o", "/dev/null", f"--startup-profile={tmp_path / 'app.startup'}")
    assert os.stat("/dev/null").st_rdev == before
    check_run(*ordinary, "sh", "-c", 'umask 222 && exec "$0" "$@"', LD_FRONTLOAD, program, "-o",
              out, "-e", "main", "--front-always", f"--startup-profile={tmp_path / 'app.startup'}")
    assert out.read_bytes() == expected.read_bytes()
    assert out.stat().st_mode & 0o777 == 0o555


@pytest.mark.parametrize("lto", ["-flto", "-flto=thin"])
def test_inputs_that_are_all_bitcode(tmp_path, lto):
    """The note is like an object of the C library or, without any, what is compiled first."""
    o = compile_text(tmp_path, "a.c", "int main(void) { return 0; }", lto, compiler="clang")
    check_note(front(tmp_path, o, lto))
    check_note(bare_front(tmp_path, o))


PLACE = 300 << 10
# `number`, which no other place has, tells where a table is.
TABLES = """
    .macro table name, align, size
    .globl \\name
    .section .rodata.\\name, "a"
    .balign \\align
    .type \\name, @object
    .size \\name, \\size
    \\name:
    .rept (\\size - 8) / 4
    .long number
    .set number, number + 1
    .endr
    .endm
    .set number, 0
    table first, 4, 600012
    .quad %s
    table second, 64, 512000
    .quad 0
    .section .rodata.cold, "a"
    .zero 4096
    .text
    .globl main
    .type main, @function
    main: xor %%eax, %%eax
    ret
    .section .note.GNU-stack, "", @progbits
"""


def extra_ranges(folder, entries, *flags, pointer="0", **header) -> list:
    """The ranges of the note that lie behind the front: name and offset of what they begin and end
    in."""
    o = compile_text(folder, "tables.s", TABLES % pointer, compiler="clang")
    linked = front(folder, o, *flags, entries=[measured("main"), *entries], **header)
    image = linked.image
    assert image.section_of("first") == ".rodata"
    tables = [(name, image.symbols[name].address) for name in ("first", "second")]
    rest = image.sections[".rodata"]["sh_addr"]

    def place(address: int) -> tuple[str, int]:
        return min(((name, address - at) for name, at in tables if at <= address),
                   key=lambda found: found[1])

    ((_, ranges),) = front_notes(linked.path)
    return [(place(begin), place(end)) for begin, end in ranges if begin >= rest]


def table(name: str, touched: str = f"112@{PLACE}-{PLACE + 143}", **fields) -> Entry:
    return Entry("data", "rodata", name, touched=touched, **fields)


def in_table(name: str) -> tuple:
    return (name, PLACE), (name, PLACE + 144)


@pytest.mark.parametrize("flag", ["-pie", "-no-pie"])
@pytest.mark.parametrize("names", [["second", "first"], ["first", "second"]])
def test_the_place_in_a_table_is_a_range_of_its_own(tmp_path, flag, names):
    """Wherever what is left out before it, with another alignment, moves it."""
    assert extra_ranges(tmp_path, map(table, names), flag) == [*map(in_table, names)]


@pytest.mark.parametrize(("entries", "ranges"), [
    # Nearly all runs have to touch it: every run pays for the request.
    ([table("first", runs=9)], [in_table("first")]), ([table("first", runs=8)], []),
    # Nobody says where it was touched, or it is smaller now than when it was recorded.
    ([table("first", "112", runs=10)], []), ([table("first", "16@600012-600027", runs=10)], []),
    # To read what lies between two that are near costs less than another request.
    ([table("first", "16@599900-599915", runs=10), table("second", "16@0-15", runs=10)],
     [(("first", 599900), ("second", 16))])])
def test_places_that_are_worth_a_request(tmp_path, entries, ranges):
    assert extra_ranges(tmp_path, entries, runs=10, data_runs=10) == ranges


@pytest.mark.parametrize("build_id", ["fast", "md5", "sha1", "0x123456789abcdef0"])
def test_the_build_id_is_of_the_finished_file(tmp_path, build_id):
    """Files that differ in the note alone are two files to debuggers. A chosen one is kept."""
    found = []
    for place in (PLACE, PLACE + PAGE):
        extra_ranges(tmp_path, [table("first", f"112@{place}-{place + 143}")],
                     f"-Wl,--build-id={build_id}")
        with (tmp_path / "out").open("rb") as stream:
            sections = [(s.name, s.data()) for s in ELFFile(stream).iter_sections()]
        found.append([(n, d) for n, d in sections if n != ".note.frontload"])
    differ = {name for (name, one), (_, two) in zip(*found, strict=True) if one != two}
    assert differ == (set() if build_id[:2] == "0x" else {".note.gnu.build-id"})


def test_a_table_that_is_not_where_it_is_expected_is_not_read(tmp_path):
    """Its bytes are not those of its object. The other one is read, which is where it should be."""
    entries = [table("first"), table("second")]
    assert extra_ranges(tmp_path, entries, "-no-pie", pointer="main") == [in_table("second")]
