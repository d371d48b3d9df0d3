"""lld's own orders, of call graphs and by balanced partitioning: they go on for what is outside of
the front; in the front, calls order the code that every run enters, and nothing else changes."""

from pathlib import Path

import pytest
from linking import LD_LLD, LLVM, Image, bare_front, check_run, compile_text

FRONT = ["main", "f2", "f1"]  # in first-touch order
NEXT = ["n2", "n1"]           # what the front calls, but no start does
REST = ["r1", "r2", "r3", "r4", "r5"]
# Without a front, lld puts f1 before main, and all but r3 before n2 and n1.
CALLS = [("f1", "main", 500), ("main", "f2", 50), ("r4", "r2", 100), ("r2", "r5", 90),
         ("r5", "r1", 80)]
NO_SORT = "--no-call-graph-profile-sort"


def function(name: str, *callees: str, section: str | None = None, more: str = "") -> str:
    calls = "".join(f"  call {callee}\n" for callee in callees)
    return (f'.section {section or ".text." + name},"ax",@progbits{more}\n.globl {name}\n'
            f".type {name},@function\n{name}:\n{calls}  ret\n.size {name}, .-{name}\n")


def assembled(folder: Path, *parts: str, calls=()) -> Path:
    graph = "".join(f".cg_profile {a}, {b}, {n}\n" for a, b, n in calls)
    return compile_text(folder, "a.s", "".join(parts) + graph, compiler="clang")  # gas has none


def program(folder: Path, calls=CALLS) -> Path:
    callees = {"main": ("f2", "n1"), "f2": ("n2",)}
    # In the order of the link n1 comes first, which first-touch order does not change.
    return assembled(folder, *(function(n, *callees.get(n, ()))
                               for n in [*FRONT, *reversed(NEXT), *REST]), calls=calls)


def in_order(image: Image, names) -> list[str]:
    return sorted(names, key=lambda n: image.symbols[n].address)


def plain(folder: Path, *arguments) -> Image:
    """The same link without a front."""
    check_run(LD_LLD, "-e", "main", *arguments, "-o", folder / "plain")
    return Image(folder / "plain")


def with_front(folder: Path, *arguments, entries=FRONT, **header) -> Image:
    return bare_front(folder, *arguments, entries=entries, **header).image


def expect_same_order(folder: Path, *arguments, entries=FRONT, options=()) -> None:
    """As lld has it, which is another order than that of the lists."""
    reference = plain(folder, *arguments)
    image = with_front(folder, *arguments, *options, entries=entries)
    for names in (REST, FRONT):
        assert in_order(image, names) == in_order(reference, names) != names
    assert image.sections_of(*FRONT) == {".text.front"}


@pytest.mark.parametrize("sort", ["hfsort", "cdsort"])
@pytest.mark.parametrize("options", [(), ("--front-prefetch=inside",)])
def test_a_call_graph_orders_the_rest_and_what_all_runs_enter(tmp_path, sort, options):
    """As lld does without a front."""
    expect_same_order(tmp_path, program(tmp_path), f"--call-graph-profile-sort={sort}",
                      options=options)


def test_what_not_every_run_enters_stays_behind(tmp_path):
    """Each start reads the rest of the front's code."""
    entries = [("function", "text", name, "", runs)
               for name, runs in zip(FRONT, (2, 2, 1), strict=True)]
    image = with_front(tmp_path, program(tmp_path), entries=entries, runs=2)
    assert in_order(image, FRONT) == FRONT


def test_a_front_begins_with_what_compilers_call_hot(tmp_path):
    """As -z keep-text-section-prefix has it without a front, whatever calls what."""
    sections = {"main": ".text.unlikely.main", "f2": ".text.hot.f2"}
    o = assembled(tmp_path, *(function(n, section=sections.get(n)) for n in FRONT + REST),
                  calls=CALLS)
    assert in_order(with_front(tmp_path, o), FRONT) == ["f2", "f1", "main"]


def test_what_is_next_stays_before_the_rest(tmp_path):
    """What startup refers to lies at the beginning of the rest, called often or not. A user may
    turn the call graph off."""
    o = program(tmp_path, [*CALLS, ("n2", "r1", 1000), ("n1", "n2", 900)])
    without = with_front(tmp_path, o, NO_SORT)
    assert in_order(without, REST) == REST and in_order(without, FRONT) == FRONT
    in_text = in_order(with_front(tmp_path, o), [*NEXT, *REST])
    assert in_text[:2] == in_order(without, NEXT)
    assert in_text[2:] != REST


def test_sections_of_one_name_stay_together(tmp_path):
    """They are in the front as a whole."""
    same = (function(n, section=".text.main", more=f",unique,{i}") for i, n in enumerate(FRONT))
    o = assembled(tmp_path, *same, *map(function, REST), calls=CALLS)
    expect_same_order(tmp_path, o, entries=["main"])


def test_a_call_graph_of_lto(tmp_path):
    """The sections are those of objects that the link has made. With full LTO, LLVM drops a call
    graph that no counters in the functions repeat."""
    calls = [f"!{{ptr @{a}, ptr @{b}, i64 {n}}}" for a, b, n in CALLS]
    source, o = tmp_path / "a.ll", tmp_path / "a.o"
    source.write_text(
        'target triple = "x86_64-unknown-linux-gnu"\n'
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128"
        '-n8:16:32:64-S128"\n' +
        "".join(f"define void @{n}() noinline {{ call void asm sideeffect \"nop #{n}\", \"\"() "
                "ret void }\n" for n in FRONT + REST) +
        "!llvm.module.flags = !{!0}\n!0 = !{i32 5, !\"CG Profile\", !1}\n"
        f"!1 = distinct !{{{', '.join(f'!{i + 2}' for i in range(len(calls)))}}}\n" +
        "".join(f"!{i + 2} = {m}\n" for i, m in enumerate(calls)))
    check_run(LLVM / "clang", "-flto=thin", "-O1", "-Wno-override-module", "-c", source, "-o", o)
    expect_same_order(tmp_path, o, "-shared", "-Bsymbolic",
                      *(f"--undefined={n}" for n in FRONT + REST))


def test_balanced_partitioning_orders_the_rest(tmp_path):
    """What looks alike lies together, of code and of data."""
    def data(name: str, fill: int, size: int) -> str:
        return (f'.section .data.{name},"aw",@progbits\n.globl {name}\n.type {name},@object\n'
                f"{name}: .fill {size // 4}, 4, {fill}\n.size {name}, {size}\n")

    rest, rest_data = ([f"{letter}{i}" for i in range(18)] for letter in "rc")
    front_data = ["d2", "d1"]
    shapes = [f"  movl ${i * 0x01020304 % 0xffffff}, %eax\n" * 12 + "  ret\n" for i in range(3)]
    # A page of it: less is not put in order.
    o = assembled(tmp_path, *map(function, FRONT),
                  *(function(n).replace("  ret\n", shapes[i % 3]) for i, n in enumerate(rest)),
                  *(data(n, 1 + i, 4096) for i, n in enumerate(reversed(front_data))),
                  *(data(n, 1 + i % 3, 64) for i, n in enumerate(rest_data)))
    flag = "--bp-compression-sort=both"
    entries = [*FRONT, *(("data", "data", n, "", 1, "4096") for n in front_data)]
    reference, image = plain(tmp_path, o, flag), with_front(tmp_path, o, flag, entries=entries)
    for names in (rest, rest_data):
        assert in_order(image, names) == in_order(reference, names) != names
    assert in_order(image, FRONT) == FRONT
    assert in_order(image, front_data + rest_data)[:2] == front_data
