"""Objects that another plugin makes in the link, by link-time optimization."""

import os
import shlex

import abilities
import pytest
from golds import NEEDS_GOLD, PLUGIN, drive, gold, last_in_section, link_gold, plugin_flags
from linking import LLVM, check_run, compile_text, write_profile

pytestmark = NEEDS_GOLD

LLVM_GOLD = LLVM.parent / "lib" / "LLVMgold.so"  # Debian: llvm-22-linker-tools
NOINLINE = "#include <stdio.h>\n__attribute__((noinline)) "
A = (f"{NOINLINE}int b1(int);\n"
     f"{NOINLINE}int a1(int x) {{ printf(\"%d\\n\", x); return x + 1; }}\n"
     f"{NOINLINE}int a2(int x) {{ printf(\"%d\\n\", x); return x * 3; }}\n"
     "int main(int n, char **v) { return n > 5 ? a1(n) : a2(b1(n)) - 6; }\n")
B = f"{NOINLINE}int b1(int x) {{ printf(\"%d\\n\", x); return x + 1; }}\n"
NAMES = ("b1", "main", "a2")
WAYS = {"gcc": ("gcc", "-flto"), "clang": ("clang", "-flto"), "thin": ("clang", "-flto=thin")}


@pytest.fixture
def clang():
    abilities.need("llvm-gold")
    return LLVM / "clang"


@pytest.fixture(params=WAYS)
def way(request):
    """The compiler driver, and its flags."""
    compiler, flag = WAYS[request.param]
    driver = request.getfixturevalue("clang") if compiler == "clang" else "gcc"
    return compiler, driver, ("-O2", flag, "-ffunction-sections")


@pytest.mark.parametrize("order", [NAMES, NAMES[::-1]])
def test_made_objects_are_in_order(tmp_path, way, order):
    """Functions that come out of link-time optimization are placed like others, and with them."""
    compiler, cc, flags = way
    a = compile_text(tmp_path, "a.c", A, *flags, compiler=compiler)
    b = compile_text(tmp_path, "b.c", B, "-O2", compiler=compiler)
    linked = link_gold(tmp_path, a, b, *flags, entries=order, driver=cc)
    assert last_in_section(linked.image, *order) and linked.image.is_ordered("a1", order[0])
    assert check_run(linked.path) == "1\n2\n"
    assert linked.report["names"]["placed"] == 3
    assert linked.report["classes"]["text"]["sections"] == 3


def test_stale_profile(tmp_path, way):
    """What is missing is known when the objects are made, and nothing is written."""
    compiler, cc, flags = way
    a = compile_text(tmp_path, "a.c", A + B, *flags, compiler=compiler)
    profile = write_profile(tmp_path, "main", "gone", "away")
    out = tmp_path / "out"
    files = set(os.listdir(tmp_path))
    arguments = (out, a, *flags, *plugin_flags(profile))
    if compiler == "gcc":
        result = drive(*arguments, driver=cc, code=1)
    else:  # not by the compiler driver, which removes the output itself
        command = drive(*arguments, "-###", driver=cc).stderr
        result = gold(*shlex.split(command.splitlines()[-1])[1:], code=1)
    assert f"{profile}: 1 of 3 names found (33.3%)" in result.stderr
    assert set(os.listdir(tmp_path)) == files


def test_exports():
    """gold looks up one name; what LLVM and C++ bring along stays inside."""
    symbols = check_run("nm", "-D", "--defined-only", PLUGIN).split("\n")
    assert [line.split()[-1] for line in symbols if line] == ["onload"]


@pytest.mark.parametrize("is_first", [True, False])
def test_beside_another_plugin(tmp_path, clang, is_first):
    """LLVMgold.so uses LLVM, too; two users of it in one linker do not meet. Whichever comes first
    is asked first. An error of the other plugin is not followed by one of ours."""
    objects = [compile_text(tmp_path, f"{name}.c", text, "-O2", "-flto", compiler="clang")
               for name, text in (("a", A), ("b", B))]
    ours, theirs = plugin_flags(write_profile(tmp_path, *NAMES)), [f"-Wl,--plugin={LLVM_GOLD}"]
    plugins = ours + theirs if is_first else theirs + ours
    drive(tmp_path / "out", *objects, *plugins, driver=clang)
    assert check_run(tmp_path / "out") == "1\n2\n"
    bad = tmp_path / "bad.o"
    bad.write_bytes(b"BC\xc0\xde" + bytes(60))
    said = drive(tmp_path / "other", bad, *plugins, code=1).stderr
    assert "LLVM gold plugin has failed" in said and "frontload-gold" not in said
