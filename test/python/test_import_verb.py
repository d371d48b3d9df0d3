"""frontload import, end to end: what inputs of other tools become, with and without the program."""

from pathlib import Path

import pytest
from frontload.profile import format as profile
from frontload.profile.startup_profile import Name

pytestmark = pytest.mark.usefixtures("tools")
DATA = Path(__file__).parent / "data"
HEAD = "frontload: note: "


@pytest.fixture
def imported(cli, tmp_path):
    """imported(*arguments): runs the verb; returns what it wrote, and said."""

    def imported(*arguments, code=0):
        result = cli("import", *arguments, "-o", tmp_path / "app.startup", code=code)
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
    path = order("helper", "zeros", "main", "table", "counter", "pointer", "f3")
    read, said = imported(path, "--binary", link().path)
    assert entries(read) == [
        ("function", "text", b"helper", b"app.c"), ("data", "bss", b"zeros", b""),
        ("function", "text", b"main", b""), ("data", "rodata", b"table", b""),
        ("data", "data", b"counter", b""), ("data", "relro", b"pointer", b""),
        ("function", "text", b"f3", b"")]
    assert (read.program, read.runs, read.data_runs) == (b"app", 1, 1)
    assert "7 of 7 names found (100.00%)" in said


def test_without_the_program_names_are_functions(imported, order):
    """What the input itself says about the class is kept."""
    read, _ = imported(order(".text.f", ".data.d", ".data.rel.ro.r"), "--program", "tool")
    assert entries(read) == [("function", "text", b"f", b""), ("data", "data", b"d", b""),
                             ("data", "relro", b"r", b"")]
    assert read.program == b"tool"


def test_a_program_is_needed(cli, order):
    """Nothing in an order file says what it is of."""
    assert "--binary PATH or --program NAME" in cli("import", order("main"), code=2).err


def test_inputs_are_runs_and_merge(imported, order):
    """Two files are two runs, in any order; a file that is given twice counts once."""
    a, b = order("main", "f", "g", name="a"), order("g", "main", name="b")
    read, _ = imported(a, b, "--program", "app")
    assert [(name.name, *touch[:2]) for name, touch in read.in_order()] == [
        (b"g", 2, 0), (b"main", 2, 0), (b"f", 1, 1)]
    again, said = imported(b, a, b, "--program", "app")
    assert again == read and "given twice, counted once" in said


def test_a_weight_of_a_trace_counts(imported, tmp_path):
    """A temporal profile's traces are runs, as many as they weigh."""
    (tmp_path / "t").write_text(":ir\n:temporal_prof_traces\n2\n2\n3\nmain,f\n1\nmain,g\n")
    read, _ = imported(tmp_path / "t", "--program", "app")
    assert read.runs == 4
    assert [(name.name, touch.runs) for name, touch in read.in_order()] == [
        (b"main", 4), (b"f", 3), (b"g", 1)]


def test_the_result_merges_with_recorded_runs(link, cli, imported, order, tmp_path):
    """What was imported is an input of frontload profile, under the names that it records."""
    program = link()
    imported(order("f3", "helper"), "--binary", program.path)
    trace = program.trace(tmp_path / "t", "main", "helper")
    cli("profile", tmp_path / "app.startup", trace, "-o", tmp_path / "both")
    both = profile.read(tmp_path / "both")
    assert both.touches[Name("function", "text", b"helper", b"app.c")].runs == 2


def test_an_order_file_comes_back_as_it_went(link, cli, imported, startup_of, tmp_path):
    """frontload order writes, frontload import reads: the same entries in the same order."""
    program = link()
    before = startup_of(program, "f5", "helper", "main", "f2", "f1")
    cli("order", before, "--linker", "lld", "--binary", program.path, "-o", tmp_path / "order")
    read, _ = imported(tmp_path / "order", "--binary", program.path)
    assert read.in_order() == profile.read(before).in_order()


@pytest.fixture
def startup_of(cli, tmp_path):
    def startup_of(program, *names):
        program.trace(tmp_path / "t", *names)
        cli("profile", tmp_path / "t", "-o", tmp_path / "before.startup")
        return tmp_path / "before.startup"

    return startup_of


def test_too_few_names_fail_and_leave_the_output(link, cli, order, tmp_path):
    """Below --min-match nothing is written; 0 takes what there is."""
    program, path = link().path, order("main", "gone", "away", "f1")
    (tmp_path / "out").write_text("before")
    result = cli("import", path, "--binary", program, "-o", tmp_path / "out", code=1)
    assert "2 of 4 names found (50.00%), less than 80%" in result.err
    assert "missing: gone, away" in result.err
    assert (tmp_path / "out").read_text() == "before"
    cli("import", path, "--binary", program, "--min-match", "50", "-o", tmp_path / "out")
    assert entries(profile.read(tmp_path / "out")) == [("function", "text", b"main", b""),
                                                       ("function", "text", b"f1", b"")]
    nothing = order("gone", name="nothing")
    result = cli("import", nothing, "--binary", program, "--min-match", "0", code=65)
    assert "the program has none of the names in the inputs" in result.err


def test_names_of_another_build_are_found_as_links_find_them(link, imported, order):
    """A suffix, or a clone, of the compiler of that build is no miss; data, too."""
    path = order("main.constprop.0", "f3.llvm.123", "helper.isra.0", "counter.llvm.9", "gone")
    read, said = imported(path, "--binary", link().path)
    assert entries(read) == [
        ("function", "text", b"main", b""), ("function", "text", b"f3", b""),
        ("function", "text", b"helper", b"app.c"), ("data", "data", b"counter", b"")]
    assert "4 of 5 names found" in said and "missing: gone" in said


def test_what_a_profile_cannot_name_is_no_miss(link, imported, order):
    """A variable of threads, or an absolute symbol: it is there, and stays where it is."""
    source = """
        _Thread_local int mine = 1;
        __asm__(".globl fixed\\n fixed = 64");
        int main(int c, char **v) { return mine + c - 2; }
    """
    read, said = imported(order("main", "mine", "fixed"), "--binary", link(source=source).path)
    assert [name.name for name in read.touches] == [b"main"]
    assert "3 of 3 names found" in said


def test_what_the_program_only_uses_is_no_miss(link, imported, order):
    """A call of a library is in traces of calls; the library is another file."""
    read, said = imported(order("main", "printf", "__printf@plt"), "--binary", link().path)
    assert len(read.touches) == 1
    assert "1 of 1 name found" in said and "2 names (printf, __printf@plt) left out" in said


TWO = """
static __attribute__((noinline)) int same(int x) { return x * %d; }
int f%d(int x) { return same(x) + 1; }
"""


def test_local_namesakes_are_told_apart_by_file_or_reported(link, imported, order, run, llvm,
                                                            tmp_path):
    """The profile has the file where the input says it, else one name for all, and a warning."""
    for number in (1, 2):
        (tmp_path / f"{number}.c").write_text(TWO % (number + 5, number))
        run(llvm / "clang", "-O1", "-c", f"{number}.c", cwd=tmp_path)
    source = "int f1(int), f2(int); int main(int c, char **v) { return f1(c) + f2(c); }"
    program = link(tmp_path / "1.o", tmp_path / "2.o", source=source).path
    read, said = imported(order("same", "main"), "--binary", program)
    assert entries(read)[0] == ("function", "text", b"same", b"")
    assert "1 name (same) of several local functions or data" in said
    (tmp_path / "t").write_text(":ir\n:temporal_prof_traces\n1\n1\n1\nlib/2.c;same,main\n")
    read, said = imported(tmp_path / "t", "--binary", program)
    assert entries(read)[0] == ("function", "text", b"same", b"2.c") and "several" not in said


def test_addresses_tell_what_names_do_not(link, imported, run, llvm, tmp_path):
    """Names that are of one symbol say where the program was in memory, in each process by itself;
    then static namesakes and names for people are told apart by their addresses."""
    for number in (1, 2):
        (tmp_path / f"{number}.c").write_text(TWO % (number + 5, number))
        run(llvm / "clang", "-O1", "-c", f"{number}.c", cwd=tmp_path)
    source = """
        int f1(int), f2(int), mangled(int) __asm__("_ZN2ns4funcIiEEvi");
        __attribute__((noinline)) int mangled(int x) { return x + 5; }
        int main(int c, char **v) { return f1(c) + f2(mangled(c)); }
    """
    program = link(tmp_path / "1.o", tmp_path / "2.o", source=source)
    listed = run(llvm / "llvm-nm", program.path).stdout.splitlines()
    same = [int(line.split()[0], 16) for line in listed if line.endswith(" same")]
    functions = [("main", program.addresses["main"]), ("same", same[1]), ("same", same[0]),
                 ("ns::func", program.addresses["_ZN2ns4funcIiEEvi"]), ("odd::one", same[0]),
                 ("far::away", 1 << 40)]
    text = "".join(
        f"app {process}/7 1.5: 7 cycles:u:\n\t{base + address + 3:x} {name}+0x3 (/bin/app)\n\n"
        for process, base in ((7, 0x55d000000000), (8, 0x55e123456000))
        for name, address in functions)
    (tmp_path / "t").write_text(text)
    read, said = imported(tmp_path / "t", "--binary", program.path, "--min-match", "50")
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
        F(a, "f.cold") F(b, "f") F(c, "hot.g") F(d, "h")
        int main(int n, char **v) { return a(n) + b(n) + c(n) + d(n); }
    """
    path = order(".text.unlikely.f", ".text.hot.g", ".text.unlikely.h")
    read, _ = imported(path, "--binary", link(source=source).path)
    assert [name.name for name in read.touches] == [b"f.cold", b"hot.g", b"h"]


def test_a_program_that_no_sample_hit(link, cli, tmp_path):
    """If it is given, the remedy is to sample it more often; else another one may be meant."""
    text = tmp_path / "text"
    text.write_text("app 5/5 1.5: 7 cycles:u: 12 malloc+0x1 (/lib/libc.so.6)\n")
    said = cli("import", text, "--program", "app", code=65).err
    assert f"{HEAD}choose one with --program NAME\n" in said
    said = cli("import", text, "--binary", link().path, code=65).err
    assert "no sample is in a function of app" in said
    assert f"{HEAD}sample more often, or set a uprobe" in said


def test_a_section_of_many_is_no_miss(link, imported, order):
    """`.text.startup` is a function of that name if there is one; else nothing is missing."""
    source = "int hot(int n) { return n; } int main(int n, char **v) { return hot(n); }"
    path = order(".text.startup", ".text.hot", ".data.rel.ro", ".text.main")
    read, said = imported(path, "--binary", link(source=source).path)
    assert [name.name for name in read.touches] == [b"hot", b"main"]
    assert "2 of 2 names found" in said and "missing" not in said
    assert "2 names (startup, ro) left out" in said


TINY = ("--image-base=0x200000",)


@pytest.fixture
def tiny(run, llvm, tmp_path):
    """The program whose log is in the samples: no C library, so its addresses are the same."""
    run(llvm / "clang", "-c", "--target=x86_64-linux-gnu", DATA / "tiny.s", "-o", "tiny.o",
        cwd=tmp_path)
    run(llvm / "ld.lld", *TINY, "tiny.o", "-o", "tiny", cwd=tmp_path)
    return tmp_path / "tiny"


def test_a_lackey_log_becomes_code_and_data_with_their_bytes(tiny, imported):
    """In order of first touch, data by its granules and no larger than it is."""
    read, _ = imported(DATA / "lackey.txt", "--binary", tiny)
    assert [(name.name, touch.touched.size) for name, touch in read.in_order()] == [
        (b"_start", 19), (b"second", 16), (b"table", 48), (b"first", 8), (b"counter", 4)]
    assert read.data_runs == 1


def test_a_lackey_log_needs_the_program_where_it_was(tiny, cli, run, llvm, tmp_path):
    """Without --binary there are no names, and an address that does not fit is refused."""
    result = cli("import", DATA / "lackey.txt", "--program", "tiny", code=2)
    assert "addresses only" in result.err and "--binary" in result.err
    result = cli("import", DATA / "lackey.txt", "--binary", tiny, "--base=0x1000", code=65)
    assert "no instruction at the program's entry point" in result.err and "--base" in result.err
    run(llvm / "ld.lld", *TINY, "-shared", "-Bsymbolic", "-e", "0", tmp_path / "tiny.o", "-o",
        tmp_path / "lib.so")
    result = cli("import", DATA / "lackey.txt", "--binary", tmp_path / "lib.so", code=2)
    assert "a shared library has no fixed address" in result.err


# What valgrind 3.19 writes of a program with DWARF 5: about some, and then goes on.
CANNOT_READ = "### unhandled dwarf2 abbrev form code 0x25\n"
GAVE_UP = """\
==7== Valgrind: debuginfo reader: ensure_valid failed:
==7== Valgrind:   during call to ML_(img_get)
==7==
==7== Valgrind: debuginfo reader: Possibly corrupted debuginfo file.
==7== Valgrind: I can't recover.  Giving up.  Sorry.
==7==
"""


def test_a_lackey_log_of_a_program_that_valgrind_could_not_read(tiny, imported, cli, tmp_path):
    """Is told for what it is, and the note says how to make a better one; complaints alone are
    passed over."""
    head, accesses = (DATA / "lackey.txt").read_text().split("== \n", 1)
    log = tmp_path / "log"
    log.write_text(f"{head}== \n{CANNOT_READ}{accesses}")
    complete, _ = imported(DATA / "lackey.txt", "--binary", tiny)
    assert imported(log, "--binary", tiny)[0].touches == complete.touches
    log.write_text(f"==7== Lackey, an example Valgrind tool\n{CANNOT_READ}{GAVE_UP}")
    said = cli("import", log, "--binary", tiny, code=65).err
    assert f"{log}:7: valgrind gave up" in said and "strip --strip-debug" in said


def test_a_base_that_nothing_needs_is_reported(imported, order):
    """It is for logs of lackey alone."""
    _, said = imported(order("main"), "--program", "app", "--base=0x1000")
    assert "--base: not used" in said


@pytest.mark.parametrize("base", ["x", "-1", "0x10000000000000000", ""])
def test_a_base_that_is_no_address_is_refused(cli, base):
    """--base is a number of 64 bits."""
    assert "is not an address" in cli("import", "x", f"--base={base}", code=2).err


def test_every_format_is_in_the_help_and_the_document(cli):
    """Each with the command that makes such a file."""
    from frontload import importers
    text = " ".join(cli("import", "--help").out.split())
    document = (Path(__file__).parents[2] / "docs" / "import.md").read_text()
    for importer in importers.FORMATS.values():
        assert f"{importer.name} {' '.join(importer.made_by.split())}" in text
        assert f"`{importer.name}`" in document
