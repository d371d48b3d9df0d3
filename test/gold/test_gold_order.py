"""What gold is told to put where."""

import json

import pytest
from golds import (
    CONSTANTS,
    cplusplus,
    drive,
    last_in_section,
    link_gold,
    needs_gold,
    plugin_flags,
)
from linking import (
    COMPILERS,
    MAIN,
    PROGRAMS,
    Entry,
    Image,
    check_run,
    compile_source,
    compile_text,
    functions,
    startup_names,
    write_profile,
)

pytestmark = needs_gold()

def test_functions_lie_in_first_touch_order(tmp_path):
    """The startup block is the end of .text, in the order of the profile and of nothing else."""
    a = compile_text(tmp_path, "a.c", functions("a1", "a2", "a3") + MAIN)
    b = compile_text(tmp_path, "b.c", functions("b1", "b2", "b3"))
    names = ("b2", "a3", "main", "b1", "a1")
    image = link_gold(tmp_path / "out", a, b, profile=write_profile(tmp_path, *names))
    assert last_in_section(image, *names)
    check_run(tmp_path / "out")


@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
def test_members_of_archives(tmp_path, kind):
    """Archives work like files, thin ones too; members that nobody needs stay out of the link."""
    main = compile_text(tmp_path, "main.c", "int f(int), g(int);\n"
                                            "int main(void) { return f(-1) + g(-1); }\n")
    f = compile_text(tmp_path, "f.c", functions("cold") + "int f(int x) { return x + 1; }")
    g = compile_text(tmp_path, "a_member_of_a_long_name.c", "int g(int x) { return x + 1; }")
    other = compile_text(tmp_path, "other.c", functions("never"))
    archive = tmp_path / "lib.a"
    check_run("ar", kind, archive, other, f, g)
    profile = write_profile(tmp_path, "g", "f", "main", "never")
    image = link_gold(tmp_path / "out", main, archive, profile=profile,
                      options=["min-match=75", f"report={tmp_path / 'report'}"])
    assert last_in_section(image, "g", "f", "main")
    assert "never" not in image.symbols
    report = json.loads((tmp_path / "report").read_text())
    assert report["names"]["placed"] == 3
    assert [m["name"] for m in report["names"]["missing"]] == ["never"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sections_that_have_another_name(tmp_path, compiler):
    """A constructor is an alias of another, main and static initializers lie in .text.startup: the
    section counts that the symbol lies in."""
    source = ("struct S { S(); int x; };\n"
              "__attribute__((noinline)) S::S() : x(1) { asm volatile(\"\"); }\n"
              "extern \"C\" __attribute__((noinline)) int cold() { return 3; }\n"
              "S s;\n"
              "int main() { S t; return s.x - t.x; }\n")
    o = compile_text(tmp_path, "s.cpp", source, "-O2", compiler=compiler)
    names = ("main", "_ZN1SC1Ev", "_GLOBAL__sub_I_s.cpp")
    if compiler == "gcc":
        names = ("main", "_ZN1SC1Ev", "_GLOBAL__sub_I__ZN1SC2Ev")
    image = link_gold(tmp_path / "out", o, profile=write_profile(tmp_path, *names),
                      driver=cplusplus(compiler))
    addresses = [image.symbols[n].address for n in names]
    assert addresses == sorted(addresses)
    assert image.symbols["cold"].address < addresses[0]
    check_run(tmp_path / "out")


def test_copies_count_once(tmp_path):
    """Two objects have the same inline function: it is placed once, and counted once."""
    inline = ("__attribute__((noinline)) inline int both(int x) {{ return x + 1; }}\n"
              "int {name}(int x) {{ return both(x); }}\n")
    a = compile_text(tmp_path, "a.cpp", inline.format(name="a"))
    b = compile_text(tmp_path, "b.cpp", inline.format(name="b") + MAIN.replace("void", ""))
    names = ("_Z1bi", "_Z4bothi", "_Z1ai")
    image = link_gold(tmp_path / "out", a, b, driver="g++",
                      profile=write_profile(tmp_path, *names),
                      options=[f"report={tmp_path / 'report'}"])
    assert last_in_section(image, *names)
    report = json.loads((tmp_path / "report").read_text())
    assert report["schema"] == "frontload-front-report/1"
    assert report["front"] is None
    assert report["classes"]["text"]["sections"] == 3
    assert report["classes"]["text"]["bytes"] == sum(image.symbols[n].size for n in names)
    assert report["names"]["placed"] == 3


def test_local_functions_of_one_name(tmp_path):
    """Where the profile says of which file a local function is, the others stay behind."""
    def source(name):
        return ("__attribute__((noinline, used)) static int same(int x) { return x + 1; }\n"
                f"int {name}(int x) {{ return same(x); }}\n")
    a = compile_text(tmp_path, "a.c", source("a"))
    b = compile_text(tmp_path, "b.c", source("b") + MAIN)
    profile = write_profile(tmp_path, "main", Entry("function", "text", "same", "b.c"))
    drive(tmp_path / "out", a, b, *plugin_flags(profile))
    found = check_run("nm", "-n", tmp_path / "out").split("\n")
    order = [line.split()[-1] for line in found if line.endswith((" same", " main", " a", " b"))]
    assert order[-2:] == ["main", "same"]
    assert order.count("same") == 2


def test_names_of_another_build(tmp_path):
    """A name that has another suffix now is found, and the report says how."""
    o = compile_text(tmp_path, "o.c", functions("f", "g", "h") + MAIN)
    profile = write_profile(tmp_path, "main", "h.llvm.123", "f")
    image = link_gold(tmp_path / "out", o, profile=profile,
                      options=[f"report={tmp_path / 'report'}"])
    assert last_in_section(image, "main", "h", "f")
    (inexact,) = json.loads((tmp_path / "report").read_text())["names"]["inexact"]
    assert inexact["name"] == "h.llvm.123"
    assert inexact["how"] == "suffix"


def test_identical_code(tmp_path):
    """With --icf gold keeps the first of two functions: it lies in the block whichever the profile
    names."""
    same = "__attribute__((noinline)) int {}(int x) {{ return x * x + 7; }}\n"
    one = compile_text(tmp_path, "one.c", same.format("one") + functions("cold"))
    two = compile_text(tmp_path, "two.c", same.format("two") + "int one(int);\n"
                       "int main(void) { return one(1) - two(1); }\n")
    image = link_gold(tmp_path / "out", one, two, "-Wl,--icf=all",
                      profile=write_profile(tmp_path, "main", "two"))
    assert image.symbols["one"].address == image.symbols["two"].address
    assert image.symbols["cold"].address < image.symbols["main"].address
    assert image.symbols["main"].address < image.symbols["two"].address


def test_all_classes(tmp_path):
    """Constants, relocated constants, data and zeros have a startup block, too."""
    source = functions("f") + MAIN
    for name in ("one", "two", "three"):
        source += (f"const int r_{name}[8] = {{1}}; int d_{name}[8] = {{1}}; int z_{name}[8];\n"
                   f"const int *const p_{name}[8] = {{r_{name}}};\n")
    o = compile_text(tmp_path, "o.c", source, "-fPIE")
    classes = {"r": "rodata", "p": "relro", "d": "data", "z": "bss"}
    entries = [Entry("data", c, f"{p}_{n}") for n in ("three", "one") for p, c in classes.items()]
    image = link_gold(tmp_path / "out", o, "-pie", profile=write_profile(tmp_path, *entries))
    for letter in "pdz":
        assert last_in_section(image, f"{letter}_three", f"{letter}_one")
        assert image.section_of(f"{letter}_one") == image.section_of(f"{letter}_two")
    assert image.symbols["r_three"].address < image.symbols["r_one"].address
    assert {image.section_of(f"r_{n}") for n in ("one", "three")} == {CONSTANTS}
    assert image.section_of("r_two") == ".rodata"
    sections = {n: h for n, h in image.sections.items() if h["sh_flags"] & 1}  # writable
    assert set(sections) & {".data.rel.ro", ".data.rel.ro.local"}  # as without the plugin


def test_constants_without_a_name(tmp_path):
    """What a startup function refers to comes along: its jump table and its strings."""
    cases = "".join(f"case {i}: return g({i * i}) + {i};\n" for i in range(9))
    def source(name):
        return ("int puts(const char *); int g(int);\n"
                f"int {name}(int x) {{ puts(\"this is {name}\");\n"
                f"switch (x) {{ {cases} default: return 0; }} }}\n")
    hot = compile_text(tmp_path, "hot.c", source("hot"), "-fPIE")
    cold = compile_text(tmp_path, "cold.c", source("cold"), "-fPIE")
    main = compile_text(tmp_path, "main.c", "int hot(int), cold(int); int g(int x) { return x; }\n"
                        "int main(int n, char **v) { return n > 5 ? cold(n) : hot(n) - 2; }\n",
                        "-fPIE")
    out = tmp_path / "out"
    image = link_gold(out, main, hot, cold, "-pie", profile=write_profile(tmp_path, "hot"))
    header = image.sections[CONSTANTS]
    constants = out.read_bytes()[header["sh_offset"]:][:header["sh_size"]]
    assert b"this is hot\0" in constants
    assert b"this is cold\0" not in constants
    assert header["sh_size"] >= 9 * 4 + len("this is hot")  # and the table
    assert check_run(out) == "this is hot\n"


def test_links_that_write_relocations(tmp_path):
    """gold cannot give sections a segment in these: constants stay in .rodata, in order."""
    o = compile_text(tmp_path, "o.c", functions("f", "g") + MAIN +
                     "const int r1[9] = {1}, r2[9] = {2}, r3[9] = {3};\n")
    profile = write_profile(tmp_path, "main", "f", ("data", "rodata", "r3"),
                            ("data", "rodata", "r1"))
    image = link_gold(tmp_path / "out", o, "-Wl,--emit-relocs", profile=profile)
    assert last_in_section(image, "main", "f")
    assert last_in_section(image, "r3", "r1")
    assert CONSTANTS not in image.sections
    check_run(tmp_path / "out")


MODES = {
    "pie": ("-fPIE", "-pie"),
    "no-pie": ("-fno-pie", "-no-pie"),
    "static": ("-fno-pie", "-static"),
    "z-now": ("-fPIE", "-pie", "-Wl,-z,now"),
    "gc-icf": ("-fPIE", "-pie", "-Wl,--gc-sections,--icf=safe"),
    "rosegment": ("-fPIE", "-pie", "-Wl,--rosegment,--threads"),
    "emit-relocs": ("-fPIE", "-pie", "-Wl,-q"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["plain.c", "exceptions.cpp", "tls.c", "ifunc.c",
                                  "constructors.cpp", "threads.cpp", "start_stop.c", "edges.c"])
def test_program_runs_as_before(tmp_path, name, mode):
    """The output is that of a plain link; the named functions follow each other in order."""
    compile_flag, *link_flags = MODES[mode]
    source = PROGRAMS / name
    driver = COMPILERS["gcc"][source.suffix == ".cpp"]
    objects = compile_source(tmp_path, source, compile_flag)
    plain, front = tmp_path / "plain", tmp_path / "front"
    drive(plain, objects, *link_flags, driver=driver)
    names = startup_names(Image(plain))
    image = link_gold(front, objects, *link_flags, driver=driver,
                      profile=write_profile(tmp_path, *names))
    assert check_run(front) == check_run(plain)
    addresses = [image.symbols[n].address for n in names]
    assert addresses == sorted(addresses)
    assert all(s.address < addresses[0] for n, s in image.symbols.items()
               if "cold_" in n and "text" in s.section)


def test_shared_library(tmp_path):
    """A library is laid out like a program."""
    o = compile_text(tmp_path, "o.c", functions("f", "g", "h"), "-fPIC")
    image = link_gold(tmp_path / "out.so", o, "-shared", profile=write_profile(tmp_path, "h", "f"))
    assert last_in_section(image, "h", "f")


def test_relocatable_output_is_left_alone(tmp_path):
    """Build systems pass one set of flags to every link; with -r there is no layout."""
    o = compile_text(tmp_path, "o.c", functions("f", "g") + MAIN)
    drive(tmp_path / "plain.o", o, "-r", "-nostdlib")
    drive(tmp_path / "with.o", o, "-r", "-nostdlib",
          *plugin_flags(write_profile(tmp_path, "g", "f")))
    assert (tmp_path / "with.o").read_bytes() == (tmp_path / "plain.o").read_bytes()


def test_same_inputs_give_the_same_bytes(tmp_path):
    """Neither threads nor the locale matter."""
    objects = [compile_text(tmp_path, f"o{i}.c", functions(f"f{i}", f"g{i}") +
                            f"const char *s{i}(void) {{ return \"string {i}\"; }}\n")
               for i in range(20)]
    objects.append(compile_text(tmp_path, "main.c", MAIN))
    profile = write_profile(tmp_path, *(f"{letter}{i}" for letter in "sgf"
                                        for i in range(19, -1, -2)))
    written = set()
    for number, (flags, locale) in enumerate([((), "C"), ((), "de_DE.UTF-8"),
                                              (("-Wl,--threads,--thread-count=4",), "C")] * 3):
        out = tmp_path / f"out{number}"
        drive(out, *objects, *flags, *plugin_flags(profile), env={"LC_ALL": locale,
                                                                  "PATH": "/usr/bin:/bin"})
        written.add(out.read_bytes())
    assert len(written) == 1
