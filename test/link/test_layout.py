"""What ld.frontload puts where."""

import json
import re
import struct

import pytest
from linking import (
    COMPILERS,
    LD_LLD,
    LLVM,
    MAIN,
    Image,
    check_run,
    compile_text,
    functions,
    ld,
    link,
    write_profile,
)


def text_order(image: Image, *names: str) -> bool:
    addresses = [image.symbols[n].address for n in names]
    return addresses == sorted(addresses)


def test_functions_lie_in_first_touch_order(tmp_path):
    """The profile's order decides, not that of the objects or of the sections in them."""
    a = compile_text(tmp_path, "a.c", functions("a1", "a2", "a3") + MAIN)
    b = compile_text(tmp_path, "b.c", functions("b1", "b2", "b3"))
    names = ("b2", "a3", "main", "b1", "a1")
    link(tmp_path / "out", a, b, profile=write_profile(tmp_path, *names))
    image = Image(tmp_path / "out")
    assert text_order(image, *names)
    assert {image.section_of(n) for n in names} == {".text.front"}
    assert {image.section_of(n) for n in ("a2", "b3")} == {".text"}


def test_members_of_archives_are_placed(tmp_path):
    """Archives work like files, and members that nobody needs stay out of the link."""
    main = compile_text(tmp_path, "main.c", "int f(int); int main(void) { return f(-1); }\n")
    f = compile_text(tmp_path, "f.c", functions("cold") + "int f(int x) { return x + 1; }")
    other = compile_text(tmp_path, "other.c", functions("never"))
    archive = tmp_path / "lib.a"
    check_run("ar", "rcs", archive, other, f)
    link(tmp_path / "out", main, archive, "-Wl,--min-match=0",
         profile=write_profile(tmp_path, "f", "main", "never"))
    image = Image(tmp_path / "out")
    assert text_order(image, "f", "main")
    assert image.section_of("cold") == ".text"
    assert "never" not in image.symbols


def test_objects_without_function_sections_move_whole(tmp_path):
    """One .text for all functions of an object, as in most prebuilt libraries and in crt1.o."""
    source = functions("late", "early")
    a = compile_text(tmp_path, "a.c", source, "-fno-function-sections", "-fno-data-sections")
    b = compile_text(tmp_path, "b.c", functions("other") + MAIN, "-fno-function-sections")
    link(tmp_path / "out", a, b, profile=write_profile(tmp_path, "early", "_start"))
    image = Image(tmp_path / "out")
    assert {image.section_of(n) for n in ("early", "late", "_start")} == {".text.front"}
    assert image.section_of("main") == ".text"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_constants_without_a_symbol_follow_their_function(tmp_path, compiler):
    """Jump tables, literals and strings of a function in the front are in the front; others not."""
    report = tmp_path / "report.json"
    body = "".join(f'case {i}: return "{{0}} string {i}";' for i in range(20))
    cases = "".join(f"case {i}: return x * {i * i + 0.37};" for i in range(8))
    text = "".join(
        f"const char *{n}(int x) {{ switch (x) {{ {body.format(n)} }} return 0; }}\n"
        f"double {n}_scale(int y, double x) {{ switch (y) {{ {cases} }} return x; }}\n"
        for n in ("hot", "cold"))
    hot = compile_text(tmp_path, "hot.c", text + MAIN, compiler=compiler)
    cold = compile_text(tmp_path, "cold.c", text.replace("hot", "chill").replace("cold", "ice"),
                        compiler=compiler)
    link(tmp_path / "out", hot, cold, f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, "main", "hot", "hot_scale"))
    content = (tmp_path / "out").read_bytes()
    front = json.loads(report.read_text())["front"]["bytes"]
    sections = Image(tmp_path / "out").sections

    def inside(section: str, offset: int) -> bool:
        header = sections[section]
        return header["sh_offset"] <= offset < header["sh_offset"] + header["sh_size"]

    # Strings are merged with those of all objects; the hot ones come first and end the front.
    for i in range(20):
        assert inside(".rodata.strings", content.index(b"hot string %d\0" % i))
        assert content.index(b"hot string %d\0" % i) < front
        for other in (b"cold", b"chill", b"ice"):
            assert content.index(b"%s string %d\0" % (other, i)) >= front
    # A literal of the second switch, which the code of hot_scale or a table of it refers to.
    literal = struct.pack("<d", 49.37)
    assert inside(".rodata.front", content.index(literal))
    assert inside(".rodata", content.rindex(literal))


def test_named_data_is_placed_by_class(tmp_path):
    """Data names of a profile are put first in their class, in order; large ones too."""
    text = """
        const int ro_a[100] = {1}, ro_b[30000] = {2}, ro_c[100] = {3};
        int rw_a[10] = {1}, rw_b[10] = {2}, rw_c[10] = {3};
        extern int elsewhere;
        int *const rel_a = &rw_a[1], *const rel_b = &rw_b[2], *const rel_c = &rw_c[3];
        const void *volatile keep[] = {ro_a, ro_b, ro_c, rw_a, rw_b, rw_c, &rel_a, &rel_b, &rel_c};
        const int unrelated[100] = {4};
        int main(void) { return keep[0] == 0; }
    """
    o = compile_text(tmp_path, "a.c", text, "-fPIC")
    entries = [("data", "rodata", "ro_b"), ("data", "data", "rw_c"), ("data", "relro", "rel_b"),
               ("data", "data", "rw_a"), "main"]
    report = tmp_path / "report.json"
    for mode in ("-no-pie", "-pie"):
        link(tmp_path / "out", o, mode, f"-Wl,--front-report={report}",
             profile=write_profile(tmp_path, *entries))
        image = Image(tmp_path / "out")
        assert image.section_of("ro_b") == ".rodata.front"
        assert image.section_of("unrelated") == ".rodata"
        assert text_order(image, "rw_c", "rw_a") and image.section_of("rw_a") == ".data.front"
        # Where relocation writes to all of it, there is nothing to gain from an order.
        is_first = text_order(image, "rel_b", "rel_a") and text_order(image, "rel_b", "rel_c")
        assert is_first == (mode == "-no-pie")
        assert json.loads(report.read_text())["names"]["placed"] == len(entries)


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
    link(tmp_path / "out", a, b, profile=write_profile(tmp_path, "touched"))
    image = Image(tmp_path / "out")
    assert {image.section_of(n) for n in ("small", "behind")} == {".rodata.front"}
    assert {image.section_of(n) for n in ("big", "unrelated")} == {".rodata"}


def test_constructor_aliases_and_comdat_copies(tmp_path):
    """C1 and C2 name one section; copies of an inline function in many objects count once."""
    header = """
        struct Base { int x; __attribute__((noinline)) Base(int y); };
        template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
    """
    objects = [
        compile_text(tmp_path, "a.cpp", header + "Base::Base(int y) : x(twice(y)) {}"),
        compile_text(tmp_path, "b.cpp", header + "int b() { return twice(3); }"),
        compile_text(tmp_path, "c.cpp",
                     header + "int b(); int main() { Base z(b()); return z.x != 12; }"),
    ]
    report = tmp_path / "report.json"
    link(tmp_path / "out", *objects, f"-Wl,--front-report={report}", driver=COMPILERS["clang"][1],
         profile=write_profile(tmp_path, "_ZN4BaseC1Ei", "_Z5twiceIiET_S0_", "main"))
    check_run(tmp_path / "out")
    image = Image(tmp_path / "out")
    assert image.section_of("_ZN4BaseC2Ei") == ".text.front"
    assert text_order(image, "_ZN4BaseC2Ei", "_Z5twiceIiET_S0_", "main")
    assert json.loads(report.read_text())["classes"]["text"]["sections"] == 3


def test_local_functions_of_one_name_are_told_apart_by_file(tmp_path):
    """An entry with a source file means that file's local function."""
    a, b = (compile_text(tmp_path, f"{n}.c", f"""
        __attribute__((noinline)) static int init(int x) {{ return x + {len(n)}; }}
        int {n}(int x) {{ return init(x) * 2; }}
        """) for n in ("first", "other"))
    main = compile_text(tmp_path, "main.c", MAIN)
    link(tmp_path / "out", main, a, b,
         profile=write_profile(tmp_path, "main", ("function", "text", "init", "other.c")))
    listing = check_run(LLVM / "llvm-nm", "--numeric-sort", "--format=posix", tmp_path / "out")
    addresses = [int(line.split()[2], 16) for line in listing.splitlines()
                 if line.startswith("init ")]
    front = Image(tmp_path / "out").sections[".text.front"]
    inside = [front["sh_addr"] <= x < front["sh_addr"] + front["sh_size"] for x in addresses]
    assert sorted(inside) == [False, True]
    # Without a match for the file, all of that name count.
    link(tmp_path / "out", main, a, b,
         profile=write_profile(tmp_path, "main", ("function", "text", "init", "gone.c")))
    sections = check_run(LLVM / "llvm-readelf", "-s", "--wide", tmp_path / "out")
    index = Image(tmp_path / "out").order.index(".text.front")
    assert len(re.findall(rf" {index} init$", sections, re.MULTILINE)) == 2


@pytest.mark.parametrize("lto", ["-flto", "-flto=thin"])
def test_objects_made_by_lto(tmp_path, lto):
    """Code that exists only after link-time optimization is placed too."""
    objects = [compile_text(tmp_path, f"{n}.c", text, lto, compiler="clang") for n, text in (
        ("a", functions("a1", "a2")),
        ("b", functions("b1") + "extern int a1(int), a2(int);\n"
              "int main(int c, char **v) { return a2(a1(b1(c))) != 3; }\n"))]
    names = ("main", "a2", "b1")
    link(tmp_path / "out", *objects, lto, "-O1", profile=write_profile(tmp_path, *names))
    image = Image(tmp_path / "out")
    assert text_order(image, *names)
    assert image.section_of("b1") == ".text.front" and image.section_of("a1") == ".text"


@pytest.mark.parametrize("names, placed", [(("dead", "main", "gone"), 1),
                                           (("dead", "main", "_start"), 2)])
def test_discarded_sections_are_not_counted(tmp_path, names, placed):
    """--gc-sections takes away what nobody uses, although the profile names it."""
    o = compile_text(tmp_path, "a.c", "int dead(int x) { return x; }\n" + functions("b") + MAIN)
    report = tmp_path / "report.json"
    link(tmp_path / "out", o, "-Wl,--gc-sections", "-Wl,-z,nostart-stop-gc",
         "-Wl,--min-match=0", f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, *names))
    assert "dead" not in Image(tmp_path / "out").symbols
    data = json.loads(report.read_text())
    assert data["classes"]["text"]["sections"] == data["names"]["placed"] == placed
    assert {"name": "dead", "reason": "not in the link"} in data["names"]["missing"]


@pytest.mark.parametrize("flag", ["--no-rosegment", "-O2", "-z,keep-text-section-prefix"])
def test_options_that_touch_the_layout(tmp_path, flag):
    """Other options about layout still give a program that runs, with its front in order."""
    o = compile_text(tmp_path, "a.c", functions("a", "b", "c") + MAIN)
    link(tmp_path / "out", o, f"-Wl,{flag}", profile=write_profile(tmp_path, "c", "main", "a"))
    check_run(tmp_path / "out")
    image = Image(tmp_path / "out")
    assert text_order(image, "c", "main", "a") and image.section_of("b") == ".text"


def test_a_program_without_bss_and_libraries(tmp_path):
    """Freestanding: no C library, no data, no .bss."""
    o = compile_text(tmp_path, "a.c", functions("b") + """
        void _start(void) { __asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall"); }
    """)
    ld(o, "-o", tmp_path / "out", f"--startup-profile={write_profile(tmp_path, '_start')}")
    check_run(tmp_path / "out")


def test_32_bit_objects(tmp_path):
    """Any ELF kind that lld links."""
    o = compile_text(tmp_path, "a.c", functions("a", "b") + "void _start(void) {}\n",
                     "--target=i386-linux-gnu", compiler="clang")
    ld(o, "-o", tmp_path / "out", f"--startup-profile={write_profile(tmp_path, 'b', '_start')}")
    image = Image(tmp_path / "out")
    assert text_order(image, "b", "_start") and image.section_of("a") == ".text"


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
    profile = write_profile(tmp_path, "hot", "_start")
    ld(o, "-o", tmp_path / "out", f"--startup-profile={profile}")
    image = Image(tmp_path / "out")
    assert text_order(image, "hot", "_start") and image.section_of("cold") == ".text"
    assert image.sections[".rodata.front"]["sh_size"] == 8


def test_big_endian_objects(tmp_path):
    """The byte order of the target is not that of the host."""
    o = compile_text(tmp_path, "a.c", """
        static const int small[3] = {1, 2, 3};
        int b(int i) { return small[i]; }
        int a(int i) { return i; }
        void _start(void) { b(1); }
    """, "--target=aarch64_be-linux-gnu", "-fno-inline", compiler="clang")
    ld(o, "-o", tmp_path / "out", f"--startup-profile={write_profile(tmp_path, 'b', '_start')}")
    image = Image(tmp_path / "out")
    assert text_order(image, "b", "_start")
    assert image.section_of("small") == ".rodata.front"


def test_same_inputs_give_the_same_bytes(tmp_path):
    """The number of threads does not show in the output."""
    objects = [compile_text(tmp_path, f"f{i}.c", functions(*(f"f{i}_{j}" for j in range(40))))
               for i in range(12)]
    objects.append(compile_text(tmp_path, "main.c", MAIN))
    names = (f"f{i}_{j}" for j in range(0, 40, 3) for i in range(12))
    profile = write_profile(tmp_path, "main", *names)
    outputs = []
    for n, flags in enumerate([(), (), ("-Wl,--threads=1",), ("-Wl,--threads=4",)]):
        link(tmp_path / f"out{n}", *objects, *flags, profile=profile)
        outputs.append((tmp_path / f"out{n}").read_bytes())
    assert len(set(outputs)) == 1


def test_without_a_profile_the_output_is_lld_s(tmp_path):
    """Byte for byte, for an executable with many kinds of sections."""
    o = compile_text(tmp_path, "a.cpp", """
        #include <iostream>
        #include <vector>
        thread_local int t = 3;
        int main() { try { throw t; } catch (int i) { std::cout << i; } return 0; }
    """, "-g")
    for linker, name in ((LD_LLD, "lld"), (None, "front")):
        link(tmp_path / name, o, "-Wl,--build-id", driver=COMPILERS["clang"][1],
             **({"linker": linker} if linker else {}))
    assert (tmp_path / "lld").read_bytes() == (tmp_path / "front").read_bytes()


