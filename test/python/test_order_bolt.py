"""frontload order --linker bolt: BOLT takes the file and orders by it, same-named functions too."""

import abilities
import pytest
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.profile.startup_profile import Name

pytestmark = pytest.mark.usefixtures("tools")
MAIN = """
#include <stdio.h>
#define N __attribute__((noinline))
static N int helper(int x) { return x * 5; }
int a(int), b(int);
N int f1(int x) { return a(x) + 1; }
N int f2(int x) { return f1(x) * 2; }
int main(int argc, char **argv) { printf("%d\\n", b(f2(helper(argc)))); return 0; }
"""
PART = """
static __attribute__((noinline)) int helper(int x) {{ return x * {0} + 1; }}
int {1}(int x) {{ return helper(x); }}
"""
IN_PARTS = Name("function", "text", b"helper", b"part.c")


@pytest.fixture
def program(run, llvm, tmp_path):
    """A program with three functions `helper`, two of them from source files of one name."""
    abilities.need(f"program:{llvm / 'llvm-bolt'}")
    (tmp_path / "main.c").write_text(MAIN)
    for number, name in ((3, "a"), (7, "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.c").write_text(PART.format(number, name))
    run(llvm / "clang", f"--ld-path={llvm / 'ld.lld'}", "-O1", "-Wl,--emit-relocs", "main.c",
        "a/part.c", "b/part.c", "-o", "app", cwd=tmp_path)
    return tmp_path / "app"


def functions(path):
    """The functions of the program, with their source files, by address."""
    symbols = elf.read(path).symbols
    found = [(int(symbols.value[index]), index) for index, kind in enumerate(symbols.type)
             if kind == constants.STT_FUNC and symbols.section[index] > 0]
    named = [(symbols.names[index].decode(), symbols.source_file(index).decode())
             for _, index in sorted(found)]
    return [f"{file}:{name}" if file else name for name, file in named
            if name in ("main", "helper", "a", "b", "f1", "f2")]


@pytest.fixture
def bolt(run, llvm, program):
    """bolt(file): applies an order; returns the functions by address."""

    def bolt(order):
        result = run(llvm / "llvm-bolt", program, "-o", program.with_suffix(".bolt"),
                     "--reorder-functions=user", f"--function-order={order}")
        assert "BOLT-WARNING: Reorder" not in result.stdout + result.stderr
        assert run(program.with_suffix(".bolt")).stdout == run(program).stdout
        return functions(program.with_suffix(".bolt"))

    return bolt


def test_bolt_orders_by_the_file(startup, cli, program, bolt, tmp_path):
    """Functions come in first-touch order, a local one of one file and not that of the other."""
    wanted = ["f2", "main.c:helper", "b", "main", "a", "f1"]
    assert [name for name in functions(program) if name in wanted] != wanted
    path = startup("f2", Name("function", "text", b"helper", b"main.c"), "b", "main", "a", "f1",
                   Name("data", "data", b"counter"), "gone")
    result = cli("order", path, "--linker", "bolt", "--binary", program, "-o",
                 tmp_path / "app.order")
    assert "6 of 7 names found" in result.err and "1 name that is no function's" in result.err
    ordered = bolt(tmp_path / "app.order")
    assert ordered[:6] == wanted and ordered[6:] == ["part.c:helper", "part.c:helper"]


def test_files_of_one_name_are_numbered_as_bolt_does(startup, cli, program, bolt, tmp_path):
    """What two files of one name define is told apart by address: the lines are BOLT's names."""
    path = startup(IN_PARTS, "main")
    cli("order", path, "--linker", "bolt", "--binary", program, "-o", tmp_path / "app.order")
    lines = (tmp_path / "app.order").read_text().split()
    assert lines == ["helper/part.c/1", "helper/part.c/2", "main"]
    assert bolt(tmp_path / "app.order")[:3] == ["part.c:helper", "part.c:helper", "main"]
    (tmp_path / "app.order").write_text("b\nhelper/part.c/2\na\nhelper/part.c/1\nmain\n")
    assert bolt(tmp_path / "app.order")[:5] == ["b", "part.c:helper", "a", "part.c:helper", "main"]


def test_without_the_program_a_name_is_all_of_that_name(startup, cli, bolt, tmp_path):
    cli("order", startup("main", IN_PARTS, "f1"), "--linker", "bolt",
        "-o", tmp_path / "app.order")
    assert (tmp_path / "app.order").read_text().split() == ["main", "helper", "f1"]
    assert bolt(tmp_path / "app.order")[:5] == ["main", "main.c:helper", "part.c:helper",
                                                "part.c:helper", "f1"]


def test_what_bolt_does_not_take(startup, cli, program):
    """A name with a newline; objects, because BOLT does not link."""
    result = cli("order", startup("#f", "a\nb", " f"), "--linker", "bolt")
    assert result.out == "#f\n f\n" and "1 name left out, which BOLT cannot read" in result.err
    result = cli("order", startup("main"), "--linker", "bolt", "--objects", program, code=2)
    assert "linked program" in result.err and "--binary" in result.err
