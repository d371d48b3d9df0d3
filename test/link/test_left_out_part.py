"""What startup touches of a table that is left out of the front is in the note, if it is one place
that nearly all runs touch."""

import pytest
from linking import LD_LLD, Entry, Image, compile_text, link, measured, write_profile
from test_front_note import front_notes

PLACE = 300 << 10
STRETCH = f"112@{PLACE}-{PLACE + 143}"

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
    %s
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


def tables(folder, pointer: str = "0", between: str = ""):
    return compile_text(folder, "tables.s", TABLES % (between, pointer), compiler="clang")


def table(name: str, **fields) -> Entry:
    return Entry("data", "rodata", name, **({"touched": STRETCH} | fields))


def extra_ranges(path) -> list[tuple[int, int]]:
    """The ranges of the note that lie behind the front."""
    ((_, ranges),) = front_notes(path)
    rest = Image(path).sections[".rodata"]["sh_addr"]
    return [each for each in ranges if each[0] >= rest]


def place_in(path, name: str) -> tuple[int, int]:
    begin = Image(path).symbols[name].address + PLACE
    return begin, begin + 144


@pytest.mark.parametrize("flags", [["-pie"], ["-no-pie"], ["-pie", f"-Wl,--lld={LD_LLD}"]],
                         ids=["pie", "no-pie", "by marks"])
def test_the_place_is_a_range_of_its_own(tmp_path, flags):
    """Wherever what is left out before it, with another alignment, moves it."""
    o = tables(tmp_path)
    out = tmp_path / "out"
    for entries in (["first"], ["second"], ["second", "first"], ["first", "second"]):
        link(out, o, *flags, profile=write_profile(
            tmp_path, measured("main"), *(table(name) for name in entries)))
        assert Image(out).section_of(entries[0]) == ".rodata"
        assert extra_ranges(out) == [place_in(out, name) for name in entries]


@pytest.mark.parametrize(("runs", "is_read"), [(10, True), (9, True), (8, False), (5, False)])
def test_nearly_all_runs_have_to_touch_it(tmp_path, runs, is_read):
    """Every run pays for the request, on a disk as much as a fault costs."""
    out = tmp_path / "out"
    link(out, tables(tmp_path), profile=write_profile(
        tmp_path, measured("main"), table("first", runs=runs), runs=10, data_runs=10))
    assert Image(out).section_of("first") == ".rodata"
    assert extra_ranges(out) == ([place_in(out, "first")] if is_read else [])


@pytest.mark.parametrize("touched", ["112", "16@600012-600027"])
def test_a_place_that_is_not_known_is_not_read(tmp_path, touched):
    """Nobody says where it was touched, or it is smaller now than when it was recorded."""
    out = tmp_path / "out"
    link(out, tables(tmp_path), profile=write_profile(
        tmp_path, measured("main"), table("first", touched=touched)))
    assert Image(out).section_of("first") == ".rodata" and not extra_ranges(out)


def test_two_places_that_are_near_are_one_range(tmp_path):
    """To read what lies between them costs less than another request."""
    out = tmp_path / "out"
    end = "16@599900-599915"
    link(out, tables(tmp_path), profile=write_profile(
        tmp_path, measured("main"), table("first", touched=end),
        table("second", touched="16@0-15")))
    symbols = Image(out).symbols
    assert extra_ranges(out) == [(symbols["first"].address + 599900,
                                  symbols["second"].address + 16)]


@pytest.mark.parametrize("change", [{"pointer": "main"}, {"between": """
    .section .rodata.cst8, "aM", @progbits, 8
    .globl merged
    .type merged, @object
    .size merged, 150000 * 8
    merged: .rept 150000
    .quad 1
    .endr
    .section .rodata.first, "a"
"""}], ids=["relocated", "merged"])
def test_a_table_that_is_not_where_it_is_expected_is_not_read(tmp_path, change):
    """Its bytes are not those of its object, or the linker has changed the size of what lies before
    it. The other one is read, if that is where it should be."""
    out = tmp_path / "out"
    entries = [table("first"), table("second")]
    if "between" in change:
        entries.insert(0, table("merged"))
    link(out, tables(tmp_path, **change), "-no-pie", profile=write_profile(
        tmp_path, measured("main"), *entries))
    expected = [place_in(out, "second")] if "pointer" in change else []
    assert extra_ranges(out) == expected
