"""The ELF reader agrees with llvm-readelf; damaged ELF files and static libraries are refused."""

import os
import struct

import numpy as np
import pytest
from compiled import compile_to
from frontload.base.errors import BadData, Failure
from frontload.elf import archive, constants
from frontload.elf import file as elf
from frontload.elf.symbols import ABSOLUTE
from frontload.profile import coverage, trace
from frontload.profile import format as profile
from frontload.profile import resolver as names
from frontload.profile.addresses import Resolver
from frontload.profile.link_map import LinkMap
from frontload.profile.startup_profile import Name, from_run
from hypothesis import given
from hypothesis import strategies as st
from linking import COMPILERS
from small_programs import SOURCE


@pytest.fixture(scope="session")
def small_program(tmp_path_factory, llvm):
    """The path of a small linked program; its map is beside it."""
    folder = tmp_path_factory.mktemp("small")
    source = ("static int f(void) { return 1; } const char *text = \"a string\";"
              "int _start(void) { return f() + text[1]; }")
    return compile_to(folder / "a", llvm / "clang", "-nostdlib", f"--ld-path={llvm / 'ld.lld'}",
                      "a.c", f"-Wl,-Map={folder / 'a.map'}", sources={"a.c": source})


def test_symbols_are_those_of_llvm_nm(link, run, llvm):
    """Every defined symbol has the name, address and size that llvm-nm shows; a static one has its
    source file."""
    program = link(source=SOURCE + '__attribute__((visibility("hidden"))) void hidden(void) {}\n')
    expected = set()
    for line in run(llvm / "llvm-nm", "-S", "--defined-only", program.path).stdout.splitlines():
        address, *size, _, name = line.split()
        expected.add((name, int(address, 16), int(size[0], 16) if size else 0))
    symbols = elf.read(program.path).symbols
    found = {(symbols.names[row].decode(), int(symbols.value[row]), int(symbols.size[row]))
             for row in range(len(symbols.value))
             if (symbols.section[row] > 0 or symbols.section[row] == ABSOLUTE)
             and symbols.type[row] not in (constants.STT_SECTION, constants.STT_FILE)}
    assert found == expected
    # A hidden function is local in the program, but no static: in the objects it is global.
    files = {symbols.names[row]: symbols.source_file(row) for row in range(len(symbols.value))}
    assert (files[b"helper"], files[b"hidden"], files[b"main"]) == (b"app.c", b"", b"")


def test_sections_have_names_and_classes(link, run, llvm):
    """The class of a section follows from its flags and the RELRO segment."""
    program = link()
    read = elf.read(program.path)
    classes = dict(zip(read.section_names, read.section_classes, strict=True))
    assert (classes[b".text"], classes[b".rodata"], classes[b".data"], classes[b".bss"],
            classes[b".init_array"], classes[b".symtab"]) == (
        "text", "rodata", "data", "bss", "relro", "")
    assert len(program.build_id) == 20 and read.build_id == program.build_id
    assert elf.read(link("-Wl,--build-id=none", name="bare").path).build_id == b""
    run(llvm / "llvm-strip", program.path)
    read = elf.read(program.path)
    assert read.symbols is None and read.build_id == program.build_id


@pytest.mark.parametrize("flags", [["-m32"], ["--target=powerpc64-linux-gnu"]])
def test_other_word_sizes_and_byte_orders(compile, flags):
    """Objects for 32 bits and for big-endian machines are read like others."""
    path = compile("int first(void) { return 1; } int second = 2;", "a.o", *flags)
    symbols = elf.read(path).symbols
    sizes = dict(zip(symbols.names.all(), symbols.size.tolist(), strict=True))
    assert sizes[b"second"] == 4 and sizes[b"first"] > 0


@pytest.mark.parametrize("assembler", ["clang", "gcc"])
def test_more_sections_than_a_symbol_can_number(tmp_path, assembler):
    """Their numbers are in extra tables, the last of which has the names for the GNU assembler."""
    source = "".join(f".section .text.f{i},\"ax\"\nf{i}: ret\n" for i in range(66000))
    read = elf.read(compile_to(tmp_path / "a.o", COMPILERS[assembler][0], "-c", "a.s",
                               sources={"a.s": source}))
    assert len(read.sections) > 66000
    rows = dict(zip(read.symbols.names.all(), range(len(read.symbols.value)), strict=True))
    for name in (f"f{i}".encode() for i in range(65000, 66000)):
        assert read.section_names[read.symbols.section[rows[name]]] == b".text." + name


def test_overlapping_names_are_refused_before_they_take_memory(small_program):
    """A file of 2 MB whose names would be 40 GB together is refused."""
    sections = elf.read(small_program).sections
    damaged = bytearray(small_program.read_bytes())
    table = int.from_bytes(damaged[0x28:0x30], "little")
    symtab = int(np.flatnonzero(sections["type"] == constants.SHT_SYMTAB)[0])
    symbols = b"".join(struct.pack("<IBBHQQ", name, 0, 0, 0, 0, 0) for name in range(40000))
    for section, contents in ((symtab, symbols), (sections["link"][symtab], b"x" * (1 << 20))):
        place = table + 64 * int(section) + 24
        struct.pack_into("<QQ", damaged, place, len(damaged), len(contents))
        damaged += contents
    read = elf.parse("a", bytes(damaged))
    with pytest.raises(BadData, match="bytes of names"):
        read.symbols.names.all()


@given(st.data())
def test_a_damaged_program_never_crashes_anything(small_program, build, data):
    """A program with bytes changed or cut off is read, resolved and checked, or refused."""
    damaged = bytearray(small_program.read_bytes())
    table = int.from_bytes(damaged[0x28:0x30], "little")
    place = st.integers(0, 63) | st.integers(64, 600) | st.integers(table, len(damaged) - 1)
    for position in data.draw(st.lists(place, max_size=6)):
        damaged[position] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.just(len(damaged)) | st.integers(0, len(damaged))):]
    startup = from_run(b"app", [Name("function", "text", b"f"), Name("data", "relro", b"_DYNAMIC")])
    path, startup_path = small_program.with_name("damaged"), small_program.with_name("p.startup")
    path.write_bytes(damaged)
    startup_path.write_bytes(profile.to_bytes(startup))
    try:
        read = elf.read(path)
        read.linked_symbols()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FRONTLOAD_BINDIR", str(build / "bin"))
            places = names.resolve(os.fspath(startup_path), [os.fspath(path)]).places
        assert 0 <= coverage.examine(read, startup, places).coverage <= 100
        addresses = read.symbols.value & np.uint64(trace._ADDRESS_MASK)
        addresses = np.append(addresses, np.arange(0x200000, 0x202000, 16, np.uint64))
        resolver = Resolver(read)
        for kind in (trace.FUNCTION, trace.CODE, trace.DATA):
            resolver.resolve(np.full(len(addresses), kind, np.uint8), addresses)
        resolver.use_map(LinkMap(small_program.with_suffix(".map"), read))
        resolver.resolve(np.full(len(addresses), trace.DATA, np.uint8), addresses)
    except Failure as problem:
        assert problem.code == 65
        assert problem.message.startswith((f"{path}: ", f"{small_program}.map: "))


def member(name: bytes, contents: bytes) -> bytes:
    """One of a static library."""
    return (name.ljust(48) + b"%-10d`\n" % len(contents) + contents
            + b"\n" * (len(contents) % 2))


LONG = b"a-name-of-more-than-15-bytes.o/\n"
GOOD = (archive.MAGIC + member(b"/", b"\0\0\0\0") + member(b"//", LONG) + member(b"a.o/", b"odd")
        + member(b"/0", b"even"))
FIELDS = st.text("0123456789/`\n ", max_size=12).map(str.encode)


def test_members_of_an_archive(tmp_path):
    """They have their names and contents; a name that is in no table is told."""
    path = tmp_path / "lib.a"
    path.write_bytes(GOOD)
    assert list(archive.members(path)) == [
        (f"{path}(a.o)", b"odd"), (f"{path}({LONG[:-2].decode()})", b"even")]
    for name in (b"/9999", b"/x"):
        path.write_bytes(archive.MAGIC + member(b"//", LONG) + member(name, b"x"))
        with pytest.raises(Failure, match="is not in the archive's table of names"):
            list(archive.members(path))


@given(st.integers(0, len(GOOD)), st.integers(0, 60), st.binary(max_size=8) | FIELDS)
def test_no_more_of_a_damaged_archive_is_read_than_there_is(tmp_path_factory, position, size,
                                                            replacement):
    path = tmp_path_factory.getbasetemp() / "damaged.a"
    path.write_bytes(GOOD[:position] + replacement + GOOD[position + size:])
    try:
        found = list(archive.members(path))
    except Failure as problem:
        assert problem.message
    else:
        assert sum(len(contents) for _, contents in found) <= path.stat().st_size
