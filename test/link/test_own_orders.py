"""lld's own orders, of call graphs and by balanced partitioning: they go on for what is outside of
the front; in the front, calls order the code that every run enters, and nothing else changes."""

from pathlib import Path

import pytest
from linking import LD_LLD, LLVM, Image, check_run, compile_source, ld, write_profile

FRONT = ["main", "f2", "f1"]  # in first-touch order
NEXT = ["n2", "n1"]           # what the front calls, but no start does
REST = ["r1", "r2", "r3", "r4", "r5"]
# Without a front, lld puts f1 before main, and all but r3 before n2 and n1.
CALLS = [("f1", "main", 500), ("main", "f2", 50), ("r4", "r2", 100), ("r2", "r5", 90),
         ("r5", "r1", 80)]


def function(name: str, *callees: str, section: str | None = None) -> str:
    calls = "".join(f"  call {callee}\n" for callee in callees)
    return (f'.section {section or ".text." + name},"ax",@progbits\n.globl {name}\n'
            f".type {name},@function\n{name}:\n{calls}  ret\n.size {name}, .-{name}\n")


def assembled(folder: Path, text: str, name: str = "a") -> Path:
    source = folder / f"{name}.s"
    source.write_text(text)
    return compile_source(folder, source, compiler="clang")  # gas has no .cg_profile


def text_of_program() -> str:
    callees = {"main": ("f2", "n1"), "f2": ("n2",)}
    # In the order of the link n1 comes first, which first-touch order does not change.
    return "".join(function(n, *callees.get(n, ())) for n in [*FRONT, *reversed(NEXT), *REST])


def call_graph(calls=CALLS) -> str:
    return "".join(f".cg_profile {a}, {b}, {n}\n" for a, b, n in calls)


def names_in_order(path: Path, names) -> list[str]:
    symbols = Image(path).symbols
    return sorted(names, key=lambda n: symbols[n].address)


def expect_same_order(reference: Path, out: Path, *lists: list[str]) -> None:
    """Of the names in each list, which the reference has in another order than the list."""
    for names in lists:
        expected = names_in_order(reference, names)
        assert expected != names, "nothing has put them in order"
        assert names_in_order(out, names) == expected


def plain(folder: Path, *arguments) -> Path:
    """The same link without a front."""
    check_run(LD_LLD, "-e", "main", *arguments, "-o", folder / "plain")
    return folder / "plain"


def with_front(folder: Path, *arguments, entries=FRONT) -> Path:
    ld("-e", "main", *arguments, "-o", folder / "out",
       f"--startup-profile={write_profile(folder, *entries)}")
    return folder / "out"


@pytest.mark.parametrize("sort", ["hfsort", "cdsort"])
def test_a_call_graph_orders_the_rest(tmp_path, sort):
    """As lld does without a front."""
    o = assembled(tmp_path, text_of_program() + call_graph())
    flag = f"--call-graph-profile-sort={sort}"
    out = with_front(tmp_path, o, flag)
    expect_same_order(plain(tmp_path, o, flag), out, REST, FRONT)
    assert {Image(out).section_of(n) for n in FRONT} == {".text.front"}


@pytest.mark.parametrize("options", [(), ("--front-prefetch=inside", "--front-always")])
def test_a_call_graph_orders_code_of_all_runs(tmp_path, options):
    """Each start reads all of it. What not every run enters stays behind."""
    o = assembled(tmp_path, text_of_program() + call_graph())
    expected = names_in_order(plain(tmp_path, o), FRONT)
    assert expected != FRONT
    assert names_in_order(with_front(tmp_path, o, *options), FRONT) == expected
    entries = [("function", "text", name, "", runs)
               for name, runs in zip(FRONT, (2, 2, 1), strict=True)]
    ld("-e", "main", o, *options, "-o", tmp_path / "two",
       f"--startup-profile={write_profile(tmp_path, *entries, runs=2)}")
    assert names_in_order(tmp_path / "two", FRONT) == FRONT


def test_a_front_begins_with_what_compilers_call_hot(tmp_path):
    """As -z keep-text-section-prefix has it without a front, whatever calls what."""
    sections = {"main": ".text.unlikely.main", "f2": ".text.hot.f2"}
    o = assembled(tmp_path, "".join(function(n, section=sections.get(n)) for n in FRONT + REST) +
                  call_graph())
    assert names_in_order(with_front(tmp_path, o), FRONT) == ["f2", "f1", "main"]


def test_what_is_next_stays_before_the_rest(tmp_path):
    """What startup refers to lies at the beginning of the rest, called often or not."""
    calls = [*CALLS, ("n2", "r1", 1000), ("n1", "n2", 900)]
    o = assembled(tmp_path, text_of_program() + call_graph(calls))
    without = with_front(tmp_path, o, "--no-call-graph-profile-sort")
    expected = names_in_order(without, NEXT)
    out = with_front(tmp_path, o)
    in_text = names_in_order(out, [*NEXT, *REST])
    assert in_text[:2] == expected
    assert in_text[2:] != REST


def test_a_user_may_turn_the_call_graph_off(tmp_path):
    o = assembled(tmp_path, text_of_program() + call_graph())
    out = with_front(tmp_path, o, "--no-call-graph-profile-sort")
    assert names_in_order(out, REST) == REST
    assert names_in_order(out, FRONT) == FRONT


def test_a_call_graph_in_a_file(tmp_path):
    """--call-graph-ordering-file says the same as the sections in objects."""
    o = assembled(tmp_path, text_of_program())
    calls = tmp_path / "calls"
    calls.write_text("".join(f"{a} {b} {n}\n" for a, b, n in CALLS))
    flag = f"--call-graph-ordering-file={calls}"
    reference, out = plain(tmp_path, o, flag), with_front(tmp_path, o, flag)
    expect_same_order(reference, out, REST, FRONT)


def test_sections_of_one_name_stay_together(tmp_path):
    """They are in the front as a whole."""
    functions = [f".section .text.main,\"ax\",@progbits,unique,{i}\n" +
                 function(n).split("\n", 1)[1] for i, n in enumerate(FRONT)]
    o = assembled(tmp_path, "".join(functions) + "".join(map(function, REST)) + call_graph())
    out = with_front(tmp_path, o, entries=["main"])
    assert {Image(out).section_of(n) for n in FRONT} == {".text.front"}
    expect_same_order(plain(tmp_path, o), out, FRONT, REST)


def test_a_call_graph_of_lto(tmp_path):
    """The sections are those of objects that the link has made. With full LTO, LLVM drops a call
    graph that no counters in the functions repeat."""
    metadata = [f"!{{ptr @{a}, ptr @{b}, i64 {n}}}" for a, b, n in CALLS]
    source = tmp_path / "a.ll"
    source.write_text(
        'target triple = "x86_64-unknown-linux-gnu"\n'
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128"
        '-n8:16:32:64-S128"\n' +
        "".join(f"define void @{n}() noinline {{ call void asm sideeffect \"nop #{n}\", \"\"() "
                "ret void }\n" for n in FRONT + REST) +
        "!llvm.module.flags = !{!0}\n!0 = !{i32 5, !\"CG Profile\", !1}\n"
        f"!1 = distinct !{{{', '.join(f'!{i + 2}' for i in range(len(metadata)))}}}\n" +
        "".join(f"!{i + 2} = {m}\n" for i, m in enumerate(metadata)))
    o = tmp_path / "a.o"
    check_run(LLVM / "clang", "-flto=thin", "-O1", "-Wno-override-module", "-c", source, "-o", o)
    keep = [f"--undefined={n}" for n in FRONT + REST]
    flags = ["-shared", "-Bsymbolic", *keep]
    reference, out = plain(tmp_path, o, *flags), with_front(tmp_path, o, *flags)
    expect_same_order(reference, out, REST, FRONT)


def data(name: str, fill: int, size: int, section: str) -> str:
    return (f'.section {section}.{name},"aw",@progbits\n.globl {name}\n.type {name},@object\n'
            f"{name}: .fill {size // 4}, 4, {fill}\n.size {name}, {size}\n")


@pytest.mark.parametrize("what", ["function", "data", "both"])
def test_balanced_partitioning_orders_the_rest(tmp_path, what):
    """What looks alike lies together, of code and of data."""
    shapes = {i: f"  movl ${i * 0x01020304 % 0xffffff}, %eax\n" * 12 for i in range(3)}
    rest = [f"r{i}" for i in range(18)]
    code = "".join(function(n) for n in FRONT)
    code += "".join(function(n).replace("  ret\n", shapes[i % 3] + "  ret\n")
                    for i, n in enumerate(rest))
    front_data = ["d2", "d1"]
    rest_data = [f"c{i}" for i in range(18)]
    # A page of it: less is not put in order.
    code += "".join(data(n, 1 + i, 4096, ".data") for i, n in enumerate(reversed(front_data)))
    code += "".join(data(n, 1 + i % 3, 64, ".data") for i, n in enumerate(rest_data))
    o = assembled(tmp_path, code)
    flag = f"--bp-compression-sort={what}"
    entries = [*FRONT, *(("data", "data", n, "", 1, "4096") for n in front_data)]
    reference, out = plain(tmp_path, o, flag), with_front(tmp_path, o, flag, entries=entries)
    for names, kind in ((rest, "function"), (rest_data, "data")):
        expected = names_in_order(reference, names)
        assert (expected != names) == (what in (kind, "both"))
        assert names_in_order(out, names) == expected
    assert names_in_order(out, FRONT) == FRONT
    assert names_in_order(out, front_data) == front_data
    assert names_in_order(out, front_data + rest_data)[:2] == front_data


def test_a_sort_by_runs_orders_the_rest(tmp_path):
    """--bp-startup-sort: a temporal profile says what is used early; the front has its own."""
    rest = [f"r{i}" for i in range(8)]
    o = assembled(tmp_path, "".join(map(function, FRONT + rest)))
    trace = [*reversed(FRONT), *reversed(rest)]
    text = tmp_path / "runs.proftext"
    text.write_text(":ir\n:temporal_prof_traces\n1\n1\n1\n" + ",".join(trace) + "\n" +
                    "".join(f"{n}\n1\n1\n1\n\n" for n in trace))
    runs = tmp_path / "runs.profdata"
    check_run(LLVM / "llvm-profdata", "merge", text, "-o", runs)
    flags = [f"--irpgo-profile={runs}", "--bp-startup-sort=function"]
    expected = names_in_order(plain(tmp_path, o, *flags), rest)
    assert expected != rest
    out = with_front(tmp_path, o, *flags)
    assert names_in_order(out, rest) == expected
    assert names_in_order(out, FRONT) == FRONT


@pytest.mark.parametrize("flag", ["--call-graph-ordering-file=x", "--bp-startup-sort=function",
                                  "-bp-compression-sort=both"])
def test_another_lld_is_not_asked_for_them(tmp_path, flag):
    """It would order the front as well: there is no hook in it."""
    o = assembled(tmp_path, text_of_program())
    result = ld(o, "-o", tmp_path / "out", f"--lld={LD_LLD}", flag,
                f"--startup-profile={write_profile(tmp_path, 'main')}", code=2)
    assert f"--lld: cannot be combined with {flag}" in result.stderr
    assert not (tmp_path / "out").exists()


def test_another_lld_keeps_the_order_of_the_front(tmp_path):
    """It does without the call graph, which the objects bring."""
    o = assembled(tmp_path, text_of_program() + call_graph())
    out = with_front(tmp_path, o, f"--lld={LD_LLD}")
    assert names_in_order(out, FRONT) == FRONT
    assert names_in_order(out, REST) == REST
