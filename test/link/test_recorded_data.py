"""Data by record: what was touched is in the front, what was not is behind it."""

import pytest
from linking import COMPILERS, MAIN, Entry, check_run, compile_text, front, measured


def data(name: str, section_class: str = "rodata", **fields) -> Entry:
    return Entry("data", section_class, name, **fields)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_only_recorded_constants_are_in_the_front(tmp_path, compiler):
    """Of two that a function refers to the touched one; the other follows the front. Without a
    record both are in it."""
    o = compile_text(tmp_path, "a.c", """
        const int touched[9] = {1, 2}, untouched[9] = {3, 4}, unrelated[9] = {5};
        __attribute__((noinline)) int hot(int x) { return x < 5 ? touched[x] : untouched[x]; }
        int main(int c, char **v) { return hot(c) != 2; }
    """, compiler=compiler)
    linked = front(tmp_path, o, entries=[measured("hot"), measured("main"), data("touched")])
    check_run(linked.path)
    image = linked.image
    assert image.section_of("touched") == ".rodata.front"
    assert image.section_of("untouched") == ".rodata"
    # Next to the front, before what nothing refers to.
    assert image.is_ordered("untouched", "unrelated")
    assert linked.names["placed"] == 3 and not linked.missing
    image = front(tmp_path, o, entries=["hot", "main"]).image
    assert image.sections_of("touched", "untouched") == {".rodata.front"}


@pytest.mark.parametrize(("recorded", "now", "group"), [
    (".rodata.f", ".rodata.hot.f", ""), (".rodata.hot.f", ".rodata.unlikely.f", ",f,comdat"),
    (".rodata.unlikely.f", ".rodata.f", ",f,comdat"), (".rodata.hot.f", ".rodata.hot.f", "")])
def test_tables_that_the_compiler_has_marked(tmp_path, recorded, now, group):
    """A compiler that knows how often a function runs calls its tables after that, too: these are
    the same tables."""
    table = compile_text(tmp_path, "a.s", f"""
        .section {now},"{"aG" if group else "a"}",@progbits{group}
        .quad 1, 2, 3
        .section .rodata.other,"a",@progbits
        .quad 4
        .section .note.GNU-stack,"",@progbits
    """)
    entry = Entry("section", "rodata", recorded, file="a.o", touched="24")
    linked = front(tmp_path, compile_text(tmp_path, "main.c", MAIN), table,
                   entries=[measured("main"), entry])
    assert not linked.missing and linked.image.sections[".rodata.front"].sh_size == 24


@pytest.mark.parametrize("touched, section", [("16", ".rodata"), ("4096/16", ".rodata.front")])
def test_a_large_table_is_placed_by_how_much_of_it_is_touched(tmp_path, touched, section):
    """Left out it follows the front, and is not missing: it is no profile of another program."""
    o = compile_text(tmp_path, "a.c", "const int table[1 << 18] = {1};\n"
                     "const int cold[9] = {1};\n" + MAIN)
    table = data("table", touched=touched)
    linked = front(tmp_path, o, entries=[measured("main"), table])
    assert linked.image.section_of("table") == section
    assert linked.image.is_ordered("table", "cold")
    left_out = ["table"] if section == ".rodata" else []
    assert linked.names["left_out"] == left_out and not linked.missing
    assert linked.names["placed"] == 2 - len(left_out)
    assert ": 2 of 2 names found (100.0%)" in linked.said
    assert front(tmp_path, o, entries=[table]).names["placed"] == 1 - len(left_out)


def test_a_large_object_in_one_section(tmp_path):
    """Without -ffunction-sections, touched all over, all of it is in the front."""
    body = "".join(f"f{i}: .zero 65536; .globl f{i}\n" for i in range(8))
    big = compile_text(tmp_path, "big.s", f".text\n{body}\n"
                       ".section .note.GNU-stack,\"\",@progbits\n", compiler="clang")
    main = compile_text(tmp_path, "main.c", MAIN)
    linked = front(tmp_path, main, big, entries=["main", *(f"f{i}" for i in range(8))])
    assert linked.image.section_of("f3") == ".text.front"
    linked = front(tmp_path, main, big, entries=["main", "f3"])
    assert linked.image.section_of("f3") == ".text"
    assert (linked.names["placed"], linked.names["left_out"]) == (1, ["f3"])


def test_bss_is_in_the_order_of_touches(tmp_path):
    """COMMON and thread-local zeros stay where they are."""
    o = compile_text(tmp_path, "a.c", """
        int z1[9], z2[9], z3[9], z4[9]; __thread int local[9];
        __attribute__((common)) int common[9];
        int main(void) { return z1[0] + z2[1] + z3[2] + local[3] + common[4] + z4[0]; }
    """, "-fcommon", "-O0")
    o2 = compile_text(tmp_path, "b.c", "int y1[9], y2[9], y3[9];", "-fno-common")
    linked = front(tmp_path, o, o2, entries=[
        "main", *(data(name, "bss") for name in ("y2", "y3", "y1", "local", "common"))])
    image = linked.image
    assert image.is_ordered("y2", "y3", "y1", "z1")
    assert image.section_of("common") == ".bss" and image.section_of("local") == ".tbss"
    assert linked.names["placed"] == 4 and linked.names["unmovable"] == 2


def test_data_of_another_class_than_recorded(tmp_path):
    """A constant becomes relocated data in a program that is position-independent."""
    o = compile_text(tmp_path, "a.c", """
        int x; int *const table[2] = {&x, &x}; int *const before[2] = {&x, &x};
    """ + MAIN, "-fPIE")
    linked = front(tmp_path, o, "-pie", entries=["main", data("table")])
    assert linked.names["placed"] == 2 and not linked.missing
