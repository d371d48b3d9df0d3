"""Data by record: what was touched is in the front, what was not is behind it."""

import pytest
from linking import (
    COMPILERS,
    LLVM,
    Entry,
    Image,
    check_run,
    compile_text,
    ld,
    link,
    measured,
    report_of,
    write_profile,
)
from whole import file_offset

MAIN = "int main(void) { return 0; }\n"


def linked(tmp_path, *objects, entries, flags=(), driver=None, **header):
    """Links with a profile; returns the output and the report."""
    report = tmp_path / "report.json"
    link(tmp_path / "out", *objects, *flags, f"-Wl,--front-report={report}", driver=driver,
         profile=write_profile(tmp_path, *entries, **header))
    return tmp_path / "out", report_of(report)


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
    out, report = linked(tmp_path, o, entries=[measured("hot"), measured("main"), data("touched")])
    check_run(out)
    image = Image(out)
    assert image.section_of("touched") == ".rodata.front"
    assert image.section_of("untouched") == ".rodata"
    # Next to the front, before what nothing refers to.
    assert image.symbols["untouched"].address < image.symbols["unrelated"].address
    assert report.placed == 3 and not report.missing
    out, _ = linked(tmp_path, o, entries=["hot", "main"])
    assert {Image(out).section_of(n) for n in ("touched", "untouched")} == {".rodata.front"}


def test_data_of_runs_without_a_record(tmp_path):
    """A function that only runs without a record of data have touched has its data by reference."""
    o = compile_text(tmp_path, "a.c", """
        const int a_data[9] = {1, 2}, b_data[9] = {3, 4}, touched[9] = {1};
        __attribute__((noinline)) int a(int x) { return a_data[x]; }
        __attribute__((noinline)) int b(int x) { return b_data[x]; }
    """ + MAIN)
    out, _ = linked(tmp_path, o, entries=[measured("main"), measured("a"), data("touched"),
                                          "b"], runs=2, data_runs=1)
    image = Image(out)
    assert image.section_of("a_data") == ".rodata"
    assert image.section_of("b_data") == ".rodata.front"


@pytest.mark.parametrize("recorded", [".rodata.f", ".rodata.hot.f", ".rodata.unlikely.f"])
@pytest.mark.parametrize("now", [".rodata.f", ".rodata.hot.f", ".rodata.unlikely.f"])
@pytest.mark.parametrize("group", ["", ",group,comdat"])
def test_tables_that_the_compiler_has_marked(tmp_path, recorded, now, group):
    """A compiler that knows how often a function runs calls its tables after that, too: these are
    the same tables."""
    flags = "aG" if group else "a"
    o = compile_text(tmp_path, "a.s", f"""
        .section {now},"{flags}",@progbits{group.replace("group", "f")}
        .quad 1, 2, 3
        .section .rodata.other,"a",@progbits
        .quad 4
        .text
        .globl main
        .type main,@function
        main: xorl %eax, %eax
        ret
        .size main, .-main
        .section .note.GNU-stack,"",@progbits
    """)
    entry = Entry("section", "rodata", recorded, file="a.o", touched="24")
    out, report = linked(tmp_path, o, entries=[measured("main"), entry])
    check_run(out)
    assert not report.missing and Image(out).sections[".rodata.front"].sh_size == 24


def test_local_data_of_one_name_is_told_apart_by_object(tmp_path):
    """As `archive(member)`."""
    members = [compile_text(tmp_path, f"{n}.c", f"""
        static const int table[9] = {{{i}, 2, 3}};
        int {n}(int x) {{ return table[x]; }}
    """, "-g0") for i, n in enumerate(("first", "other"))]
    archive = tmp_path / "libx.a"
    check_run("ar", "rcs", archive, *members)
    main = compile_text(tmp_path, "main.c", """
        int first(int), other(int); int main(int c, char **v) { return first(c) - other(c); }
    """)
    out, _ = linked(tmp_path, main, archive,
                    entries=[measured("main"), measured("first"), measured("other"),
                             data("table", file="libx.a(other.o)")])
    check_run(out)
    listing = check_run(LLVM / "llvm-nm", "--numeric-sort", "--format=posix", out)
    addresses = [int(line.split()[2], 16) for line in listing.splitlines()
                 if line.startswith("table ")]
    front = Image(out).sections[".rodata.front"]
    content = out.read_bytes()
    inside = {content[file_offset(out, a)]: front["sh_addr"] <= a < front["sh_addr"] +
              front["sh_size"] for a in addresses}
    assert inside == {0: False, 1: True}


JUMPS = "".join(f"case {i}: g({i * 7}, x); break;" for i in range(12))


def switching(name: str) -> str:
    return f"void g(int, int); void {name}(int x) {{ switch (x) {{ {JUMPS} }} }}\n"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sections_without_a_symbol_are_placed_by_object_and_name(tmp_path, compiler):
    """Of two jump tables that touched functions refer to, the one that was touched."""
    a, b = (compile_text(tmp_path, f"{n}.c", switching(n), compiler=compiler) for n in "ab")
    main = compile_text(tmp_path, "main.c", "void g(int x, int y) {}\n" + MAIN)
    out, report = linked(tmp_path, main, a, b, entries=[
        measured("main"), measured("a"), measured("b"),
        Entry("section", "rodata", ".rodata.b", "b.o")])
    sections = Image(out).sections
    size, rest = (sections[n]["sh_size"] for n in (".rodata.front", ".rodata"))
    assert rest >= size > 0
    out, _ = linked(tmp_path, main, a, b, entries=[measured("main"), measured("a"), measured("b")])
    assert Image(out).sections[".rodata.front"]["sh_size"] >= 2 * size
    assert report.placed == 4 and not report.missing


def test_a_section_of_a_copy_that_did_not_survive(tmp_path):
    """The jump table of an inline function is recorded in one object, but kept from another: it is
    placed, and its entry is not missing."""
    text = f"""
        void g(int, int);
        template <class T> __attribute__((noinline)) void inlined(T x) {{
          switch (x) {{ {JUMPS} }}
        }}
        void %s(int x) {{ inlined(x); }}
    """
    a, b = (compile_text(tmp_path, f"{n}.cpp", text % n, compiler="clang") for n in "ab")
    main = compile_text(tmp_path, "main.cpp", "void g(int x, int y) {}\n"
                        "int main() { return 0; }")
    name = "_Z7inlinedIiEvT_"
    out, report = linked(tmp_path, main, a, b, driver=COMPILERS["clang"][1], entries=[
        measured("main"), measured(name), Entry("section", "rodata", f".rodata.{name}", "b.o")])
    assert Image(out).sections[".rodata.front"]["sh_size"] == 48
    assert report.placed == 3 and not report.missing


@pytest.mark.parametrize("touched, section", [("16", ".rodata"), ("4096/16", ".rodata.front")])
def test_a_large_table_is_placed_by_how_much_of_it_is_touched(tmp_path, touched, section):
    """Left out it follows the front, and is not missing."""
    o = compile_text(tmp_path, "a.c", "const int table[1 << 18] = {1};\n"
                     "const int cold[9] = {1};\n" + MAIN)
    entries = [measured("main"), data("table", touched=touched)]
    out, report = linked(tmp_path, o, entries=entries)
    image = Image(out)
    assert image.section_of("table") == section
    assert image.symbols["table"].address < image.symbols["cold"].address
    assert not report.missing
    assert (report.placed, report.left_out) == (
        (1, {"table"}) if section == ".rodata" else (2, set()))
    found = ld(o, "-o", tmp_path / "out", "-e", "main",
               f"--startup-profile={write_profile(tmp_path, *entries)}").stderr
    assert found.endswith(": 2 of 2 names found (100.0%)\n")


def test_a_profile_of_what_is_left_out_is_found(tmp_path):
    """It is no profile of another program."""
    o = compile_text(tmp_path, "a.c", "const int table[1 << 18] = {1};\n" + MAIN)
    _, report = linked(tmp_path, o, entries=[data("table", touched="16")])
    assert (report.placed, report.left_out) == (0, {"table"})


def test_a_large_object_in_one_section(tmp_path):
    """Without -ffunction-sections, touched all over, all of it is in the front."""
    body = "".join(f"f{i}: .zero 65536; .globl f{i}\n" for i in range(8))
    big = compile_text(tmp_path, "big.s", f".text\n{body}\n"
                       ".section .note.GNU-stack,\"\",@progbits\n", compiler="clang")
    main = compile_text(tmp_path, "main.c", MAIN)
    out, _ = linked(tmp_path, main, big, entries=["main", *(f"f{i}" for i in range(8))])
    assert Image(out).section_of("f3") == ".text.front"
    out, report = linked(tmp_path, main, big, entries=["main", "f3"])
    assert Image(out).section_of("f3") == ".text"
    assert (report.placed, report.left_out) == (1, {"f3"})


def test_bss_is_in_the_order_of_touches(tmp_path):
    """COMMON and thread-local zeros stay where they are."""
    o = compile_text(tmp_path, "a.c", """
        int z1[9], z2[9], z3[9], z4[9]; __thread int local[9];
        __attribute__((common)) int common[9];
        int main(void) { return z1[0] + z2[1] + z3[2] + local[3] + common[4] + z4[0]; }
    """, "-fcommon", "-O0")
    o2 = compile_text(tmp_path, "b.c", "int y1[9], y2[9], y3[9];", "-fno-common")
    out, report = linked(tmp_path, o, o2, entries=[
        "main", *(data(name, "bss") for name in ("y2", "y3", "y1", "local", "common"))])
    check_run(out)
    image = Image(out)
    addresses = [image.symbols[name].address for name in ("y2", "y3", "y1", "z1")]
    assert addresses == sorted(addresses)
    assert image.section_of("common") == ".bss" and image.section_of("local") == ".tbss"
    assert report.placed == 4 and report.unmovable == 2


def test_data_of_another_class_than_recorded(tmp_path):
    """A constant becomes relocated data in a program that is position-independent."""
    o = compile_text(tmp_path, "a.c", """
        int x; int *const table[2] = {&x, &x}; int *const before[2] = {&x, &x};
    """ + MAIN, "-fPIE")
    _, report = linked(tmp_path, o, entries=["main", data("table")], flags=["-pie"])
    assert report.placed == 2 and not report.missing


def test_tiers_come_before_first_touch(tmp_path):
    """What all runs touched lies before what few did, data by the runs that recorded data."""
    o = compile_text(tmp_path, "a.c", """
        __attribute__((used)) int few(int x) { return x; }
        __attribute__((used)) int most(int x) { return x + 1; }
        const int few_data[9] = {1}, all_data[9] = {2};
    """ + MAIN)
    out, _ = linked(tmp_path, o, runs=10, data_runs=2, entries=[
        Entry("function", "text", "few", runs=2), Entry("function", "text", "most", runs=5),
        Entry("function", "text", "main", runs=10),
        data("few_data", runs=1), data("all_data", runs=2)])
    image = Image(out)
    for names in (("main", "most", "few"), ("all_data", "few_data")):
        addresses = [image.symbols[n].address for n in names]
        assert addresses == sorted(addresses)
    assert {image.section_of(n) for n in ("few", "few_data")} == {".text.front", ".rodata.front"}
