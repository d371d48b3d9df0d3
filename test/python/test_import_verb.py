"""frontload import, end to end: what files of other tools become, with and without the
program."""

from pathlib import Path

import pytest
from abilities import needs
from frontload.profile import format as profile

pytestmark = pytest.mark.usefixtures("tools")
DATA = Path(__file__).parent / "data"
IMPORT = ("import",)


@pytest.fixture
def imported(cli, tmp_path):
    """imported(*arguments): runs the verb; returns what it wrote, and said."""

    def imported(*arguments, code=0):
        result = cli(*IMPORT, *arguments, "-o", tmp_path / "app.startup", code=code)
        return profile.read(tmp_path / "app.startup"), result.err

    return imported


@pytest.fixture
def order(tmp_path):
    """order(*lines, name="order"): writes an order file."""

    def order(*lines, name="order"):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return order


def entries(read) -> list[tuple]:
    return [tuple(name) for name, _ in read.in_order()]


def test_with_the_program_names_get_their_kind_class_and_file(link, imported, order):
    """Data and the file of a static function come from the symbols; the order stays."""
    path = order("helper", "zeros", "main", "table", "counter", "pointer", "f3", "printf",
                 "__printf@plt")
    read, said = imported(path, "--binary", link().path)
    assert entries(read) == [
        ("function", "text", b"helper", b"app.c"), ("data", "bss", b"zeros", b""),
        ("function", "text", b"main", b""), ("data", "rodata", b"table", b""),
        ("data", "data", b"counter", b""), ("data", "relro", b"pointer", b""),
        ("function", "text", b"f3", b"")]
    assert (read.program, read.runs, read.data_runs) == (b"app", 1, 1)
    assert "7 of 7 names found (100.00%)" in said
    assert "2 names (printf, __printf@plt) left out" in said  # calls of a library's


def test_without_the_program_names_are_functions(cli, imported, order):
    """What the input itself says about the class is kept; nothing in it says what it is of."""
    read, _ = imported(order(".text.f", ".data.d", ".data.rel.ro.r"), "--program", "tool")
    assert entries(read) == [("function", "text", b"f", b""), ("data", "data", b"d", b""),
                             ("data", "relro", b"r", b"")]
    assert read.program == b"tool"
    assert "--binary PATH or --program NAME" in cli(*IMPORT, order("main"), code=2).err


def test_inputs_are_runs_and_merge(imported, order):
    """Two files are two runs, in any order; a file that is given twice counts once."""
    a, b = order("main", "f", "g", name="a"), order("g", "main", name="b")
    read, _ = imported(a, b, "--program", "app")
    assert [(name.name, *touch[:2]) for name, touch in read.in_order()] == [
        (b"g", 2, 0), (b"main", 2, 0), (b"f", 1, 1)]
    again, said = imported(b, a, b, "--program", "app")
    assert again == read and "given twice, counted once" in said


def test_traces_of_a_temporal_profile_are_runs_as_many_as_they_weigh(imported, tmp_path):
    """The folder of a local function's file is not kept; <unknown> is no file."""
    (tmp_path / "t").write_text(":ir\n:temporal_prof_traces\n2\n2\n3\nmain,src/a.c;f\n1\n"
                                "main,<unknown>;g\n")
    read, _ = imported(tmp_path / "t", "--program", "app")
    assert read.runs == 4
    assert [(name.name, name.file, touch.runs) for name, touch in read.in_order()] == [
        (b"main", b"", 4), (b"f", b"a.c", 3), (b"g", b"", 1)]


def test_too_few_names_fail_and_leave_the_output(link, cli, order, tmp_path):
    program, path = link().path, order("main", "gone", "away", "f1")
    (tmp_path / "out").write_text("before")
    result = cli(*IMPORT, path, "--binary", program, "-o", tmp_path / "out", code=1)
    assert "2 of 4 names found (50.00%), less than 80%" in result.err
    assert "missing: gone, away" in result.err
    assert (tmp_path / "out").read_text() == "before"
    cli(*IMPORT, path, "--binary", program, "--min-match", "50", "-o", tmp_path / "out")
    assert entries(profile.read(tmp_path / "out")) == [("function", "text", b"main", b""),
                                                       ("function", "text", b"f1", b"")]
    nothing = order("gone", name="nothing")
    result = cli(*IMPORT, nothing, "--binary", program, "--min-match", "0", code=65)
    assert "the program has none of the names in the inputs" in result.err


ZIG = "map.Map([]const u8,void).get", "io.Writer(*fs.File,error{A, B}).print", "a b ?c* {d}"


@pytest.mark.parametrize(("format", "line"), [
    ("lld", "{}"), ("gold", ".text.{}"), ("uftrace", "5.00000000{1}  5: [entry] {0} depth: 0"),
    ("perf", "app 5/5 1.5: 7 cycles:u: 12 {} (/bin/app)")])
def test_symbols_may_look_like_prose_patterns_and_demangled_names(link, cli, order, tmp_path,
                                                                  format, line):
    """As those of Zig do: the program decides, and without it they are refused or left out."""
    functions = "".join(f'int z{number}(int) __asm__("{name}");\n'
                        f"__attribute__((noinline)) int z{number}(int x) {{ return x * {number}; }}"
                        for number, name in enumerate(ZIG, 2))
    program = link(source=functions + "int main(int c, char **v) { return z2(z3(z4(c))); }")
    path = order(*(line.format(name, at) for at, name in enumerate((*ZIG, "main"))))
    said = cli("import", "--format", format, path, "--binary", program.path, "-o",
               tmp_path / "out").err
    assert "4 of 4 names found" in said
    assert [name[2].decode() for name in entries(profile.read(tmp_path / "out"))] == [*ZIG, "main"]
    result = cli("import", "--format", format, path, "--program", "app", code=None)
    assert "left out: " in result.err or "the program with --binary" in result.err


@pytest.fixture
def namesakes(link, run, llvm, tmp_path):
    """A program with two functions `same`, of 1.c and 2.c, and one whose name is mangled."""
    for number in (1, 2):
        (tmp_path / f"{number}.c").write_text(f"""
            static __attribute__((noinline)) int same(int x) {{ return x * {number + 5}; }}
            int f{number}(int x) {{ return same(x) + 1; }}
        """)
        run(llvm / "clang", "-O1", "-c", f"{number}.c", cwd=tmp_path)
    return link(tmp_path / "1.o", tmp_path / "2.o", source="""
        int f1(int), f2(int), mangled(int) __asm__("_ZN2ns4funcIiEEvi");
        __attribute__((noinline)) int mangled(int x) { return x + 5; }
        int main(int c, char **v) { return f1(c) + f2(mangled(c)); }
    """)


def test_local_namesakes_are_told_apart_by_file_or_reported(namesakes, imported, order, tmp_path):
    """The profile has the file where the input says it, else one name for all, and a warning."""
    read, said = imported(order("same", "main"), "--binary", namesakes.path)
    assert entries(read)[0] == ("function", "text", b"same", b"")
    assert "1 name (same) of several local functions or data" in said
    (tmp_path / "t").write_text(":ir\n:temporal_prof_traces\n1\n1\n1\nlib/2.c;same,main\n")
    read, said = imported(tmp_path / "t", "--binary", namesakes.path)
    assert entries(read)[0] == ("function", "text", b"same", b"2.c") and "several" not in said


def test_addresses_tell_what_names_do_not(namesakes, imported, run, llvm, tmp_path):
    """Names that are of one symbol say where the program was in memory."""
    listed = run(llvm / "llvm-nm", namesakes.path).stdout.splitlines()
    same = [int(line.split()[0], 16) for line in listed if line.endswith(" same")]
    functions = [("main", namesakes.addresses["main"]), ("same", same[1]), ("same", same[0]),
                 ("ns::func", namesakes.addresses["_ZN2ns4funcIiEEvi"]), ("odd::one", same[0]),
                 ("far::away", 1 << 40)]
    text = "".join(
        f"app {process}/7 1.5: 7 cycles:u:\n\t{base + address + 3:x} {name}+0x3 (/bin/app)\n\n"
        for process, base in ((7, 0x55d000000000), (8, 0x55e123456000))
        for name, address in functions)
    (tmp_path / "t").write_text(text)
    read, said = imported(tmp_path / "t", "--binary", namesakes.path, "--min-match", "50")
    assert [(name.name, name.file) for name, _ in read.in_order()] == [
        (b"main", b""), (b"same", b"2.c"), (b"same", b"1.c"), (b"_ZN2ns4funcIiEEvi", b"")]
    assert read.runs == 2 and "several" not in said
    # Nothing can be far away, or named so differently.
    assert "4 of 6 names found" in said and "missing: odd::one, far::away" in said


def test_the_program_decides_what_a_section_means(link, imported, order):
    """Of the readings of a section's name, the one counts that the program has."""
    source = """
        #define F(name, symbol) __attribute__((noinline)) int name(int) __asm__(symbol); \\
                                int name(int x) { return x; }
        F(a, "f.cold") F(b, "f") F(c, "hot.g") F(d, "h") F(e, "hot")
        int main(int n, char **v) { return a(n) + b(n) + c(n) + d(n) + e(n); }
    """
    path = order(".text.unlikely.f", ".text.hot.g", ".text.unlikely.h", ".text.startup",
                 ".text.hot", ".data.rel.ro")
    read, said = imported(path, "--binary", link(source=source).path)
    assert [name.name for name in read.touches] == [b"f.cold", b"hot.g", b"h", b"hot"]
    assert "4 of 4 names found" in said and "missing" not in said
    assert "2 names (startup, ro) left out" in said


def test_a_program_that_no_sample_hit(link, cli, tmp_path):
    """If it is given, the remedy is to sample it more often; else another one may be meant."""
    text = tmp_path / "text"
    text.write_text("app 5/5 1.5: 7 cycles:u: 12 malloc+0x1 (/lib/libc.so.6)\n")
    said = cli(*IMPORT, text, "--program", "app", code=65).err
    assert "no sample is in a function of app" in said and "/lib/libc.so.6 (1)" in said
    assert "frontload: note: choose one with --program NAME\n" in said
    said = cli(*IMPORT, text, "--binary", link().path, code=65).err
    assert "frontload: note: sample more often, or set a uprobe" in said


@pytest.fixture
def sample(run, imported, tmp_path):
    """sample(compiler, *flags): the built program; sample.read(*inputs): the profile and names."""

    def read(*inputs):
        found, _ = imported(*inputs, "--binary", tmp_path / "app")
        names = [name.name.decode() for name, _ in found.in_order()]
        assert names[:5] == ["main", "_Z5earlyl", "_Z4leafl", "_ZL4spinl", "_Z4latel"]
        return found, names

    def sample(compiler, *flags) -> Path:
        run(compiler, "-O1", *flags, DATA / "sample.cpp", "-o", "app", cwd=tmp_path)
        return tmp_path / "app"

    sample.read = read
    return sample


@needs("program:uftrace")
def test_uftrace(sample, run, tmp_path):
    """What it writes here and now, with names or without; a replay has names alone."""
    app = sample("g++", "-fno-inline", "-finstrument-functions")
    run("uftrace", "record", "-d", tmp_path / "data", app)
    found = []
    for options in (["dump", "--demangle=no"], ["dump", "--demangle=full"],
                    ["replay", "--no-pager", "--demangle=no"]):
        (tmp_path / "text").write_text(run("uftrace", *options, "-d", tmp_path / "data").stdout)
        found.append(sample.read(tmp_path / "text"))
    read, names = found[0]
    assert "_ZNK3BoxIdE4areaEv" in names and "printf" not in names and read.runs == 1
    # A replay may have the other name of a constructor, and of functions whose code is the same.
    assert found[1] == found[0] and len(found[2][1]) == len(names)


def test_llvm_temporal_profiles(sample, run, llvm, tmp_path):
    """Raw, indexed, and both kinds of text say the same; two runs are two runs."""
    app = sample(llvm / "clang++", "-fprofile-generate", "-mllvm",
                 "-pgo-temporal-instrumentation")
    for number in ("1", "2"):
        run(app, number, env={"LLVM_PROFILE_FILE": str(tmp_path / f"{number}.profraw")})
    profdata = llvm / "llvm-profdata"
    run(profdata, "merge", "1.profraw", "2.profraw", "-o", "all.profdata", cwd=tmp_path)
    run(profdata, "merge", "--text", "all.profdata", "-o", "all.txt", cwd=tmp_path)
    (tmp_path / "show").write_text(run(profdata, "show", "--temporal-profile-traces",
                                       "all.profdata", cwd=tmp_path).stdout)
    inputs = [["1.profraw", "2.profraw"], ["all.profdata"], ["all.txt"], ["show"]]
    found = [sample.read(*(tmp_path / name for name in names)) for names in inputs]
    assert all(each == found[0] for each in found) and found[0][0].runs == 2
