"""A file with a front is linear: address and offset differ by one number from its first byte to its
last, and what is in memory before .bss is in the file."""

import json

import pytest
from linking import (
    COMPILERS,
    LD_LLD,
    Image,
    check_run,
    compile_text,
    functions,
    is_linear,
    link,
    measured,
    write_profile,
)
from whole import load_segments

GIB = 1 << 30
HUGE_BSS = f"""
    #include <stdio.h>
    char huge[{4 * GIB}ul];
    __attribute__((noinline)) int cold(int x) {{ return x + huge[x]; }}
    int main(int argc, char **argv) {{
      huge[{3 * GIB}ul * argc] = 7;
      printf("%d\\n", huge[{3 * GIB}ul * argc]);
      return argc > 1 ? cold(argc) : 0;
    }}
"""


@pytest.mark.parametrize("mode", ["-pie", "-no-pie"])
def test_bss_may_be_as_large_as_without_a_front(tmp_path, mode):
    """The rest of the code does not lie behind it, out of reach."""
    o = compile_text(tmp_path, "a.c", HUGE_BSS, "-fPIE")
    link(tmp_path / "out", o, mode, profile=write_profile(tmp_path, "main"))
    assert check_run(tmp_path / "out") == "7\n"
    assert (tmp_path / "out").stat().st_size < 1 << 20
    assert is_linear(tmp_path / "out")


ENDS = """
    #include <stdint.h>
    #include <stdio.h>
    #include <unistd.h>
    extern char data_start[], edata[], end[], etext[], __bss_start[];
    int first = 1, second[3000] = {2}, bss[5000];
    __attribute__((noinline)) int cold(int x) { return second[x] + bss[x]; }
    int main(int argc, char **argv) {
      char *datum = (char *)&first, *zero = (char *)bss;
      if (argc > 1) return cold(argc);
      printf("%d%d%d%d%d\\n", data_start <= datum, datum < edata, edata <= zero, zero < end,
             (char *)cold < etext);
      return (char *)sbrk(0) < end;
    }
"""


@pytest.mark.parametrize("mode", ["-pie", "-no-pie", "-static"])
def test_the_linker_s_symbols_mean_what_they_always_meant(tmp_path, mode):
    """Collectors of garbage look at all between data_start and end, and brk is behind that."""
    o = compile_text(tmp_path, "a.c", ENDS, "-fPIE")
    profile = write_profile(tmp_path, measured("main"), ("data", "data", "first"))
    link(tmp_path / "out", o, mode, profile=profile)
    assert check_run(tmp_path / "out") == "11111\n"
    image = Image(tmp_path / "out")
    assert image.section_of("first") == ".data.front" and image.section_of("second") == ".data"


@pytest.mark.parametrize("page", [4096, 16384, 65536])
@pytest.mark.parametrize("mode", ["-pie", "-no-pie"])
def test_with_pages_of_any_size(tmp_path, mode, page):
    o = compile_text(tmp_path, "a.c", ENDS, "-fPIE")
    link(tmp_path / "out", o, mode, f"-Wl,-z,max-page-size={page}",
         profile=write_profile(tmp_path, "main"))
    assert check_run(tmp_path / "out") == "11111\n"
    assert is_linear(tmp_path / "out")
    assert all(s.p_offset % page == 0 for s in load_segments(tmp_path / "out"))


def test_large_constants_that_the_loader_copies(tmp_path):
    """They have no contents, and are in the file all the same, as zeros."""
    library = compile_text(tmp_path, "lib.c", "const int table[20000] = {[19999] = 5};\n", "-fPIC")
    link(tmp_path / "libtable.so", library, "-shared", linker=LD_LLD)
    program = compile_text(tmp_path, "a.c", """
        extern const int table[20000];
        int main(void) { return table[19999] != 5; }
        """, "-fno-pie", "-fno-PIC")
    link(tmp_path / "out", program, "-no-pie", tmp_path / "libtable.so", f"-Wl,-rpath,{tmp_path}",
         profile=write_profile(tmp_path, "main"))
    check_run(tmp_path / "out")
    assert is_linear(tmp_path / "out")
    assert Image(tmp_path / "out").section_of("table") == ".data.rel.ro"


BLOB = """
    .section .nv_fatbin,"a",@progbits
    .globl blob
    blob: .fill 6000000, 1, 3
    .section mutable_blob,"aw",@progbits
    .globl other_blob
    other_blob: .fill 3000000, 1, 4
    .section .lrodata.blob,"al",@progbits
    .globl far_blob
    far_blob: .fill 2000000, 1, 5
"""
USER = """
    #include <stdio.h>
    extern const char blob[], other_blob[], far_blob[];
    int table[1000000] = {1};
    int main(int argc, char **argv) {
      printf("%d %d\\n", blob[argc], table[argc - 1]);
      return argc > 1 ? other_blob[argc] + far_blob[argc] : 0;
    }
"""


def test_what_is_large_and_not_touched_is_not_in_the_front(tmp_path):
    """Whatever its name: sections of their own, large data, tables; before, all of it was read."""
    objects = [compile_text(tmp_path, "user.c", USER, "-fPIE"),
               compile_text(tmp_path, "blob.s", BLOB, compiler="clang")]
    report = tmp_path / "report.json"
    profile = write_profile(tmp_path, measured("main"), ("data", "data", "table"))
    link(tmp_path / "out", *objects, "-pie", f"-Wl,--front-report={report}", profile=profile)
    assert check_run(tmp_path / "out") == "3 1\n"
    front = json.loads(report.read_text())["front"]
    assert front["linear"] and front["read"] < 40000 and front["bytes"] < 40000
    assert front["unnamed"] < 4096


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_run_that_leaves_at_once_does_not_pay_for_the_others(tmp_path, compiler):
    """What only some runs touch is in the front, but nobody asks for it."""
    names = [f"f{i}" for i in range(400)]
    o = compile_text(tmp_path, "a.c", "\n".join(
        f"int {n}(int x) {{ volatile int a[40] = {{{i}}}; return a[x % 40] + {i}; }}"
        for i, n in enumerate(names)) + functions("main2") +
        "int main(void) { return 0; }\n", compiler=compiler)
    report = tmp_path / "report.json"

    def read(share: int) -> int:
        entries = [("function", "text", n, "", runs)
                   for n, runs in (("main", 10), *((n, share) for n in names))]
        link(tmp_path / "out", o, f"-Wl,--front-report={report}",
             profile=write_profile(tmp_path, *entries, runs=10))
        return json.loads(report.read_text())["front"]["read"]

    assert read(10) - read(3) > 20000
