"""The code of functions in objects that no compiler wrote: what overlaps, is too long or is there
many times."""

import struct

import pytest
from frontload.base.errors import BadData
from frontload.elf import code

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA = 1, 2, 3, 4
_HEADER, _SECTION = struct.Struct("<16s2HI3QI6H"), struct.Struct("<2I4Q2I2Q")


def write_object(path, sections):
    """An object for x86-64 of sections: type, flags, contents, link, info. Contents that are the
    same object are in the file once."""
    data, places, rows = b"", {}, [_SECTION.pack(*[0] * 10)]
    for kind, flags, contents, link, info in sections:
        if id(contents) not in places:
            places[id(contents)] = _HEADER.size + len(data)
            data += contents
        rows.append(_SECTION.pack(0, kind, flags, 0, places[id(contents)], len(contents), link,
                                  info, 1, 24 if kind in (SHT_SYMTAB, SHT_RELA) else 0))
    header = _HEADER.pack(b"\x7fELF\2\1\1", 1, 62, 1, 0, 0, _HEADER.size + len(data), 0,
                          _HEADER.size, 0, 0, _SECTION.size, len(rows), 0)
    path.write_bytes(header + data + b"".join(rows))
    return path


def symbol(name: int, section: int, value: int, size: int) -> bytes:
    return struct.pack("<IBBHQQ", name, 0x12, 0, section, value, size)


@pytest.fixture
def assembled(compile):
    """assembled(source): what code has each function of an object."""
    def assembled(source: str) -> dict[bytes, code.Code]:
        path = compile(source, "a.o", "--target=x86_64-linux-gnu", language="assembler")
        return {each.symbol: each for each in code.functions(path)}
    return assembled


def function(name: str, size: str, lines: str = "nop\nret") -> str:
    return f".type {name}, @function\n{name}:\n{lines}\n.size {name}, {size}\n"


def test_a_function_that_is_longer_than_its_section_has_no_code(assembled):
    """The others have theirs."""
    found = assembled(function("long", "1000") + function("f", ".-f") + function("huge", "1 << 63"))
    assert set(found) == {b"f"}


def test_a_section_without_bytes_has_no_code(assembled):
    """Nor has a file without functions."""
    assert assembled('.section .text.f,"ax",@nobits\n' + function("f", "2", ".zero 2")) == {}
    assert assembled(".globl x\nx:\nnop") == {}


def test_many_names_of_one_function_have_the_same_code(assembled):
    """As system calls have in a libc: that is no overlap."""
    names = "".join(f".set g{n}, f\n.type g{n}, @function\n.size g{n}, 2\n" for n in range(100))
    found = assembled(function("f", ".-f") + names)
    assert len(found) == 101
    assert len({each.digest for each in found.values()}) == 1


def test_functions_that_overlap_very_often_are_not_compared(assembled):
    """To hash each would take the square of the file. Other sections are as they were."""
    inside = "".join(f".type i{n}, @function\n.set i{n}, f+{n}\n.size i{n}, {1000 - n}\n"
                     for n in range(1000))
    found = assembled(function("f", ".-f", ".zero 1000") + inside
                      + '.section .text.g,"ax",@progbits\n' + function("g", ".-g"))
    assert set(found) == {b"g"}


def test_functions_that_overlap_a_little_are_compared(assembled):
    """As those with several entries do."""
    found = assembled(function("f", "3", "nop") + function("g", "2"))
    assert set(found) == {b"f", b"g"}


@pytest.mark.parametrize("shared", ["relocations", "code"])
def test_sections_that_share_their_bytes_are_refused(tmp_path, shared):
    """Reading them as often as they are named would take the square of the file."""
    text, relocations = b"\x90" * 2400, struct.pack("<QQq", 0, 2, 0) * 100
    symtab = symbol(0, 0, 0, 0)
    if shared == "code":
        sections = [(SHT_PROGBITS, 6, text, 0, 0)] * 50
        symtab += b"".join(symbol(1, 1 + number, 0, 2400) for number in range(50))
    else:
        sections = [(SHT_PROGBITS, 6, text, 0, 0), *[(SHT_RELA, 0, relocations, 0, 1)] * 50]
        symtab += symbol(1, 1, 0, 2400)
    tables = [(SHT_SYMTAB, 0, symtab, len(sections) + 2, 0), (SHT_STRTAB, 0, b"\0f\0", 0, 0)]
    with pytest.raises(BadData, match="share"):
        list(code.functions(write_object(tmp_path / "bad.o", [*sections, *tables])))


def test_names_that_are_mostly_the_same_bytes_are_refused(tmp_path):
    """They would take many times the memory of the file."""
    names = b"\0" + b"n" * 5000 + b"\0"
    symtab = symbol(0, 0, 0, 0) + b"".join(symbol(1 + n, 1, n, 1) for n in range(2000))
    path = write_object(tmp_path / "a.o", [
        (SHT_PROGBITS, 6, b"\x90" * 2000, 0, 0), (SHT_SYMTAB, 0, symtab, 3, 0),
        (SHT_STRTAB, 0, names, 0, 0)])
    with pytest.raises(BadData, match="bytes of names"):
        list(code.functions(path))
