"""Symbols that say they are functions: a breakpoint is only planted where something else says so,
too. A function that is missed is a small loss, an int3 in a table is a wrong result."""

import platform
import resource
import struct
from functools import partial

import pytest
from elftools.elf.elffile import ELFFile
from traced import Binary

# A branch that does not return, in the words of the machine's assembler.
JUMP = "b" if platform.machine() == "aarch64" else "jmp"


@pytest.fixture
def recorded(record):
    """recorded(program, names): which of these functions are in the trace."""

    def recorded(program, names):
        recording = record("--", program)
        assert recording.status == 3
        return [name for name in Binary(program).named(recording.trace.addresses())
                if name in names]

    return recorded


def assembly(name, body, unwind=False):
    begin, end = (".cfi_startproc\\n", ".cfi_endproc\\n") if unwind else ("", "")
    return (f'__asm__(".text\\n.globl {name}\\n.type {name},@function\\n{name}: {begin}{body}\\n'
            f'{end}.size {name},.-{name}\\n");\n')


PROGRAM = (assembly("table", ".long 1, 2, 3, 4") + assembly("called", "nop\\nnop\\nret")
           + assembly("jumps", f"{JUMP} jumped_to\\n.skip 200")
           + assembly("jumped_to", "nop\\nnop\\nret")
           + assembly("near", "nop\\nret") + assembly("jumps_near", f"nop\\n{JUMP} near")
           + assembly("covered", "nop\\nret", unwind=True) + assembly("by_address", "nop\\nret")
           + r"""
    extern const int table[4];
    void called(void), jumps(void), jumps_near(void), covered(void), by_address(void);
    void (*volatile indirectly[])(void) = {covered, by_address};
    int main(void) {
      called();
      jumps();
      jumps_near();
      indirectly[0]();
      indirectly[1]();
      return table[0] == 1 && table[1] == 2 && table[2] == 3 && table[3] == 4 ? 3 : 5;
    }""")


@pytest.mark.parametrize("kind", [["-pie"], ["-no-pie"], ["-static"], ["-fuse-ld=lld-22"]])
def test_data_that_is_typed_as_a_function(kind, compile, recorded):
    """A table keeps its values. What is called, jumped to, or covered by unwind information is
    recorded; what is none of these runs, and is not recorded."""
    cc = "clang-22" if "lld" in kind[0] else "gcc"
    program = compile(PROGRAM, "-O1", *kind, cc=cc, name="witnesses")
    right = ["main", "called", "jumps", "jumped_to", "jumps_near", "near", "covered"]
    assert recorded(program, [*right, "by_address", "table"]) == right


CHAIN = """
    __attribute__((noinline)) static void by_address(void) { __asm__ volatile(""); }
    __attribute__((noinline)) static void called(void) { __asm__ volatile(""); }
    __attribute__((constructor)) static void constructor(void) { __asm__ volatile(""); }
    void (*volatile pointer)(void) = by_address;
    int main(void) { called(); pointer(); return 3; }"""


@pytest.mark.parametrize(("flags", "has_all"), [
    (["-fasynchronous-unwind-tables"], True),
    (["-fno-asynchronous-unwind-tables", "-g"], True),  # .debug_frame
    (["-fno-asynchronous-unwind-tables", "-g", "-gz"], True),
    (["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g0"], False),
])
@pytest.mark.parametrize("kind", [["-pie"], ["-no-pie"]])
def test_sources_of_unwind_information(flags, has_all, kind, compile, recorded):
    """Debug information will do, compressed or not. A program that was built without either has
    its constructors, main and what is called by name."""
    names = recorded(compile(CHAIN, "-O1", *kind, *flags, name="chain"),
                     ("main", "called", "constructor", "by_address"))
    assert names == ["constructor", "main", "called", *(["by_address"] if has_all else [])]


def test_nothing_is_known_of_most(compile, record):
    """Where most functions are left out for that, it is said, with a remedy."""
    program = compile("".join(assembly(f"f{i}", "ret") for i in range(40))
                      + "int main(void) { return 3; }", name="mostly")
    recording = record("--", program)
    assert recording.status == 3
    assert recording.stderr == (
        f"frontload-trace: note: {program}: 40 of its functions are not recorded, since only their "
        "symbols say that they are code: build it with unwind information "
        "(-fasynchronous-unwind-tables)\n")


@pytest.mark.parametrize("damage", [b"\xff" * 64, b"\x00" * 64, b"\x10\x00\x00\x00" * 16,
                                    b"\x0c\x00\x00\x00\x00\x00\x00\x00\x01zRPLLL\x1b"])
def test_damaged_unwind_information(damage, compile, record):
    """Unwind information that is nonsense is no witness, and no harm."""
    program = compile(CHAIN, "-O1", name="chain")
    data = bytearray(program.read_bytes())
    with open(program, "rb") as stream:
        section = ELFFile(stream).get_section_by_name(".eh_frame")
    at, size = section["sh_offset"], section["sh_size"]
    data[at:at + min(size, len(damage))] = damage[:size]
    program.unlink()
    program.write_bytes(data)
    program.chmod(0o755)
    recording = record("--", program)
    assert recording.status == 3
    assert "called" in Binary(program).named(recording.trace.addresses())


REL_RELATIVE = {"x86_64": 8, "aarch64": 1027}[platform.machine()]
PROGBITS, SYMTAB, RELA, INIT_ARRAY = 1, 2, 4, 14
ALLOC, CODE = 2, 6
MANY = 200_000


def grown(program, region, sections, symbols=b""):
    """Adds `region` to a program, and section headers for which `sections(at)` is called with its
    place: tuples of type, flags, address, offset and size. They are called .eh_frame. `symbols`
    follow those that it has."""
    data = bytearray(program.read_bytes())
    with open(program, "rb") as stream:
        elf = ELFFile(stream)
        count, headers_at = elf.num_sections(), elf["e_shoff"]
        name = elf.get_section_by_name(".eh_frame")["sh_name"]
        table = elf.get_section_by_name(".symtab")
        number, old = elf.get_section_index(".symtab"), table.data()
    headers = bytearray(data[headers_at:headers_at + 64 * count])
    data += bytes(-len(data) % 64)
    at = len(data)
    data += region + bytes(-len(region) % 64)
    struct.pack_into("<QQ", headers, 64 * number + 24, len(data), len(old + symbols))
    data += old + symbols
    data += bytes(-len(data) % 64)
    for kind, flags, address, offset, size in sections(at):
        headers += struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, 0, 0, 8,
                               24 if kind == RELA else 8)
    struct.pack_into("<Q", headers, 32, len(headers) // 64)
    struct.pack_into("<Q", data, 40, len(data))
    struct.pack_into("<H", data, 60, 0)  # their number is in the first
    program.unlink()
    program.write_bytes(data + headers)
    program.chmod(0o755)


def many_arrays(program):
    """Each relocation may be in any of the arrays."""
    relocation = struct.pack("<QQQ", 8, REL_RELATIVE, 0)
    grown(program, relocation * 500_000, lambda at: [
        *((INIT_ARRAY, ALLOC, 1 << 40, at, 8) for _ in range(MANY)),
        (RELA, ALLOC, 0, at, 24 * 500_000)])


def same_place(kind, flags, piece, times):
    """All sections are the same bytes."""
    def grow(program):
        size = len(piece) * times
        grown(program, piece * times, lambda at: [
            (kind, flags, (1 << 40) + number * size, at, size) for number in range(MANY)])
    return grow


def long_records(program):
    """Each record has a CIE of its own, which does not end."""
    long, count = 8 << 20, 400_000
    first = struct.pack("<I", long) + b"\x80" * long
    records = b"".join(struct.pack("<II", 4, len(first) + 8 * number + 4 - number)
                       for number in range(count))
    grown(program, first + records, lambda at: [(PROGBITS, 0, 0, at, len(first + records))])


def functions(program, count, size):
    """Symbols of functions, one behind the other."""
    with open(program, "rb") as stream:
        (hole,) = ELFFile(stream).get_section_by_name(".symtab").get_symbol_by_name("hole")
    return b"".join(struct.pack("<IBBHQQ", 0, 2, 0, 1, hole["st_value"] + size * number, 0)
                    for number in range(count))


def wide_records(program):
    """Each record covers each function."""
    cie = struct.pack("<IIB", 12, 0, 1) + b"\0\1\1\1\0\0\0"
    records = b"".join(struct.pack("<IIQQ", 20, len(cie) + 24 * number + 4, 0, 1 << 62)
                       for number in range(300_000))
    grown(program, cie + records, lambda at: [(PROGBITS, 0, 0, at, len(cie + records))],
          functions(program, 900_000, 1))


def chain_of_jumps(program):
    """Each function jumps to the one before it, and nothing else leads there."""
    grown(program, b"", lambda at: [], functions(program, 450_000, 2))


MUCH = {"arrays": many_arrays, "long records": long_records, "wide records": wide_records,
        "relocations in one place": same_place(RELA, ALLOC, bytes(24), 400_000),
        "records in one place": same_place(PROGBITS, 0, b"\4" + bytes(7), 500_000),
        "code in one place": same_place(PROGBITS, CODE, b"\x90", 8 << 20)}
if platform.machine() == "x86_64":
    MUCH["chain of jumps"] = chain_of_jumps


@pytest.mark.parametrize("much", MUCH)
def test_much_of_everything(much, compile, record):
    """A file in which each part refers to each other is read in a time that its size bounds: these
    would take from minutes to days."""
    program = compile(assembly("by_address", "ret") + assembly("hole", ".fill 450000, 2, 0xfceb")
                      + assembly("last", ".byte 0xeb, 0xfc, 0, 0")
                      + "void last(void); int main(int count, char **arguments) {"
                        "(void)arguments; if (count > 9) last(); return 3; }", "-O1", name="much")
    binary = Binary(program)
    MUCH[much](program)
    limited = partial(resource.setrlimit, resource.RLIMIT_CPU, (60, 60))
    recording = record("--", program, preexec_fn=limited)
    assert recording.status == 3
    assert "main" in binary.named(recording.trace.addresses())
