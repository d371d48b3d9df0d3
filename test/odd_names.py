"""Names as C allows them by labels: very long, with a newline, a # or a space at an end, of no
encoding, or such that they would steer a terminal or a page; and a program that has them."""

import struct

from compiled import compile_to
from elftools.elf.elffile import ELFFile
from linking import COMPILERS, SECTION_FLAGS

# As they stand in the program, in the order in which it calls them; and as a profile has them.
NAMES = {
    b"L" * 10_000: "L" * 10_000, b"new\nline": r"new\nline", b"new\\nline": r"new\\nline",
    b"#include": "#include", b" edge ": " edge ", b"tab\t": r"tab\t", b"tab": "tab",
    b"\xff\xfe\x80": r"\xff\xfe\x80", b"\x1b[31mred": r"\x1b[31mred", b"<b>&\"'": "<b>&\"'",
    "grüß\u202e".encode(): "grüß\u202e"}


def program_with(folder, names):
    """An object of main, which calls functions of these names in order. No compiler writes all of
    them: it gets others of the same lengths, which are replaced."""
    stands_for = {name: f"F{number:x}".ljust(len(name), "_") for number, name in enumerate(names)}
    text = "".join(f"__attribute__((noinline)) int {stand_in}(int x) {{ return x * {i} + 1; }}\n"
                   for i, stand_in in enumerate(stands_for.values(), start=2))
    calls = "".join(f"x = {stand_in}(x); " for stand_in in stands_for.values())
    text += f"int main(int x, char **v) {{ {calls} return x == 1; }}\n"
    path = compile_to(folder / "app.o", COMPILERS["clang"][0], "-O1", *SECTION_FLAGS, "-c", "app.c",
                      sources={"app.c": text})
    data = path.read_bytes()
    for name, stand_in in stands_for.items():
        assert stand_in.encode() in data
        data = data.replace(stand_in.encode(), name)
    path.write_bytes(data)
    return path


def addresses(path):
    """The symbols of a linked file, by their names as they are."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        table, text = (elf.get_section_by_name(n).data() for n in (".symtab", ".strtab"))
    found = struct.iter_unpack("<IBBHQQ", table)
    return {text[name:text.index(b"\0", name)]: value for name, _, _, _, value, _ in found}
