"""frontload order --linker bfd: GNU ld's own default script, with what startup needs first."""

import re

import pytest
from abilities import needs
from frontload.profile.startup_profile import Name
from ordered_program import START, START_UNITS, UNITS, mangled, startup_entries

pytestmark = needs("program:ld.bfd")
OUTPUTS = (".text", ".rodata", ".data.rel.ro", ".data", ".bss")


def order_and_link(built, names, *files, uses=()):
    """The script for these names, and the program that ld links by it."""
    script, _ = built.order("bfd", built.profile(*names), "--objects", *built.objects, *files)
    return script, built.link("bfd", *uses, *built.objects, *files, f"-Wl,-T,{script}")


@pytest.mark.parametrize(("kind", "compiler", "flags"), [
    ("pie", "gcc", ["-fPIE"]), ("no-pie", "clang", ["-fno-PIE"]), ("static", "gcc", ["-fno-PIE"]),
    ("static-pie", "clang", ["-fPIE"]), ("shared", "gcc", ["-fPIC", "-DLIBRARY"]),
    ("shared", "clang", ["-fPIC", "-DLIBRARY"])])
def test_startup_is_first_in_each_section(build_program, compiler, kind, flags):
    """For each kind of output; the program does what it did, and throws from front and cold."""
    built = build_program(compiler, *flags)
    script, _ = built.order("bfd", built.profile(*startup_entries()), "--output-kind", kind,
                            "--objects", *built.objects)
    plain = built.link("bfd", f"-{kind}", *built.objects, name="plain")
    linked = built.link("bfd", f"-{kind}", *built.objects, f"-Wl,-T,{script}")
    functions = [mangled(name) for name in START]
    assert linked.functions()[:6] == functions
    # Up to where the helpers and tables that each function needs are between them.
    assert linked.address(functions[-1]) - linked.sections[".text"]["sh_addr"] < 0x400
    for section, prefix in ((".data", "data_"), (".bss", "zeros_"), (".data.rel.ro", "pointer_")):
        names = [prefix + unit for unit in START_UNITS]
        cold = [prefix + unit for unit in UNITS if unit not in START_UNITS]
        if linked.symbols[names[0]].section == section:  # not relocated: in .rodata
            end = linked.sections[section]["sh_addr"]
            for symbol in map(linked.symbols.get, names):  # nothing but padding between
                assert symbol.section == section and 0 <= symbol.address - end <= 64
                end = symbol.address + symbol.size
            assert linked.address(names[-1]) < min(map(linked.address, cold))
    tables = ["table_" + unit for unit in START_UNITS]
    assert linked.in_order(["table_" + unit for unit in UNITS])[:3] == tables
    if kind == "shared":
        main = built.compile("use", 'extern "C" int work(); int main() { return work(); }')
        linked, plain = (built.link("bfd", main, each.path, name=f"use-{each.path.name}")
                         for each in (linked, plain))
    said = built.run(linked.path).stdout
    assert said == built.run(plain.path).stdout
    assert "thrown by unit_f" in said and "thrown by unit_a" in said


def test_other_sections_stay_as_they_are(build_program):
    """The same sections in the same order, the same RELRO, and thread-local data where it was."""
    built = build_program()
    plain = built.link("bfd", *built.objects, name="plain")
    _, linked = order_and_link(built, startup_entries())
    assert list(plain.sections) == list(linked.sections)
    for section in (".init_array", ".tdata", ".tbss", ".dynamic", ".eh_frame"):
        if section in plain.sections:
            assert plain.sections[section]["sh_size"] == linked.sections[section]["sh_size"]
    assert all(linked.address("pointer_" + unit) in linked.relro for unit in UNITS)
    assert not any(linked.address("data_" + unit) in linked.relro for unit in UNITS)


def test_garbage_is_still_collected(build_program):
    """A pattern keeps nothing that --gc-sections drops, of what startup once touched, too."""
    built = build_program()
    unused = built.compile("unused", "int unused_code(int x) { return x * 3; }")
    script, linked = order_and_link(built, [*startup_entries(), "_Z11unused_codei"], unused,
                                    uses=["-Wl,--gc-sections"])
    assert "_Z11unused_codei" in script.read_text()
    assert "_Z11unused_codei" not in linked.symbols
    assert linked.functions()[:6] == [mangled(name) for name in START]


@pytest.mark.parametrize("options", [[], ["-z", "now"], ["-z", "noseparate-code"],
                                     ["-z", "norelro"]])
def test_the_script_is_that_of_the_options(build_program, run, options):
    """What ld would take by itself, with patterns put in and nothing else changed."""
    built = build_program()
    script, _ = built.order("bfd", built.profile(*startup_entries()), "--objects",
                            *built.objects, "--linker-options", " ".join(options))
    default = run("ld.bfd", "-pie", *options, "--verbose").stdout.split("=" * 50)[1]
    text = script.read_text().split("*/\n", 1)[1]
    ours = [line for line in text.splitlines() if line not in default.splitlines()]
    assert all(re.fullmatch(r" {4}\S+\(\S+\)|.*\{|.*\}", line) for line in ours)
    kept, before = (re.sub(r"\n {4}[^\n]*(?=\n)|\s", "", each) for each in (text, default))
    assert kept == before
    linked = built.link("bfd", *built.objects, f"-Wl,-T,{script}",
                        *(["-Wl," + ",".join(options)] if options else []))
    assert linked.functions()[:6] == [mangled(name) for name in START]


def namesakes(built, number: int) -> str:
    return (f"static __attribute__((noinline)) int same(int x) {{ return x + {number}; }}\n"
            f"int user_{number}(int x) {{ return same(x) * {number}; }}\n")


@pytest.mark.parametrize("flags, name", [(None, "in a"), ("rcs", "in a"), ("rcsT", "in a"),
                                         (None, '"in'), (None, "in(1)"), (None, "[in]")])
def test_namesakes_are_told_apart_by_object(build_program, flags, name):
    """Of static functions of one name, the one that startup calls, in objects and archives."""
    built = build_program()
    made = [built.compile(each, namesakes(built, number))
            for number, each in enumerate([f"sub {name}", f"x{name}", name], 1)]
    files = [built.folder / "libsame.a"] if flags else made
    if flags:
        built.run("ar", flags, *files, *made)
    owner = f"libsame.a({name}.o)" if flags else f"{name}.o"
    names = [Name("function", "text", b"_ZL4samei", owner.encode()), *startup_entries()]
    script, linked = order_and_link(built, names, *files, uses=[
        f"-Wl,-u,_Z6user_{number}i" for number in (1, 2, 3)])
    same = [address for symbol, address in linked.all if symbol == "_ZL4samei"]
    first = linked.address(mangled(START[0]))
    assert len(same) == 3 and same[0] < first < same[1] < same[2]
    assert linked.sections[".text"]["sh_addr"] == same[0]
    # ld links a member that a pattern names outright; ours are globs.
    assert "_ZL4samei" not in built.link("bfd", *built.objects, f"-Wl,-T,{script}").symbols


def test_sections_are_guessed_from_a_linked_program(build_program):
    """Compilers name them after functions, of a constructor after C1 or C2, which are one."""
    built = build_program("clang")
    made = built.compile("made", "struct Made { Made(int); int x; };\n"
                         "__attribute__((noinline)) Made::Made(int x) : x(x) {}\n"
                         "extern int order_of_construction;\nMade made(order_of_construction);\n")
    plain = built.link("bfd", *built.objects, made, name="plain")
    initializer, = (name for name in plain.symbols if name.startswith("_GLOBAL__sub_I_made.cpp"))
    names = ["_ZN4MadeC1Ei", initializer, *map(mangled, START), "main"]
    for files in (["--binary", plain.path], ["--objects", *built.objects, made]):
        script, _ = built.order("bfd", built.profile(*names), *files)
        linked = built.link("bfd", *built.objects, made, f"-Wl,-T,{script}")
        assert linked.in_order([*names, *linked.functions()[6:]])[:len(names)] == names


def test_odd_names(build_program):
    """Section names with what a script would need quotes for, or would take for a comment."""
    built = build_program()
    odd = ["a b", "c*d", "e[f]", "g/*h", "i\"j", "k(l)", "m,n", "ö", "o;p", "q{r}"]
    made = built.odd_functions([name.replace('"', '\\"') for name in odd])
    names = [f"odd{number}" for number in reversed(range(len(odd)))]
    _, linked = order_and_link(built, [*names, *startup_entries()], made)
    assert linked.in_order(names) == names
    assert linked.sections[".text"]["sh_addr"] == linked.address(names[0])
    assert linked.address(names[-1]) < linked.address(mangled(START[0]))


def test_constants_without_a_symbol_go_along(build_program, run):
    """Jump tables of startup's functions are first in .rodata, merged constants behind them."""
    built = build_program("clang")
    map_file = built.folder / "map"
    _, linked = order_and_link(built, startup_entries(), uses=[f"-Wl,-Map={map_file}"])
    tables = re.findall(r"^ \.rodata\.\S*choose_(unit_.)\S*\s+0x(\w+)", map_file.read_text(), re.M)
    assert [unit for unit, _ in sorted(tables, key=lambda pair: int(pair[1], 16))][:3] == [
        "unit_f", "unit_b", "unit_g"]
    constants = [int(address, 16) for address in
                 re.findall(r"^ \.rodata\.cst8\s+0x(\w+)\s+0x[1-9a-f]", map_file.read_text(), re.M)]
    cold = min(linked.address("table_" + unit) for unit in UNITS if unit not in START_UNITS)
    assert constants and max(constants) < cold


def test_section_ordering_file(build_program, tmp_path):
    """The patterns alone, of which ld 2.43 takes those of each section before its own."""
    built = build_program()
    order, _ = built.order("bfd", built.profile(*startup_entries()), "--objects",
                           *built.objects, "--section-ordering-file")
    text = order.read_text()
    statement = r"(?:\*|\*/\S+|\[\w\]\S+)\([\w.?*$@+-]+\)"
    assert re.fullmatch(rf"(?:\.[a-z.]+ : \{{(?:\n    {statement})+\n\}}\n)+", text)
    assert re.findall(r"^(\S+) : {", text, re.M) == list(OUTPUTS)
    script = tmp_path / "whole"
    script.write_text(f"SECTIONS {{ . = 0x10000; {text} .text2 : {{ *(.text*) }} }}\n")
    linked = built.link("bfd", "-r", "-nostdlib", *built.objects, f"-Wl,-T,{script}")
    assert linked.symbols[mangled(START[0])].section == ".text"
    assert linked.symbols[mangled("unit_a")].section == ".text2"


@pytest.mark.parametrize(("script", "what"), [
    (None, "not found"),
    ("exit 1", "prints no default script"),
    ("echo LLD 22", "prints no default script"),
    ("printf 'GNU ld\\nusing internal linker script:\\n====\\nSECTIONS { }\\n====\\n'",
     "defines .text 0 times"),
])
def test_a_linker_that_is_no_gnu_ld_is_refused(build_program, tmp_path, script, what):
    built = build_program()
    fake = tmp_path / "ld.fake"
    if script:
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
    output = tmp_path / "kept"
    output.write_text("before\n")
    _, result = built.order("bfd", built.profile(*startup_entries()), "--linker-path", fake,
                            "--objects", *built.objects, output=output,
                            code=65 if script and "internal" in script else 2)
    assert what in result.err and "note: " in result.err
    assert output.read_text() == "before\n"
    # A profile has no names of sections.
    _, result = built.order("bfd", built.profile(*startup_entries()), code=2)
    assert "--objects" in result.err
