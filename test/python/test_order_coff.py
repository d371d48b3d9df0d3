"""frontload order --linker lld-link and link: lld-link orders by the file, for each machine."""

import pytest
from frontload.profile.startup_profile import Name
from small_programs import FREESTANDING, symbol_addresses

pytestmark = pytest.mark.usefixtures("tools")
FUNCTIONS = ["start", "f4", "helper", "f3", "f1"]  # and not f2, which comes last
DATA = ["other", "counter"]
NAMES = [*FUNCTIONS, *(Name("data", "data", name.encode()) for name in DATA)]
SECTIONS = "-ffunction-sections", "-fdata-sections"


@pytest.fixture
def link(run, llvm, tmp_path):
    """link(*inputs_and_options): the addresses of a program that lld-link makes in silence."""

    def link(*arguments):
        result = run(llvm / "lld-link", "/entry:start", "/subsystem:console", "/nodefaultlib",
                     "/debug:symtab", f"/out:{tmp_path / 'app.exe'}", *arguments)
        assert result.stdout == result.stderr == ""
        return symbol_addresses(run, llvm, tmp_path / "app.exe")

    return link


@pytest.mark.parametrize("machine", [
    "x86_64-pc-windows-msvc", "i686-pc-windows-msvc", "aarch64-pc-windows-msvc",
    "x86_64-w64-mingw32", "i686-w64-mingw32"])
def test_lld_link_orders_by_the_file(startup, compile, cli, link, tmp_path, machine):
    """Functions and data come in first-touch order on every machine."""
    program = compile(FREESTANDING, "app.obj", f"--target={machine}", *SECTIONS)
    underscore = "_" if machine.startswith("i686") else ""
    options = ["-lldmingw"] if "mingw" in machine else []

    def order(names, addresses):
        return sorted(names, key=lambda name: addresses[underscore + name])

    default = link(program, *options)
    assert order(FUNCTIONS, default) != FUNCTIONS and order(DATA, default) != DATA
    for looked_up in ([], ["--objects", program]):
        cli("order", startup(*NAMES), "--linker", "lld-link", "-o", tmp_path / "app.order",
            *looked_up)
        addresses = link(program, f"/order:@{tmp_path / 'app.order'}", *options)
        assert order(FUNCTIONS, addresses) == FUNCTIONS and order(DATA, addresses) == DATA
        assert order([*FUNCTIONS, "f2"], addresses)[-1] == "f2"


def test_names_are_found_in_archives_and_programs(startup, compile, cli, run, llvm, tmp_path, link,
                                                  monkeypatch):
    """Static libraries, of the long names that Microsoft's have, and linked files with symbols."""
    program = compile(FREESTANDING, "an_object_with_a_long_name.obj",
                      "--target=x86_64-pc-windows-msvc", *SECTIONS)
    run(llvm / "llvm-lib", "/out:app.lib", program.name, cwd=tmp_path)
    link(program)
    path = startup("f2", "gone", "helper")
    monkeypatch.chdir(tmp_path)
    program.rename("@app.obj")  # without ./ it would be a list of objects
    for where in (("--objects", "./@app.obj"), ("--objects", tmp_path / "app.lib"),
                  ("--binary", tmp_path / "app.exe")):
        result = cli("order", path, "--linker", "lld-link", "--min-match", 0, *where)
        assert result.out == "f2\nhelper\n" and "2 of 3 names found" in result.err


CONVENTIONS = """
int __stdcall standard(int a, int b) { return a - b; }
int __fastcall fast(int a, int b) { return a * b; }
int __vectorcall vector(int a, int b) { return a + b; }
int start(void) { return fast(standard(1, 2), vector(3, 4)); }
"""


def test_objects_tell_calling_conventions(startup, compile, cli, link, tmp_path):
    """On x86 stdcall, fastcall and vectorcall decorate names, each in its way."""
    program = compile(CONVENTIONS, "app.obj", "--target=i686-pc-windows-msvc", *SECTIONS)
    path = startup("vector", "start", "fast", "standard")
    cli("order", path, "--linker", "lld-link", "--objects", program, "-o", tmp_path / "app.order")
    lines = (tmp_path / "app.order").read_text().split()
    assert lines == ["vector@@8", "start", "@fast@8", "_standard@8"]
    addresses = link(program, f"/order:@{tmp_path / 'app.order'}")
    wanted = ["vector@@8", "_start", "@fast@8", "_standard@8"]
    assert sorted(wanted, key=addresses.get) == wanted

    result = cli("order", path, "--linker", "link", "--objects", program)
    assert result.out.split() == ["start", "@fast@8", "standard@8"]
    assert "1 name left out, which link cannot read from a file" in result.err


CLASS = """
int n; struct Base { Base(); ~Base(); int x; };
Base::Base() : x(n) {}
int first() { return n; }
Base::~Base() { n = x; }
extern "C" int start() { Base base; return base.x + first(); }
"""


def test_aliases_are_written_as_what_their_section_goes_by(startup, compile, cli, link, tmp_path):
    """With MinGW, C1 and C2 share a section, which lld-link knows as C2."""
    program = compile(CLASS, "app.obj", "--target=x86_64-w64-mingw32", *SECTIONS, "-fno-exceptions",
                      language="c++")
    path = startup("start", "_ZN4BaseD1Ev", "_Z5firstv", "_ZN4BaseC1Ev")
    cli("order", path, "--linker", "lld-link", "--objects", program, "-o", tmp_path / "app.order")
    wanted = ["start", "_ZN4BaseD2Ev", "_Z5firstv", "_ZN4BaseC2Ev"]
    assert (tmp_path / "app.order").read_text().split() == wanted
    addresses = link("-lldmingw", program, f"/order:@{tmp_path / 'app.order'}")
    assert sorted(wanted, key=addresses.get) == wanted


def test_the_itanium_abi_is_not_turned_into_microsofts(startup, compile, cli, link, tmp_path):
    """Where C++ names are Microsoft's, those of the Itanium ABI are missing."""
    program = compile(CLASS, "app.obj", "--target=x86_64-pc-windows-msvc", *SECTIONS,
                      "-fno-exceptions", language="c++")
    result = cli("order", startup("start", "_Z5firstv"), "--linker", "lld-link", "--objects",
                 program, "--min-match", 50)
    assert "1 of 2 names" in result.err and "1 name is of the Itanium C++ ABI" in result.err
    wanted = ["?first@@YAHXZ", "start", "??0Base@@QEAA@XZ"]
    cli("order", startup(*wanted), "--linker", "lld-link", "--objects", program,
        "-o", tmp_path / "app.order")
    addresses = link(program, f"/order:@{tmp_path / 'app.order'}")
    assert sorted(wanted, key=addresses.get) == wanted


def test_sections_that_are_no_comdat_are_counted(startup, compile, cli):
    """Without -ffunction-sections there is nothing that the linker can order, which is said."""
    program = compile(FREESTANDING, "app.obj", "--target=x86_64-pc-windows-msvc", "-fdata-sections")
    result = cli("order", startup(*NAMES), "--linker", "lld-link", "--objects", program)
    assert result.out.split() == DATA
    assert "5 names left out: their sections are not COMDAT" in result.err
    result = cli("order", startup("f1"), "--linker", "lld-link", "--objects", program, code=65)
    assert "nothing of it can be ordered by lld-link" in result.err and result.out == ""


def test_names_that_cannot_be_written_are_left_out(startup, compile, cli):
    """A comment, white space, another encoding; static functions, which link cannot order."""
    result = cli("order", startup("f@@V2", "g@@8"), "--linker", "lld-link")
    assert result.out == "f\ng@@8\n"
    odd = ["#f", " f", "f ", "a\nb"]
    result = cli("order", startup("f g", "f;g", "näme", *odd), "--linker", "lld-link")
    assert result.out == "f g\nf;g\nnäme\n" and "4 names left out, which lld-link" in result.err
    result = cli("order", startup("f", "f g", "f;g", "näme", *odd[1:]), "--linker", "link")
    assert result.out == "f\n" and "6 names left out, which link" in result.err
    program = compile(FREESTANDING, "app.obj", "--target=x86_64-pc-windows-msvc", *SECTIONS)
    path = startup("start", Name("function", "text", b"helper", b"app.c"))
    for where in ([], ["--objects", program]):
        result = cli("order", path, "--linker", "link", *where)
        assert result.out == "start\n" and "1 static name left out" in result.err


def test_bad_objects_are_refused(startup, compile, cli, tmp_path):
    """Objects of another system, damaged ones and those for LTO; what was written before stays."""
    windows = "--target=x86_64-pc-windows-msvc"
    compile(FREESTANDING, "elf.obj", "--target=x86_64-linux-gnu")
    compile(FREESTANDING, "lto.obj", windows, "-flto")
    whole = compile(FREESTANDING, "cut.obj", windows).read_bytes()
    (tmp_path / "cut.obj").write_bytes(whole[:len(whole) // 2])
    (tmp_path / "app.order").write_text("before\n")
    for file, code, what in (("elf.obj", 65, "is elf64-x86-64, not coff"),
                             ("cut.obj", 65, "cut.obj"), ("lto.obj", 65, "not recognized"),
                             ("gone.obj", 2, "No such file"), (".", 2, "is a directory")):
        result = cli("order", startup("start"), "--linker", "lld-link", "--objects",
                     tmp_path / file, "-o", tmp_path / "app.order", code=code)
        assert what in result.err and (tmp_path / "app.order").read_text() == "before\n"
