"""frontload order --linker gold: names of input sections, which gold places last, in order."""

import pytest
from frontload.profile.startup_profile import Name
from ordered_program import START, START_UNITS, UNITS, mangled, startup_entries


@pytest.fixture(autouse=True)
def has_gold(need):
    need("ld.gold")


def link_in_order(built, order, *arguments):
    return built.link("gold", *arguments, f"-Wl,--section-ordering-file={order}")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_startup_is_last_in_each_section(build_program, compiler):
    """The block is in first-touch order, behind everything else; the program does what it did."""
    built = build_program(compiler)
    order, result = built.order("gold", built.profile(*startup_entries()), "--objects",
                                *built.objects())
    assert "18 of 18 names found (100.00%)" in result.stderr
    plain = built.link("gold", *built.objects(), name="plain")
    linked = link_in_order(built, order, *built.objects())
    assert linked.functions()[-6:] == [mangled(name) for name in START]
    assert plain.functions()[-6:] != [mangled(name) for name in START]
    for prefix in ("data_", "zeros_", "pointer_", "table_"):
        assert linked.in_order([prefix + unit for unit in UNITS])[-3:] == [
            prefix + unit for unit in START_UNITS]
    assert built.output_of(linked) == built.output_of(plain)


def test_names_of_sections_are_read_from_the_objects(build_program):
    """A function's section need not be called after it."""
    built = build_program()
    odd = built.compile("odd", '__attribute__((section(".text.elsewhere"))) int odd() { return 1; }'
                        ' int even() { return 2; }')
    order, _ = built.order("gold", built.profile("_Z4evenv", "_Z3oddv"), "--objects",
                           *built.objects(), odd)
    assert order.read_text().split()[:2] == [".text._Z4evenv", ".text.elsewhere"]
    linked = link_in_order(built, order, *built.objects(), odd)
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
        built._run(built.compiler, "-c", source, "-o", objects[-1])
    startup = built.profile("hot", *startup_entries())
    order, result = built.order("gold", startup, "--objects", *built.objects(), *objects)
    assert "1 section left out" in result.stderr and ".text\n" not in order.read_text()
    order, result = built.order("gold", startup, "--objects", *built.objects(), objects[0])
    assert ".text\n" in order.read_text()


def test_namesakes_of_little_size_move_together(build_program):
    """Static functions of one name are a few bytes: cheaper to move than to leave."""
    built = build_program()
    made = [built.compile(name, "static __attribute__((noinline)) int same(int x) { return x + 1; }"
                          f"\nint user_{name}(int x) {{ return same(x); }}\n") for name in "xy"]
    order, _ = built.order("gold", built.profile(Name("function", "text", b"_ZL4samei", b"x.o")),
                           "--objects", *built.objects(), *made)
    linked = link_in_order(built, order, *built.objects(), *made)
    assert order.read_text() == ".text._ZL4samei\n"
    assert max(map(linked.address, linked.functions())) < min(
        symbol.address for symbol in linked.symbols["_ZL4samei"])


def test_odd_names(build_program):
    """Characters of globs are replaced; all others stand for themselves."""
    built = build_program()
    odd = ["a b", "c*d", "e[f]", "g\\\\h", "ö", "#i", " j "]
    source = built.folder / "odd.s"
    source.write_text("".join(
        f'.section ".text.{name}","ax",@progbits\n.globl odd{number}\n.type odd{number},@function\n'
        f'odd{number}: ret\n.size odd{number}, 1\n' for number, name in enumerate(odd))
        + '.section .note.GNU-stack,"",@progbits\n')
    built._run(built.compiler, "-c", source, "-o", built.folder / "odd.o")
    names = [f"odd{number}" for number in reversed(range(len(odd)))]
    order, _ = built.order("gold", built.profile(*names), "--objects", *built.objects(),
                           built.folder / "odd.o")
    linked = link_in_order(built, order, *built.objects(), built.folder / "odd.o")
    assert linked.in_order([*names, mangled("unit_a")]) == [mangled("unit_a"), *names]


def test_sections_are_guessed_from_a_linked_program(build_program):
    """With only the program that was linked, names of sections are what compilers make them."""
    built = build_program()
    plain = built.link("gold", *built.objects(), name="plain")
    order, result = built.order("gold", built.profile(*startup_entries()), "--binary", plain.path)
    assert "guessed" in result.stderr
    linked = link_in_order(built, order, *built.objects())
    assert linked.functions()[-6:] == [mangled(name) for name in START]


@pytest.mark.parametrize("linker", ["gold", "bfd", "lld"])
def test_a_rotten_profile_writes_nothing(build_program, linker):
    """Below --min-match percent: exit 1, what is missing, and the file from before stays."""
    built = build_program()
    startup = built.profile(mangled(START[0]), *(f"gone{number}" for number in range(12)))
    output = built.folder / "kept"
    output.write_text("before\n")
    for arguments, code in (([], 1), (["--min-match", "7.7"], 1), (["--min-match", "7.6"], 0)):
        _, result = built.order(linker, startup, "--objects", *built.objects(), *arguments,
                                code=code, output=output)
        assert "1 of 13 names found (7.69%)" in result.stderr
        assert "gone0, gone1, " in result.stderr and "gone10" not in result.stderr
        assert (output.read_text() == "before\n") == bool(code)
    built.order(linker, startup, "--objects", *built.objects(), "--min-match", "0")


@pytest.mark.parametrize("linker", ["gold", "bfd", "lld"])
def test_a_profile_of_another_program_is_refused(build_program, linker):
    """Without a single name there is nothing to order, whatever --min-match says."""
    built = build_program()
    _, result = built.order(linker, built.profile("alien"), "--min-match", "0", "--objects",
                            *built.objects(), code=65)
    assert "none of its 1 names" in result.stderr


def test_mold_is_refused_with_the_remedy(build_program):
    """It has no such option."""
    built = build_program()
    _, result = built.order("mold", built.profile("f"), "--objects", *built.objects(), code=2)
    assert "mold: has no option" in result.stderr and "ld.frontload" in result.stderr
