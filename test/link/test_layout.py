"""What ld.frontload puts where."""

import struct

import pytest
from linking import MAIN, bare_front, check_run, compile_text, front, functions, link, measured
from whole import CXX, file_offset, load_segments

PF_X, MIB = 1, 1 << 20


def test_functions_lie_in_first_touch_order(tmp_path):
    """The profile's order decides, not that of the objects or of the sections in them."""
    a = compile_text(tmp_path, "a.c", functions("a1", "a2", "a3") + MAIN)
    b = compile_text(tmp_path, "b.c", functions("b1", "b2", "b3"))
    names = ("b2", "a3", "main", "b1", "a1")
    image = front(tmp_path, a, b, entries=names).image
    assert image.is_ordered(*names) and image.sections_of(*names) == {".text.front"}
    assert image.sections_of("a2", "b3") == {".text"}


def has_code_together(path) -> bool:
    """Whether one segment has all code. Breakpad, and who copied it, takes a mapping that is not
    executable behind an executable one for a new module, which has no ELF header here."""
    return sum(s.p_flags & PF_X for s in load_segments(path)) == PF_X


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_constants_without_a_symbol_follow_their_function(tmp_path, compiler):
    """Jump tables, literals and strings of a function in the front are in the front; others not."""
    body = "".join(f'case {i}: return "{{0}} string {i}";' for i in range(20))
    cases = "".join(f"case {i}: return x * {i * i + 0.37};" for i in range(8))
    text = "".join(
        f"const char *{n}(int x) {{ switch (x) {{ {body.format(n)} }} return 0; }}\n"
        f"double {n}_scale(int y, double x) {{ switch (y) {{ {cases} }} return x; }}\n"
        for n in ("hot", "cold"))
    hot = compile_text(tmp_path, "hot.c", text + MAIN, compiler=compiler)
    cold = compile_text(tmp_path, "cold.c", text.replace("hot", "chill").replace("cold", "ice"),
                        compiler=compiler)
    linked = front(tmp_path, hot, cold, entries=("main", "hot", "hot_scale"))
    content, sections = linked.path.read_bytes(), linked.image.sections

    def inside(section: str, offset: int) -> bool:
        return 0 <= offset - sections[section]["sh_offset"] < sections[section]["sh_size"]

    # Strings are merged with those of all objects; the hot ones come first.
    assert inside(".rodata.strings", content.index(b"hot string 19\0"))
    assert linked.front_has(b"hot string 19\0")
    assert not any(linked.front_has(b"%s string 0\0" % name) for name in (b"cold", b"ice"))
    # A literal of the second switch, which the code of hot_scale or a table of it refers to.
    literal = struct.pack("<d", 49.37)
    assert inside(".rodata.front", content.index(literal))
    assert inside(".rodata", content.rindex(literal))
    assert has_code_together(linked.path)


@pytest.mark.parametrize("mode", ["-no-pie", "-pie"])
def test_named_data_is_placed_by_class(tmp_path, mode):
    """Data names of a profile are put first in their class, in order; large ones too."""
    text = """
        const int ro_a[100] = {1}, ro_b[30000] = {2}, ro_c[100] = {3};
        int rw_a[10] = {1}, rw_b[10] = {2}, rw_c[10] = {3};
        int *const rel_a = &rw_a[1], *const rel_b = &rw_b[2], *const rel_c = &rw_c[3];
        const void *volatile keep[] = {ro_a, ro_b, ro_c, rw_a, rw_b, rw_c, &rel_a, &rel_b, &rel_c};
        const int unrelated[100] = {4};
        int main(void) { return keep[0] == 0; }
    """
    entries = [("data", "rodata", "ro_b"), ("data", "data", "rw_c"), ("data", "relro", "rel_b"),
               ("data", "data", "rw_a"), "main"]
    linked = front(tmp_path, compile_text(tmp_path, "a.c", text, "-fPIC"), mode, entries=entries)
    image = linked.image
    assert image.section_of("ro_b") == ".rodata.front"
    assert image.section_of("unrelated") == ".rodata"
    assert image.is_ordered("rw_c", "rw_a") and image.section_of("rw_a") == ".data.front"
    # Where relocation writes to all of it, there is nothing to gain from an order.
    is_first = image.is_ordered("rel_b", "rel_a") and image.is_ordered("rel_b", "rel_c")
    assert is_first == (mode == "-no-pie")
    assert linked.names["placed"] == len(entries)


def test_data_that_the_front_refers_to_follows_up_to_a_size(tmp_path):
    """Small tables come along, also through a table of pointers and from other objects."""
    a = compile_text(tmp_path, "a.c", """
        extern const int small[4], big[40000];
        extern const int *const pointers[2];
        int touched(int i) { return small[i] + big[i] + *pointers[i]; }
        int main(void) { return touched(0); }
    """)
    b = compile_text(tmp_path, "b.c", """
        const int small[4] = {0}, big[40000] = {0}, behind[4] = {0}, unrelated[4] = {9};
        const int *const pointers[2] = {behind, behind};
    """)
    image = front(tmp_path, a, b, entries=["touched"]).image
    assert image.sections_of("small", "behind") == {".rodata.front"}
    assert image.sections_of("big", "unrelated") == {".rodata"}


def test_constructor_aliases_and_comdat_copies(tmp_path):
    """C1 and C2 name one section; copies of an inline function in many objects count once."""
    header = """
        struct Base { int x; __attribute__((noinline)) Base(int y); };
        template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
    """
    objects = [compile_text(tmp_path, f"{n}.cpp", header + text) for n, text in (
        ("a", "Base::Base(int y) : x(twice(y)) {}"), ("b", "int b() { return twice(3); }"),
        ("c", "int b(); int main() { Base z(b()); return z.x != 12; }"))]
    linked = front(tmp_path, *objects, driver=CXX,
                   entries=("_ZN4BaseC1Ei", "_Z5twiceIiET_S0_", "main"))
    check_run(linked.path)
    assert linked.image.section_of("_ZN4BaseC2Ei") == ".text.front"
    assert linked.image.is_ordered("_ZN4BaseC2Ei", "_Z5twiceIiET_S0_", "main")
    assert linked.report["classes"]["text"]["sections"] == 3


def test_locals_of_one_name_are_told_apart_by_file(tmp_path):
    """A function by its source, data by its object, as `archive(member)`."""
    members = [compile_text(tmp_path, f"{n}.c", f"""
        static const int table[9] = {{{i}, 2, 3}};
        __attribute__((noinline)) static int init(int x) {{ return table[x] + {i}; }}
        int {n}(int x) {{ return init(x) * 2; }}
        """) for i, n in enumerate(("first", "other"))]
    check_run("ar", "rcs", tmp_path / "libx.a", *members)
    main = compile_text(tmp_path, "main.c", """
        int first(int), other(int); int main(int c, char **v) { return first(c) - other(c); }
    """)
    linked = front(tmp_path, main, tmp_path / "libx.a", entries=(
        measured("main"), measured("init", "other.c"),
        ("data", "rodata", "table", "libx.a(other.o)")))
    content, listing = linked.path.read_bytes(), check_run("nm", "-P", linked.path)
    found = {name: [file_offset(linked.path, int(line.split()[2], 16))
                    for line in listing.splitlines() if line.startswith(f"{name} ")]
             for name in ("init", "table")}
    assert sorted(offset < linked.end for offset in found["init"]) == [False, True]
    assert {content[o]: o < linked.end for o in found["table"]} == {0: False, 1: True}


def test_objects_with_more_sections_than_a_symbol_can_number(tmp_path):
    """From 65,280 on the number is in a table of its own, for the names of sections too."""
    text = "".join(f'.section .text.f{i},"ax",@progbits\nret\n' for i in range(66000))
    o = compile_text(tmp_path, "a.s", text + """
        .globl hot, cold
        .section .text.f65998
        cold: ret
        .section .text.f65999
        hot: ret
        .section .rodata.c,"a",@progbits
        .Lc: .quad 7
        .section .text._start,"ax",@progbits
        .globl _start
        _start: lea .Lc(%rip), %rax
    """, compiler="clang")
    image = bare_front(tmp_path, o, entry="_start", entries=("hot", "_start")).image
    assert image.is_ordered("hot", "_start") and image.section_of("cold") == ".text"
    assert image.sections[".rodata.front"]["sh_size"] == 8


def test_same_inputs_give_the_same_bytes(tmp_path):
    """The number of threads does not show in the output: neither in code nor in strings."""
    def source(i: int) -> str:
        puts = [f'puts("string {j * (1 if j % 3 else i)}");' for j in range(60)]
        return (f"{functions(*(f'f{i}_{j}' for j in range(40)))} int puts(const char *);"
                f"void hot{i}(void) {{ {''.join(puts[:30])} }}\n"
                f"void cold{i}(void) {{ {''.join(puts[30:])} }}\n")

    objects = [compile_text(tmp_path, f"f{i}.c", source(i)) for i in range(12)]
    objects.append(compile_text(tmp_path, "main.c", MAIN))
    names = [f"f{i}_{j}" for j in range(9) for i in range(12)] + [f"hot{i}" for i in range(12)]
    made = {front(tmp_path, *objects, *flags, entries=("main", *names)).path.read_bytes()
            for flags in ((), (), ("-Wl,--threads=1",), ("-Wl,--threads=8",))}
    assert len(made) == 1


def test_without_a_profile_the_output_is_lld_s(tmp_path, llvm):
    """Byte for byte, for an executable with many kinds of sections."""
    o = compile_text(tmp_path, "a.cpp", """
        #include <iostream>
        thread_local int t = 3;
        int main() { try { throw t; } catch (int i) { std::cout << i; } return 0; }
    """, "-g")
    for name, linker in (("lld", {"linker": llvm / "ld.lld"}), ("front", {})):
        link(tmp_path / name, o, "-Wl,--build-id", driver=CXX, **linker)
    assert (tmp_path / "lld").read_bytes() == (tmp_path / "front").read_bytes()


# What Go's linker leaves to another one: one section of each kind, and variables without pointers
# in one that only Go has.
GO = """.file "go.go"
    .globl go_function, go_constant, go_variable
    .type go_function, @function
    go_function: ret
    .size go_function, .-go_function
    .section .rodata
    .type go_constant, @object
    go_constant: .quad 1
    .size go_constant, 8
    .section .noptrbss, "aw", @nobits
    go_variable: .zero 8
"""


@pytest.mark.parametrize("named", ["go_function", "c_function"])
def test_constants_of_go_lie_before_its_variables(tmp_path, named):
    """Go's runtime refuses to start otherwise: it searches from the beginning of its constants to
    the end of its variables."""
    objects = [compile_text(tmp_path, "go.s", GO),
               compile_text(tmp_path, "c.c", MAIN + functions("c_function"))]
    linked = front(tmp_path, *objects, entries=(named, "main"))
    assert linked.image.is_ordered("go_constant", "go_variable")
    assert linked.image.section_of("go_constant") == ".rodata.front"
    assert has_code_together(linked.path)


def test_sparse_constants_of_go_are_not_left_out(tmp_path):
    """They are one section with those of all packages, of which a startup touches few."""
    objects = [compile_text(tmp_path, "go.s", GO.replace(".quad 1", ".quad 1; .zero 180000")),
               compile_text(tmp_path, "c.c", MAIN)]
    linked = front(tmp_path, *objects, entries=(
        "main", ("data", "rodata", "go_constant"), ("data", "bss", "go_variable")))
    assert linked.image.is_ordered("go_constant", "go_variable")


ALIGNED = """
#include <stdint.h>
_Alignas(1 << 21) char pool[64] = {1};
_Alignas(1 << 16) const char table[64] = {2};
_Alignas(1 << 21) char zeros[64];
_Alignas(1 << 21) void *volatile relocated[8] = {pool};
_Alignas(1 << 21) void *const constant[8] = {pool};
__attribute__((section("apart_data"), aligned(1 << 21))) char apart[64] = {4};
int small = 3;
__attribute__((noinline, aligned(1 << 16))) int early(int x) {
  return pool[x] + table[x] + zeros[x] + small + apart[x] + (relocated[0] != pool);
}
int main(void) {
  uintptr_t bits = (uintptr_t)pool | (uintptr_t)zeros | (uintptr_t)apart | (uintptr_t)relocated
                   | (uintptr_t)&constant;
  return early(0) != 10 || bits % (1 << 21) || ((uintptr_t)table | (uintptr_t)early) % (1 << 16);
}
"""


@pytest.mark.parametrize("flags", [["-fno-pie", "-no-pie"], ["-fPIE", "-pie"],
                                   ["-fno-pie", "-static"]])
def test_padding_is_not_read(tmp_path, flags):
    """The addresses of all data are aligned. No start asks for padding that costs more than a
    request, and the report lists that padding."""
    o = compile_text(tmp_path, "a.c", ALIGNED + functions("cold"), flags[0], compiler="clang")
    data = [("data", c, n) for c, n in (("data", "pool"), ("rodata", "table"), ("bss", "zeros"),
                                        ("data", "small"), ("data", "relocated"),
                                        ("relro", "constant"))]
    linked = front(tmp_path, o, flags[1],
                   entries=["_start", measured("main"), measured("early"), *data])
    check_run(linked.path)
    assert linked.image.section_of("small") == ".data.front"
    assert linked.report["front"]["read"] < 100_000
    assert linked.path.stat().st_size < 16 * MIB
    assert any(p["bytes"] > MIB for p in linked.report["front"]["padding"])
