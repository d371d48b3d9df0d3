"""frontload order --linker lld: real lld takes the file without a word, and orders by it."""

import os

import pytest
from frontload.base import response_files
from frontload.profile.startup_profile import Name
from small_programs import symbol_addresses

pytestmark = pytest.mark.usefixtures("tools")
ORDER = ["f3", "helper", "main", "f1", "f5"]


@pytest.fixture
def relink(link, run, llvm, tmp_path):
    """Links app.o again with an order file; lld must print nothing. Returns the addresses."""

    def relink(order, **options):
        link(f"-Wl,--symbol-ordering-file={order}", name="again", **options)
        return symbol_addresses(run, llvm, tmp_path / "again")

    return relink


def test_lld_orders_by_the_file_and_prints_nothing(link, startup, cli, relink, tmp_path):
    """Functions and data come in first-touch order; names that do not exist are left out."""
    data = [Name("data", "data", b"pointer"), Name("data", "data", b"counter")]
    path = startup(*ORDER[:3], "gone", *data, *ORDER[3:], "printf")
    result = cli("order", path, "--linker", "lld", "--binary", link().path, "--min-match", "77",
                 "-o", tmp_path / "app.order")
    assert "7 of 9 names found (77.77%)" in result.err
    assert (tmp_path / "app.order").read_text().split() == [*ORDER[:3], "pointer", "counter",
                                                          *ORDER[3:]]
    addresses = relink(tmp_path / "app.order")
    assert sorted(ORDER, key=addresses.get) == ORDER
    assert max(addresses[name] for name in ORDER) < addresses["f2"]


def test_names_are_found_in_objects_and_archives(link, startup, cli, run, llvm, tmp_path):
    """Objects, archives and thin archives give the names that they define, static ones too."""
    link()
    (tmp_path / "b.c").write_text("static int hidden(void) { return 1; }\n"
                                  "int (*a_name_longer_than_a_header_has_room)(void) = hidden;")
    run(llvm / "clang", "-c", "b.c", "-o", "b_with_a_long_file_name.o", cwd=tmp_path)
    (tmp_path / "notes.txt").write_text("odd")
    members = ("app.o", "b_with_a_long_file_name.o")
    run(llvm / "llvm-ar", "rcs", "lib.a", "notes.txt", *members, cwd=tmp_path)
    run(llvm / "llvm-ar", "rcsT", "thin.a", *members, cwd=tmp_path)
    path = startup("main", "hidden", "printf", "gone",
                   Name("data", "data", b"a_name_longer_than_a_header_has_room"))
    for objects in (members, ("lib.a",), ("thin.a",)):
        result = cli("order", path, "--linker", "lld", "--min-match", "0", "--objects",
                     *(tmp_path / name for name in objects))
        assert result.out.split() == ["main", "hidden", "a_name_longer_than_a_header_has_room"]
        assert ("not ELF objects: 1" in result.err) == (objects == ("lib.a",))


def test_objects_may_be_more_than_a_command_line_holds(link, startup, cli, tmp_path):
    link()
    folder = tmp_path / ("a long name with 'quotes' " * 9)
    folder.mkdir()
    count = os.sysconf("SC_ARG_MAX") // len(str(folder)) + 1
    listed = [folder / f"{number}.o" for number in range(count)]
    listed[0].hardlink_to(tmp_path / "app.o")
    empty = tmp_path / "empty.a"
    empty.write_bytes(b"!<arch>\n")
    for path in listed[1:]:
        path.hardlink_to(empty)
    (tmp_path / "objects").write_text(response_files.text(map(str, listed)))
    path = startup("main", "f1")
    assert cli("order", path, "--linker", "lld", "--objects",
               f"@{tmp_path / 'objects'}").out.split() == ["main", "f1"]


def test_what_the_compiler_adds_to_a_link_is_told(link, startup, cli, run, llvm, tmp_path):
    link()
    path = startup("_start", Name("function", "text", b"frame_dummy", b"crtstuff.c"),
                   Name("section", "data", b".data.rel.local", b"crtbeginS.o"), "main", "gone")
    crt = [run(llvm / "clang", f"-print-file-name={name}").stdout.strip()
           for name in ("crt1.o", "crtbeginS.o")]

    def said(*objects):
        return cli("order", path, "--linker", "gold", "--min-match", "0", "--objects",
                   tmp_path / "app.o", *objects).err

    assert "1 of 2 names found" in said() and "3 names of crt1.o, crtbegin.o and the like" in said()
    assert "4 of 5 names found" in said(*crt) and "crtbegin.o" not in said(*crt)


def test_names_are_those_of_this_link(link, startup, cli, relink, tmp_path):
    """A function that another build called otherwise is written as this link calls it."""
    path = startup("helper.isra.0", "f3.llvm.123", "main")
    result = cli("order", path, "--linker", "lld", "--binary", link().path,
                 "-o", tmp_path / "app.order")
    assert "3 of 3 names found" in result.err
    assert (tmp_path / "app.order").read_text() == "helper\nf3\nmain\n"
    addresses = relink(tmp_path / "app.order")
    assert addresses["helper"] < addresses["f3"] < addresses["main"] < addresses["f1"]


def test_versions_of_symbols_are_cut_as_lld_does(startup, cli, link, run, llvm, tmp_path):
    source = ("__asm__(\".symver impl, f@@V2\"); int impl(void) { return 0; }\n"
              "int g(void) { return 1; }")
    (tmp_path / "v").write_text("V2 { global: f; };")
    library = ("-shared", "-Wl,--version-script=v", "-Wl,-Bsymbolic")
    link(*library, source=source, name="libf.so", flags=["-fPIC"])
    path = startup("f@@V2", "impl")
    written = cli("order", path, "--linker", "lld", "--objects", tmp_path / "libf.so.o",
                  "-o", tmp_path / "f.order")
    assert (tmp_path / "f.order").read_text() == "f\nimpl\n", written.err
    link(*library, f"-Wl,--symbol-ordering-file={tmp_path / 'f.order'}", source=source,
         name="again.so", flags=["-fPIC"])


def test_names_that_lld_cannot_order_are_left_out(link, startup, cli, tmp_path):
    """_DYNAMIC, to which other linkers give a type; what a versioned library exports as well."""
    made = [Name("data", "relro", b"_DYNAMIC"), Name("data", "data", b"_GLOBAL_OFFSET_TABLE_")]
    path = startup(*made, "main", "both")
    (tmp_path / "v").write_text("V1 { global: *; };")
    library = link("-shared", "-Wl,--version-script=v", name="libshared.so", flags=["-fPIC"],
                   source="int both(void) { return 1; } int get(void) { return both(); }")
    source = ("int get(void); __attribute__((weak, noinline)) int both(void) { return 2; }\n"
              "int main(void) { return get() + both(); }")
    for options, names in (((), "main\n"), (["-rdynamic"], "main\nboth\n"),
                           (["--ld-path=/usr/bin/ld.bfd", "-rdynamic"], "main\nboth\n")):
        program = link(library.path, *options, source=source)
        assert cli("order", path, "--linker", "lld", "--binary", program.path).out == names


SAME = [Name("function", "text", b"init", file) for file in (b"a.c", b"b.c", b"c.c")]
NO_SYMBOLS = [Name("section", "rodata", b".rodata.f", b"a.o"), Name("string", "rodata", b"hello")]


@pytest.mark.parametrize(("names", "written", "said"), [
    # If there is nothing to look names up in, all are written.
    (["main", "gone"], "main\ngone\n", "lld will warn"),
    # lld warns about a name that stands twice, so same-named statics share one line.
    (SAME, "init\n", "2 names also belong to other files, and are counted once"),
    (["main", *NO_SYMBOLS, Name("data", "bss", b"zeros")], "main\nzeros\n",
     "2 sections and strings left out"),
    # A newline, a # first or space at an end cannot be written.
    (["main", "#f", " f", "f\t", "f\r", "a\nb", "f #g", "f\\n"], "main\nf #g\nf\\n\n",
     "5 names left out")])
def test_what_is_written_of_names(startup, cli, names, written, said):
    result = cli("order", startup(*names), "--linker", "lld")
    assert result.out == written and said in result.err


def test_a_profile_that_has_rotted_is_refused(link, startup, cli, tmp_path):
    path, binary = startup("main", *(f"gone{number}" for number in range(12))), link().path
    order = tmp_path / "app.order"
    order.write_text("before\n")
    for limit, code in (("7.7", 1), ("7.6", 0)):
        result = cli("order", path, "--linker", "lld", "--binary", binary, "--min-match", limit,
                     "-o", order, code=code)
        assert "1 of 13 names found (7.69%)" in result.err
        assert "gone9" in result.err and "gone10" not in result.err
        assert order.read_text() == ("before\n" if code else "main\n")
    result = cli("order", startup("alien"), "--linker", "lld", "--binary", binary, "-o", order,
                 "--min-match", "0", code=65)
    assert "none of its 1 names is in" in result.err and "a profile of app" in result.err
    assert order.read_text() == "main\n"


@pytest.mark.parametrize(("name", "contents", "what"), [
    ("bad.a", b"!<arch>\n" + b"x" * 60, "archive"),
    ("bad.o", b"BC\xc0\xde", "bitcode"),
    ("bad.o", b"", "neither an ELF file nor an archive"),
    ("@list", b" \n", "lists no objects"),
])
def test_bad_objects_are_refused(startup, cli, tmp_path, name, contents, what):
    """Damaged archives, LTO objects and other files are bad data, and so is an empty list."""
    path = tmp_path / name.removeprefix("@")
    path.write_bytes(contents)
    given = f"@{path}" if name[0] == "@" else path
    result = cli("order", startup("main"), "--linker", "lld", "--objects", given, code=65)
    assert f"error: {path}" in result.err and what in result.err


def test_the_link_is_told_in_one_way(startup, cli):
    """Not by both of --binary and --objects."""
    cli("order", startup("main"), "--linker", "lld", "--binary", "a", "--objects", "b", code=2)
