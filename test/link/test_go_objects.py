"""What Go's linker leaves to another one: an object in which all functions are one section."""

import pytest
from linking import MAIN, Image, compile_text, functions, link, write_profile

# As go.o: one section of each kind, and variables without pointers in one that only Go has.
_GO = """\
.file "go.go"
.text
.globl go_function
.type go_function, @function
go_function: ret
.size go_function, .-go_function
.section .rodata
.globl go_constant
.type go_constant, @object
go_constant: .quad 1
.size go_constant, 8
.section .noptrbss, "aw", @nobits
.globl go_variable
.type go_variable, @object
go_variable: .zero 8
.size go_variable, 8
"""


@pytest.mark.parametrize("named", ["go_function", "c_function"])
def test_constants_of_go_lie_before_its_variables(tmp_path, named):
    # Go's runtime refuses to start if its constants lie behind: for what it looks for among them it
    # searches from their beginning to the end of its variables.
    objects = [compile_text(tmp_path, "go.s", _GO),
               compile_text(tmp_path, "c.c", MAIN + functions("c_function"))]
    link(tmp_path / "app", *objects, profile=write_profile(tmp_path, named, "main"))
    symbols = Image(tmp_path / "app").symbols
    assert symbols["go_constant"].address < symbols["go_variable"].address
    assert symbols["go_constant"].section == ".rodata.front"
