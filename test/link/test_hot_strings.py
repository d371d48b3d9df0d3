"""Merged strings: those of startup come first, and the program reads what it always read."""

import pytest
from linking import Entry, compile_source, compile_text, front, link, measured, with_begun_strings
from whole import PROGRAMS

NUL = b"\0"


def contents_of(name: str) -> list[bytes]:
    """The strings of one byte per character that `name` in strings.c reads, it alone."""
    begin = name.encode()
    return [begin + b" short", begin + b" of a table", begin + b" \xc3\xa4\xff\x80",
            begin + b"0123456789" * 1000]


def string(text: bytes) -> Entry:
    return Entry("string", "rodata",
                 "".join(chr(b) if 32 <= b < 127 else f"\\x{b:02x}" for b in text))


@pytest.fixture
def check_program(tmp_path, run):
    """check_program(program, *flags): links strings.c with a front; it does what it does without,
    and strings that the front's functions read are there."""

    def check_program(program, *flags, entries=("hot", "main")):
        linked = front(tmp_path, program, *flags, entries=entries)
        link(tmp_path / "plain", program, *flags)
        assert run(linked.path).stdout == run(tmp_path / "plain").stdout
        assert all(linked.front_has(text) for text in contents_of("hot"))
        return linked

    return check_program


@pytest.fixture(params=["gcc", "clang"])
def compiler(request):
    return request.param


@pytest.fixture
def program(tmp_path, compiler):
    return compile_source(tmp_path, PROGRAMS / "strings.c", compiler=compiler)


def test_recorded_strings_are_in_the_front(program, compiler, check_program):
    """Those of the profile, whoever refers to them: with high bytes, of 10 kB, and shared ones."""
    recorded = [*contents_of("hot"), b"shared by readers"]
    linked = check_program(program, entries=[
        measured("hot"), measured("main"), *map(string, recorded)])
    content = with_begun_strings(linked.path)
    for text in (*recorded, *contents_of("cold")):  # each is there once, not as an end of others
        assert content.count(NUL + text + NUL) == 1, text[:40]
        assert linked.is_in_front(content.index(NUL + text + NUL) + 1) == (text in recorded)
    # And nothing else.
    start = linked.image.sections[".rodata.strings"]["sh_offset"]
    end = start + linked.report["front"]["strings"]
    # gcc aligns longer ones, which are in another section then.
    limit = 31 if compiler == "gcc" else 100000
    assert sorted(content[start:end].split(NUL)[:-1]) == sorted(
        [b"", *(t for t in recorded if len(t) < limit)])
    assert not linked.missing


def test_strings_by_reference_are_in_the_front(program, compiler, check_program):
    """Without a record, those that startup functions, and their tables, refer to; long ones, which
    gcc aligns to 8 bytes, and wide ones, with those of the same section."""
    linked = check_program(program)
    assert not any(linked.front_has(text) for text in contents_of("cold"))
    for text, encoding in ((" long, of more than", "ascii"), (" wide", "utf-32-le")):
        assert linked.front_has(f"hot{text}".encode(encoding))
        # clang puts all that are not gathered into one section.
        assert compiler == "clang" or not linked.front_has(f"cold{text}".encode(encoding))


def test_strings_of_the_kernel_are_hot_although_nobody_records_them(tmp_path):
    """What open() is given is read by the kernel; a path is hot by reference."""
    o = compile_text(tmp_path, "a.c", """
        #include <fcntl.h>
        int main(void) { return open("/dev/null", 0) < 0 || open("never seen", 0) >= 0; }
    """)
    linked = front(tmp_path, o, entries=[measured("main"), string(b"gone")])
    assert linked.front_has(b"/dev/null\0") and not linked.front_has(b"never seen\0")
    assert linked.missing == {"gone"}


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O,2"])
def test_other_ways_to_merge(program, level, check_program):
    """Not at all, or with common ends: the strings of startup's objects are in the front."""
    linked = check_program(program, f"-Wl,{level}")
    assert ".rodata.strings" not in linked.image.sections


@pytest.mark.parametrize("compiler, compile_flags, flags", [
    ("gcc", ["-fno-merge-constants"], []),
    ("gcc", ["-fno-function-sections", "-fno-data-sections"], ["-Wl,--emit-relocs"]),
    ("clang", ["-fPIC", "-fmerge-all-constants", "-O3"], ["-pie", "-Wl,--icf=all,--gc-sections"]),
    ("gcc", [], ["-static", "-Wl,--sort-section=alignment,-z,keep-text-section-prefix"])])
def test_other_ways_to_compile_and_link(tmp_path, compiler, compile_flags, flags, check_program):
    """The program's output is that of a plain link."""
    program = compile_source(tmp_path, PROGRAMS / "strings.c", *compile_flags, compiler=compiler)
    check_program(program, *flags)


@pytest.mark.parametrize("kind", ['"a",@progbits', '"aMS",@progbits,2'])
def test_sections_that_are_only_named_like_strings(tmp_path, run, kind):
    """Not merged, or of wide characters: they are linked, and left as they are."""
    odd = compile_text(tmp_path, "odd.s", f"""
        .section .rodata.str1.1,{kind}
        .globl odd
        odd: .ascii "odd1odd2"
        .byte 0,0
        .section .note.GNU-stack,"",@progbits
    """, compiler="clang")
    main = compile_text(tmp_path, "main.c", """
        #include <stdio.h>
        extern const char odd[];
        int main(void) { puts("hot string"); puts(odd); return 0; }
    """)
    assert run(front(tmp_path, odd, main).path).stdout == "hot string\nodd1odd2\n"
