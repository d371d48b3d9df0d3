"""frontload order --linker gold: names of input sections, which gold places last, in order."""

import pytest
from abilities import needs
from ordered_program import START, START_UNITS, UNITS, mangled, startup_entries

pytestmark = needs("program:ld.gold")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_startup_is_last_in_each_section(build_program, compiler):
    """The block is in first-touch order, behind everything else; the program does what it did."""
    built = build_program(compiler)
    order, result = built.order("gold", built.profile(*startup_entries()), "--objects",
                                *built.objects)
    assert "18 of 18 names found (100.00%)" in result.err
    plain = built.link("gold", *built.objects, name="plain")
    linked = built.link("gold", *built.objects, f"-Wl,--section-ordering-file={order}")
    assert linked.functions()[-6:] == [mangled(name) for name in START]
    assert plain.functions()[-6:] != [mangled(name) for name in START]
    for prefix in ("data_", "zeros_", "pointer_", "table_"):
        assert linked.in_order([prefix + unit for unit in UNITS])[-3:] == [
            prefix + unit for unit in START_UNITS]
    assert built.run(linked.path).stdout == built.run(plain.path).stdout


def test_names_of_sections_are_read_from_the_objects(build_program):
    """Characters of globs are replaced; all others stand for themselves."""
    built = build_program()
    odd = ["a b", "c*d", "e[f]", "g\\\\h", "ö", "#i", " j ", "elsewhere"]
    made = built.odd_functions(odd)
    names = [f"odd{number}" for number in reversed(range(len(odd)))]
    order, _ = built.order("gold", built.profile(*names), "--objects", *built.objects, made)
    assert order.read_text().startswith(".text.elsewhere\n")
    linked = built.link("gold", *built.objects, made, f"-Wl,--section-ordering-file={order}")
    assert linked.in_order([*names, mangled("unit_a")]) == [mangled("unit_a"), *names]


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
