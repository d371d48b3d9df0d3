"""A file with a front is linear: address and offset differ by one number from its first byte to its
last, and what is in memory before .bss is in the file."""

import pytest
from linking import (
    MAIN,
    check_run,
    compile_source,
    compile_text,
    front,
    functions,
    is_linear,
    measured,
)
from whole import PROGRAMS, load_segments

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
    out = front(tmp_path, compile_text(tmp_path, "a.c", HUGE_BSS, "-fPIE"), mode).path
    assert check_run(out) == "7\n"
    assert out.stat().st_size < 1 << 20 and is_linear(out)


@pytest.mark.parametrize(("mode", "page"), [("-pie", 4096), ("-no-pie", 16384),
                                            ("-static", 4096), ("-pie", 65536)])
def test_the_linker_s_symbols_mean_what_they_always_meant(tmp_path, mode, page):
    """Collectors of garbage look at all between data_start and end, and brk is behind that; with
    pages of any size."""
    linked = front(tmp_path, compile_source(tmp_path, PROGRAMS / "edges.c", "-fPIE"), mode,
                   f"-Wl,-z,max-page-size={page}",
                   entries=[measured("main"), ("data", "data", "initialized")])
    assert check_run(linked.path) == "11 111111111\n"
    assert linked.image.section_of("initialized") == ".data.front"
    assert is_linear(linked.path)
    assert all(s.p_offset % page == 0 for s in load_segments(linked.path))


@pytest.mark.parametrize(("count", "page", "flags"), [
    (9, 0, ["-Wl,--front-prefetch=inside"]), (100, 1, ["-Wl,--front-prefetch=inside"]),
    (200, 0, ["-Wl,--front-prefetch=inside"]), (100, 0, [])])
def test_the_name_of_the_loader_lies_where_it_brings_its_tables(tmp_path, count, page, flags):
    """The kernel reads four pages, and eight more if it reads from the second. That is for tables
    of about four pages, where a prefetch reads the rest."""
    names = [f"f{'x' * 120}{i}" for i in range(count)]
    objects = compile_text(tmp_path, "a.c", functions(*names) + MAIN, "-fPIE")
    linked = front(tmp_path, objects, "-pie", "-rdynamic", *flags)
    check_run(linked.path)
    places = {name: section["sh_offset"] // 4096 for name, section in linked.image.sections.items()}
    assert places[".interp"] == page
    assert (places[".gnu.hash"], places[".dynamic"]) == (4, 8) or not page
    assert is_linear(linked.path)


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
    linked = front(tmp_path, *objects, "-pie",
                   entries=[measured("main"), ("data", "data", "table")])
    assert check_run(linked.path) == "3 1\n"
    told = linked.report["front"]
    assert told["linear"] and told["read"] < 40000 and told["bytes"] < 40000
    assert told["unnamed"] < 4096


def test_a_run_that_leaves_at_once_does_not_pay_for_the_others(tmp_path):
    """What only some runs touch is in the front, but nobody asks for it."""
    names = [f"f{i}" for i in range(400)]
    o = compile_text(tmp_path, "a.c", MAIN + "".join(
        f"int {n}(int x) {{ volatile int a[40] = {{{i}}}; return a[x % 40] + {i}; }}\n"
        for i, n in enumerate(names)))

    def read(share: int) -> int:
        entries = [("function", "text", n, "", runs)
                   for n, runs in (("main", 10), *((n, share) for n in names))]
        linked = front(tmp_path, o, entries=entries, runs=10)
        return linked.report["front"]["read"]

    assert read(10) - read(3) > 20000
