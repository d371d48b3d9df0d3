"""What gold is told to put where."""

import pytest
from golds import CONSTANTS, NEEDS_GOLD, drive, last_in_section, link_gold
from linking import MAIN, PROGRAMS, Image, compile_source, compile_text, functions, startup_names
from places import LLVM

pytestmark = NEEDS_GOLD


def test_functions_lie_in_first_touch_order(tmp_path):
    """The startup block is the end of .text, in the order of the profile and of nothing else."""
    a = compile_text(tmp_path, "a.c", functions("a1", "a2", "a3") + MAIN)
    b = compile_text(tmp_path, "b.c", functions("b1", "b2", "b3"))
    names = ("b2", "a3", "main", "b1", "a1")
    assert last_in_section(link_gold(tmp_path, a, b, entries=names).image, *names)


@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
def test_members_of_archives(tmp_path, run, kind):
    """Archives work like files, thin ones too; members that nobody needs stay out of the link."""
    main = compile_text(tmp_path, "main.c", "int f(int), g(int);\n"
                                            "int main(void) { return f(-1) + g(-1); }\n")
    f = compile_text(tmp_path, "f.c", functions("cold") + "int f(int x) { return x + 1; }")
    g = compile_text(tmp_path, "a_member_of_a_long_name.c", "int g(int x) { return x + 1; }")
    other = compile_text(tmp_path, "other.c", functions("never"))
    archive = tmp_path / "lib.a"
    run("ar", kind, archive, other, f, g)
    linked = link_gold(tmp_path, main, archive, entries=("g", "f", "main", "never"),
                       options=["min-match=75"])
    assert last_in_section(linked.image, "g", "f", "main")
    assert "never" not in linked.image.symbols
    names = linked.report["names"]
    assert names["placed"] == 3 and [m["name"] for m in names["missing"]] == ["never"]


@pytest.mark.parametrize("compiler, driver, initializer", [
    ("gcc", "g++", "_GLOBAL__sub_I__ZN1SC2Ev"),
    ("clang", LLVM / "clang++", "_GLOBAL__sub_I_s.cpp")])
def test_sections_that_have_another_name(tmp_path, run, compiler, driver, initializer):
    """A constructor is an alias of another, main and static initializers lie in .text.startup: the
    section counts that the symbol lies in."""
    source = ("struct S { S(); int x; };\n"
              "__attribute__((noinline)) S::S() : x(1) { asm volatile(\"\"); }\n"
              "extern \"C\" __attribute__((noinline)) int cold() { return 3; }\n"
              "S s;\n"
              "int main() { S t; return s.x - t.x; }\n")
    o = compile_text(tmp_path, "s.cpp", source, "-O2", compiler=compiler)
    names = ("main", "_ZN1SC1Ev", initializer)
    linked = link_gold(tmp_path, o, entries=names, driver=driver)
    assert linked.image.is_ordered("cold", *names)
    run(linked.path)


def test_identical_code(tmp_path):
    """With --icf gold keeps the first of two: it lies in the block whichever the profile names."""
    same = "__attribute__((noinline)) int {}(int x) {{ return x * x + 7; }}\n"
    one = compile_text(tmp_path, "one.c", same.format("one") + functions("cold"))
    two = compile_text(tmp_path, "two.c", same.format("two") + "int one(int);\n"
                       "int main(void) { return one(1) - two(1); }\n")
    image = link_gold(tmp_path, one, two, "-Wl,--icf=all", entries=("main", "two")).image
    assert image.symbols["one"].address == image.symbols["two"].address
    assert image.is_ordered("cold", "main", "two")


def test_all_classes(tmp_path):
    """Constants, relocated constants, data and zeros have a startup block, too."""
    source = functions("f") + MAIN
    for name in ("one", "two", "three"):
        source += (f"const int r_{name}[8] = {{1}}; int d_{name}[8] = {{1}}; int z_{name}[8];\n"
                   f"const int *const p_{name}[8] = {{r_{name}}};\n")
    o = compile_text(tmp_path, "o.c", source, "-fPIE")
    classes = {"r": "rodata", "p": "relro", "d": "data", "z": "bss"}
    image = link_gold(tmp_path, o, "-pie", entries=[
        ("data", c, f"{p}_{n}") for n in ("three", "one") for p, c in classes.items()]).image
    for letter in "pdz":
        assert last_in_section(image, f"{letter}_three", f"{letter}_one")
        assert image.section_of(f"{letter}_one") == image.section_of(f"{letter}_two")
    assert image.is_ordered("r_three", "r_one")
    assert image.sections_of("r_one", "r_three") == {CONSTANTS}
    assert image.section_of("r_two") == ".rodata"
    sections = {n for n, h in image.sections.items() if h["sh_flags"] & 1}  # writable
    assert sections & {".data.rel.ro", ".data.rel.ro.local"}  # as without the plugin


def test_constants_without_a_name(tmp_path, run):
    """What a startup function refers to comes along: its jump table and its strings."""
    cases = "".join(f"case {i}: return g({i * i}) + {i};\n" for i in range(9))
    hot, cold = (compile_text(
        tmp_path, f"{name}.c", "int puts(const char *); int g(int);\n"
        f"int {name}(int x) {{ puts(\"this is {name}\");\n"
        f"switch (x) {{ {cases} default: return 0; }} }}\n", "-fPIE") for name in ("hot", "cold"))
    main = compile_text(tmp_path, "main.c", "int hot(int), cold(int); int g(int x) { return x; }\n"
                        "int main(int n, char **v) { return n > 5 ? cold(n) : hot(n) - 2; }\n",
                        "-fPIE")
    linked = link_gold(tmp_path, main, hot, cold, "-pie", entries=["hot"])
    header = linked.image.sections[CONSTANTS]
    constants = linked.path.read_bytes()[header["sh_offset"]:][:header["sh_size"]]
    assert b"this is hot\0" in constants and b"this is cold\0" not in constants
    assert header["sh_size"] >= 9 * 4 + len("this is hot")  # and the table
    assert run(linked.path).stdout == "this is hot\n"


def test_links_that_write_relocations(tmp_path, run):
    """gold cannot give sections a segment in these: constants stay in .rodata, in order."""
    o = compile_text(tmp_path, "o.c", functions("f", "g") + MAIN +
                     "const int r1[9] = {1}, r2[9] = {2}, r3[9] = {3};\n")
    linked = link_gold(tmp_path, o, "-Wl,--emit-relocs", entries=(
        "main", "f", ("data", "rodata", "r3"), ("data", "rodata", "r1")))
    assert last_in_section(linked.image, "main", "f")
    assert last_in_section(linked.image, "r3", "r1")
    assert CONSTANTS not in linked.image.sections
    run(linked.path)


MODES = {
    "pie": ("-fPIE", "-pie", "-Wl,-z,now"),
    "no-pie": ("-fno-pie", "-no-pie", "-Wl,-q"),
    "static": ("-fno-pie", "-static"),
    "gc-icf": ("-fPIE", "-pie", "-Wl,--gc-sections,--icf=safe,--rosegment,--threads"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["plain.c", "exceptions.cpp", "tls.c", "ifunc.c",
                                  "constructors.cpp", "threads.cpp", "start_stop.c", "edges.c"])
def test_program_runs_as_before(tmp_path, run, name, mode):
    """The output is that of a plain link; the named functions follow each other in order."""
    compile_flag, *link_flags = MODES[mode]
    source, plain = PROGRAMS / name, tmp_path / "plain"
    driver = "g++" if source.suffix == ".cpp" else "gcc"
    objects = compile_source(tmp_path, source, compile_flag)
    drive(plain, objects, *link_flags, driver=driver)
    names = startup_names(Image(plain))
    linked = link_gold(tmp_path, objects, *link_flags, driver=driver, entries=names)
    assert run(linked.path).stdout == run(plain).stdout
    assert linked.image.is_ordered(*names)
    assert all(linked.image.is_ordered(n, names[0]) for n, s in linked.image.symbols.items()
               if "cold_" in n and "text" in s.section)


def test_relocatable_output_is_left_alone(tmp_path):
    """Build systems pass one set of flags to every link; with -r there is no layout."""
    o = compile_text(tmp_path, "o.c", functions("f", "g") + MAIN)
    drive(tmp_path / "plain", o, "-r", "-nostdlib")
    linked = link_gold(tmp_path, o, "-r", "-nostdlib", entries=("g", "f"))
    assert linked.path.read_bytes() == (tmp_path / "plain").read_bytes()


def test_same_inputs_give_the_same_bytes(tmp_path):
    """Threads do not matter."""
    objects = [compile_text(tmp_path, f"o{i}.c", functions(f"f{i}", f"g{i}") +
                            f"const char *s{i}(void) {{ return \"string {i}\"; }}\n")
               for i in range(20)]
    objects.append(compile_text(tmp_path, "main.c", MAIN))
    entries = [f"{letter}{i}" for letter in "sgf" for i in range(19, -1, -2)]
    written = {link_gold(tmp_path, *objects, *flags, entries=entries).path.read_bytes()
               for flags in [(), ("-Wl,--threads,--thread-count=4",)] * 2}
    assert len(written) == 1
