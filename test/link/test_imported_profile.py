"""A profile that was imported from another tool lays a program out as a recorded one does."""

import pytest
from linking import BUILD, COMPILERS, LLVM, Image, check_run, compile_text, link, report_of

PROGRAM = """
#include <cstdio>
#define F(name) __attribute__((noinline)) int name(int x) { std::puts(#name); return x + 1; }
F(alpha) F(beta) F(gamma_) F(delta)
static F(helper)
int main() { return delta(helper(beta(0))) - 3; }
"""
ORDER = ["main", "_Z4betai", "_ZL6helperi", "_Z5deltai"]
INPUTS = {
    "lld": "".join(f"{name}\n" for name in ORDER),
    "gold": "".join(f".text.{name}\n" for name in ORDER),
    "chromium": "".join(f".text.{word}.{name}\n" for name in ORDER for word in ("hot", "startup")),
    "perf": "\n".join(f"app 5/5 1.5: 7 cycles:u: \n\t 12 {name}+0x1 (/bin/app)\n"
                      for name in ORDER),
    "uftrace": "".join(f"5.00000000{number}  6: [entry] {name}(55) depth: 0\n"
                       for number, name in enumerate(ORDER)),
    "llvm-temporal": ":ir\n:temporal_prof_traces\n1\n1\n1\nmain,_Z4betai,a.cpp;_ZL6helperi,"
                     "_Z5deltai\n",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The object, and the program linked from it as it is."""
    folder = tmp_path_factory.mktemp("program")
    o = compile_text(folder, "a.cpp", PROGRAM, compiler="clang")
    link(folder / "app", o, linker=LLVM / "ld.lld", driver=COMPILERS["clang"][1])
    return o, folder / "app"


@pytest.mark.parametrize("format", INPUTS)
def test_the_front_is_in_the_imported_order(tmp_path, program, format):
    """What another tool listed is in the front, in its order; the rest is behind it."""
    o, app = program
    (tmp_path / "input").write_text(INPUTS[format])
    check_run(BUILD / "bin" / "frontload", "import", "--format", format, tmp_path / "input",
              "--binary", app, "-o", tmp_path / "app.startup")
    out, report = tmp_path / "out", tmp_path / "report.json"
    link(out, o, f"-Wl,--front-report={report}", profile=tmp_path / "app.startup",
         driver=COMPILERS["clang"][1])
    assert check_run(out) == "beta\nhelper\ndelta\n"
    image = Image(out)
    assert sorted(ORDER, key=lambda name: image.symbols[name].address) == ORDER
    assert {image.section_of(name) for name in ORDER} == {".text.front"}
    assert image.section_of("_Z5alphai") == ".text"
    found = report_of(report)
    assert found.placed == len(ORDER) and not found.missing
