"""frontload order --linker gold: names of input sections, which gold places last, in order."""

import pytest
from abilities import needs
from ordered_program import START, START_UNITS, UNITS, mangled, startup_entries

pytestmark = needs("program:ld.gold")


def link_in_order(built, order, *arguments):
    return built.link("gold", *arguments, f"-Wl,--section-ordering-file={order}")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_startup_is_last_in_each_section(build_program, compiler):
    """The block is in first-touch order, behind everything else; the program does what it did."""
    built = build_program(compiler)
    order, result = built.order("gold", built.profile(*startup_entries()), "--objects",
                                *built.objects)
    assert "18 of 18 names found (100.00%)" in result.err
    plain = built.link("gold", *built.objects, name="plain")
    linked = link_in_order(built, order, *built.objects)
    assert linked.functions()[-6:] == [mangled(name) for name in START]
    assert plain.functions()[-6:] != [mangled(name) for name in START]
    for prefix in ("data_", "zeros_", "pointer_", "table_"):
        assert linked.in_order([prefix + unit for unit in UNITS])[-3:] == [
            prefix + unit for unit in START_UNITS]
    assert built.output_of(linked) == built.output_of(plain)


def test_names_of_sections_are_read_from_the_objects(build_program):
    built = build_program()
    odd = built.compile("odd", '__attribute__((section(".text.elsewhere"))) int odd() { return 1; }'
                        ' int even() { return 2; }')
    order, _ = built.order("gold", built.profile("_Z4evenv", "_Z3oddv"), "--objects",
                           *built.objects, odd)
    assert order.read_text().split()[:2] == [".text._Z4evenv", ".text.elsewhere"]
    linked = link_in_order(built, order, *built.objects, odd)
    assert max(map(linked.address, linked.functions())) < linked.address(
        "_Z4evenv") < linked.address("_Z3oddv")


def test_a_name_of_too_much_is_left_out(build_program):
    """To list `.text` for one function would move all code that has no section of its own."""
    built = build_program()
    body = (".text\n.globl {0}\n.type {0},@function\n{0}: .fill {1}, 1, 0x90\nret\n"
            ".size {0}, .-{0}\n")
    objects = []
    for name, size in (("hot", 16), ("cold", 100_000)):
        source = built.folder / f"{name}.s"
        source.write_text(body.format(name, size) + '.section .note.GNU-stack,"",@progbits\n')
        objects.append(built.folder / f"{name}.o")
        built.run(built.compiler, "-c", source, "-o", objects[-1])
    startup = built.profile("hot", *startup_entries())
    order, result = built.order("gold", startup, "--objects", *built.objects, *objects)
    assert "1 section left out" in result.err and ".text\n" not in order.read_text()
    order, result = built.order("gold", startup, "--objects", *built.objects, objects[0])
    assert ".text\n" in order.read_text()


def test_odd_names(build_program):
    """Characters of globs are replaced; all others stand for themselves."""
    built = build_program()
    odd = ["a b", "c*d", "e[f]", "g\\\\h", "ö", "#i", " j "]
    made = built.odd_functions(odd)
    names = [f"odd{number}" for number in reversed(range(len(odd)))]
    order, _ = built.order("gold", built.profile(*names), "--objects", *built.objects, made)
    linked = link_in_order(built, order, *built.objects, made)
    assert linked.in_order([*names, mangled("unit_a")]) == [mangled("unit_a"), *names]
