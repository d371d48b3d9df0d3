"""Files in which each part refers to each other, or that say of all their parts that they are in
one place. They are read in a time that their size bounds."""

import platform
import resource
import struct
from functools import partial

import pytest
from grown import ALLOC, INIT_ARRAY, PROGBITS, RELA, STRTAB, SYMTAB, grown, place_of, same_place
from traced import CODE, Binary, assembly

REL_RELATIVE = {"x86_64": 8, "aarch64": 1027}[platform.machine()]
MANY = 200_000


def many_arrays(program):
    """Each relocation may be in any of the arrays."""
    relocation = struct.pack("<QQQ", 8, REL_RELATIVE, 0)
    grown(program, relocation * 500_000, lambda at: [
        *((INIT_ARRAY, ALLOC, 1 << 40, at, 8) for _ in range(MANY)),
        (RELA, ALLOC, 0, at, 24 * 500_000)])


def long_records(program):
    """Each record has a CIE of its own, which does not end."""
    long, count = 8 << 20, 400_000
    first = struct.pack("<I", long) + b"\x80" * long
    records = b"".join(struct.pack("<II", 4, len(first) + 8 * number + 4 - number)
                       for number in range(count))
    grown(program, first + records, lambda at: [(PROGBITS, 0, 0, at, len(first + records))])


def functions(program, count, size):
    """Symbols of functions, one behind the other."""
    (hole,) = (address for address, names in Binary(program).names.items() if "hole" in names)
    return b"".join(struct.pack("<IBBHQQ", 0, 2, 0, 1, hole + size * number, 0)
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
        "relocations in one place": same_place(RELA, ALLOC, bytes(24), 400_000, MANY),
        "records in one place": same_place(PROGBITS, 0, b"\4" + bytes(7), 500_000, MANY),
        "code in one place": same_place(PROGBITS, CODE, b"\x90", 8 << 20, MANY)}
if platform.machine() == "x86_64":
    MUCH["chain of jumps"] = chain_of_jumps


limited = partial(resource.setrlimit, resource.RLIMIT_CPU, (60, 60))


@pytest.fixture
def program(compile):
    return compile(assembly("by_address", "ret") + assembly("hole", ".fill 450000, 2, 0xfceb")
                   + assembly("last", ".byte 0xeb, 0xfc, 0, 0")
                   + "void last(void); int main(int count, char **arguments) {"
                     "(void)arguments; if (count > 9) last(); return 3; }", "-O1", name="much")


@pytest.mark.parametrize("much", MUCH)
def test_much_of_everything(much, program, record):
    """Hostile files, in which each part refers to each other, are read in bounded time."""
    binary = Binary(program)
    MUCH[much](program)
    recording = record("--", program, preexec_fn=limited)
    assert recording.status == 3
    assert "main" in binary.named(recording.trace.addresses())


def one_long_name(program):
    """Each symbol has it, from another place on."""
    names, long, count = place_of(program, ".strtab")[1], 8 << 20, 400_000
    hole = functions(program, 1, 1)
    region = names + b"a" * long + b"\0"
    symbols = b"".join(struct.pack("<I", len(names) + number) + hole[4:] for number in range(count))
    grown(program, region, lambda at: [(STRTAB, 0, 0, at, len(region))], symbols, names=0)


SYMBOLS = {"tables": same_place(SYMTAB, 0, bytes(24), 1_000_000, MANY), "names": one_long_name}


@pytest.mark.parametrize("much", SYMBOLS)
def test_symbols_in_one_place(much, program, record):
    """A program whose symbol tables, or names, are all in one place is not recorded, and runs."""
    SYMBOLS[much](program)
    recording = record("--", program, preexec_fn=limited)
    assert (recording.status, recording.files) == (3, [])
    (line,) = recording.stderr.splitlines()
    assert line.startswith(f"frontload-trace: note: {program}: ")
    assert "in the same place" in line and "not recorded" in line


def test_notes_in_one_place(compile, opener, record):
    """A library of which 60,000 program headers say that the same half million notes are theirs."""
    library = compile("part.c", "-shared", "-fPIC", "-Wl,--build-id=none", name="libpart.so")
    data, notes = bytearray(library.read_bytes()), bytes(12) * 500_000
    (headers_at,), (count,) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
    headers = data[headers_at:headers_at + 56 * count]
    data += bytes(-len(data) % 64)
    note = struct.pack("<IIQQQQQQ", 4, 4, len(data), 0, 0, len(notes), 0, 4)
    data += notes + bytes(-len(notes) % 64)
    struct.pack_into("<Q", data, 32, len(data))
    struct.pack_into("<H", data, 56, 60_000 + count)
    library.write_bytes(data + note * 60_000 + headers)
    recording = record("--module=libpart.so", "--", opener, f"open={library}", "call=part_one",
                       preexec_fn=limited)
    assert recording.status == 0
    assert "part_one" in Binary(library).named(recording.trace.addresses(library))
