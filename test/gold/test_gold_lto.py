"""Objects that another plugin makes in the link, by link-time optimization."""

import json
import os

import pytest
from golds import PLUGIN, drive, gold, last_in_section, link_gold, needs_gold, plugin_flags
from linking import LLVM, check_run, compile_text, write_profile

pytestmark = needs_gold()

LLVM_GOLD = LLVM.parent / "lib" / "LLVMgold.so"
NOINLINE = "__attribute__((noinline)) "
A = (f"#include <stdio.h>\n{NOINLINE}int b1(int);\n"
     f"{NOINLINE}int a1(int x) {{ printf(\"%d\\n\", x); return x + 1; }}\n"
     f"{NOINLINE}int a2(int x) {{ printf(\"%d\\n\", x); return x * 3; }}\n"
     "int main(int n, char **v) { return n > 5 ? a1(n) : a2(b1(n)) - 6; }\n")
B = f"#include <stdio.h>\n{NOINLINE}int b1(int x) {{ printf(\"%d\\n\", x); return x + 1; }}\n"
NAMES = ("b1", "main", "a2")
WAYS = {"gcc": ("gcc", "-flto"), "clang": ("clang", "-flto"), "thin": ("clang", "-flto=thin")}


def driver(compiler: str):
    if compiler == "gcc":
        return "gcc"
    if not LLVM_GOLD.exists():
        pytest.skip(f"needs {LLVM_GOLD} (Debian: llvm-22-linker-tools)")
    return LLVM / "clang"


@pytest.fixture(params=WAYS)
def way(request):
    """The compiler driver, and its flags."""
    compiler, flag = WAYS[request.param]
    return compiler, driver(compiler), ("-O2", flag, "-ffunction-sections")


def test_made_objects_are_in_order(tmp_path, way):
    """Functions that come out of link-time optimization are placed like others, and with them."""
    compiler, cc, flags = way
    a = compile_text(tmp_path, "a.c", A, *flags, compiler=compiler)
    b = compile_text(tmp_path, "b.c", B, "-O2", compiler=compiler)
    for order in (NAMES, NAMES[::-1]):
        image = link_gold(tmp_path / "out", a, b, *flags, profile=write_profile(tmp_path, *order),
                          options=[f"report={tmp_path / 'report'}"], driver=cc)
        assert last_in_section(image, *order)
        assert image.symbols["a1"].address < image.symbols[order[0]].address
        assert check_run(tmp_path / "out") == "1\n2\n"
        report = json.loads((tmp_path / "report").read_text())
        assert report["names"]["placed"] == 3
        assert report["classes"]["text"]["sections"] == 3


def test_stale_profile(tmp_path, way):
    """What is missing is known when the objects are made: the previous output comes back."""
    compiler, cc, flags = way
    a = compile_text(tmp_path, "a.c", A, *flags, compiler=compiler)
    b = compile_text(tmp_path, "b.c", B, *flags, compiler=compiler)
    profile = write_profile(tmp_path, "main", "gone", "away")
    out = tmp_path / "out"
    out.write_text("before")
    files = set(os.listdir(tmp_path))
    # Not by the compiler driver, which removes the output itself.
    command = drive(out, a, b, *flags, *plugin_flags(profile), "-###", driver=cc).stderr
    if compiler == "gcc":
        result = drive(out, a, b, *flags, *plugin_flags(profile), driver=cc, code=1)
    else:
        line = [word.strip('"') for word in command.splitlines()[-1].split()]
        result = gold(*line[1:], code=1)
    assert f"{profile}: 1 of 3 names found (33.3%)" in result.stderr
    assert out.read_text() == "before"
    assert set(os.listdir(tmp_path)) == files


def test_beside_another_plugin_without_its_objects(tmp_path):
    """LLVMgold.so uses LLVM, too; two users of it in one linker do not meet. Whichever comes first
    is asked first."""
    cc = driver("clang")
    a = compile_text(tmp_path, "a.c", A, compiler="clang")
    b = compile_text(tmp_path, "b.c", B, compiler="clang")
    ours = plugin_flags(write_profile(tmp_path, *NAMES))
    for flags in ([f"-Wl,--plugin={LLVM_GOLD}", *ours], [*ours, f"-Wl,--plugin={LLVM_GOLD}"]):
        drive(tmp_path / "out", a, b, *flags, driver=cc)
        assert check_run(tmp_path / "out") == "1\n2\n"


def test_exports():
    """gold looks up one name; what LLVM and C++ bring along stays inside."""
    symbols = check_run("nm", "-D", "--defined-only", PLUGIN).split("\n")
    assert [line.split()[-1] for line in symbols if line] == ["onload"]


def test_before_the_other_plugin(tmp_path):
    """Ours may be asked first."""
    cc = driver("clang")
    a = compile_text(tmp_path, "a.c", A, "-O2", "-flto", compiler="clang")
    b = compile_text(tmp_path, "b.c", B, "-O2", "-flto", compiler="clang")
    image = link_gold(tmp_path / "out", a, b, f"-Wl,--plugin={LLVM_GOLD}", driver=cc,
                      profile=write_profile(tmp_path, *NAMES))
    assert {"a1", *NAMES} <= set(image.symbols)
    assert check_run(tmp_path / "out") == "1\n2\n"


@pytest.mark.parametrize("names", [["main", "a2"], ["main", "gone"]])
def test_a_link_that_fails_by_itself(tmp_path, names):
    """gold removes what it has begun to write, whatever we think of the profile."""
    a = compile_text(tmp_path, "a.c", A, "-O2", "-flto")
    profile = write_profile(tmp_path, *names)
    files = set(os.listdir(tmp_path))
    result = drive(tmp_path / "out", a, "-flto", *plugin_flags(profile), code=1)
    assert "undefined reference to 'b1'" in result.stderr
    assert set(os.listdir(tmp_path)) == files


def test_the_other_plugin_fails(tmp_path):
    """An error of the other plugin is not followed by one of ours."""
    driver("clang")
    bad = tmp_path / "bad.o"
    bad.write_bytes(b"BC\xc0\xde" + bytes(60))
    profile = write_profile(tmp_path, *NAMES)
    out = tmp_path / "out"
    theirs, ours = [f"-Wl,--plugin={LLVM_GOLD}"], plugin_flags(profile)
    for flags in (theirs + ours, ours + theirs):
        result = drive(out, bad, *flags, code=1)
        assert "LLVM gold plugin has failed" in result.stderr
        assert "frontload-gold" not in result.stderr
        assert not out.exists()
