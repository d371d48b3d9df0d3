"""Parts that the compiler split off (foo.cold) are jumped into, at their start or in the middle."""

import pytest
from traced import Binary

MAIN, TWO_WAYS, RARE = "main", "_Z8two_waysi", "_Z4rarei"
CATCHER, THROWER = "_Z7catcheri", "_Z7throweri"
SPLIT = ("-O2", "-freorder-blocks-and-partition")  # not all processors have it by default


@pytest.mark.parametrize(("argument", "entered"), [
    ("0", [MAIN, TWO_WAYS, CATCHER, THROWER]),
    ("1", [MAIN, TWO_WAYS, TWO_WAYS + ".cold", RARE, CATCHER, THROWER]),
    ("2", [MAIN, TWO_WAYS, TWO_WAYS + ".cold", RARE, CATCHER, THROWER, THROWER + ".cold",
           CATCHER + ".cold"]),
])
@pytest.mark.parametrize("kind", [["-fPIE", "-pie"], ["-static"]])
def test_cold_parts_that_run(kind, argument, entered, compile, record):
    """A cold part is recorded once, if any of its code runs; exceptions work as ever."""
    program = compile("cold.cpp", *SPLIT, *kind, cc="g++")
    recording = record("--", program, argument)
    assert recording.status == 0
    assert recording.stdout.endswith({"0": "0\n", "1": "63\n", "2": "246\n"}[argument])
    binary = Binary(program)
    own = {name for names in binary.names.values() for name in names
           if name.removesuffix(".cold") in (MAIN, TWO_WAYS, RARE, CATCHER, THROWER)}
    assert [n for n in binary.named(recording.trace.addresses()) if n in own] == entered


def test_wrong_size_of_a_cold_part(compile, record):
    """A cold part whose symbol claims to be enormous does not reach into the next function."""
    program = compile(r"""
        __asm__(".text\n.type f.cold,@function\nf.cold: nop\nmiddle: nop\nret\n"
                ".size f.cold,0x7fffffffffff\n"
                ".globl g\n.type g,@function\ng: nop\nnop\nret\n"
                ".globl middle\n");
        void g(void), middle(void);
        int main(void) { middle(); g(); return 0; }""", name="liar")
    recording = record("--", program)
    assert recording.status == 0
    names = Binary(program).named(recording.trace.addresses())
    assert names[names.index("main"):][:3] == ["main", "f.cold", "g"]


@pytest.mark.parametrize("name", ["f.cold", "f.cold.1", "f.__part.2", "f.eh"])
def test_parts_without_a_type(compile, record, name):
    """clang says of the parts that it splits off how large they are, but not that they are code."""
    program = compile(f"""
        __asm__(".text\\n\\"{name}\\": nop\\nmiddle: nop\\nret\\n"
                ".size \\"{name}\\", . - \\"{name}\\"\\n"
                "label: ret\\n"
                ".globl middle\\n.globl label\\n");
        void middle(void), label(void);
        int main(void) {{ middle(); label(); return 0; }}""", name="parts")
    recording = record("--", program)
    assert recording.status == 0
    names = Binary(program).named(recording.trace.addresses())
    assert names[names.index("main") + 1] == name and "label" not in names
