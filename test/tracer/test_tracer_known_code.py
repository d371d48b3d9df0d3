"""Symbols that say they are functions: a breakpoint is only planted where something else says so,
too. A function that is missed is a small loss, an int3 in a table is a wrong result."""

import platform

import pytest
from elftools.elf.elffile import ELFFile
from traced import Binary, assembly

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


PROGRAM = (assembly("table", ".long 1, 2, 3, 4") + assembly("called", "nop\\nnop\\nret")
           + assembly("jumps", f"{JUMP} jumped_to\\n.skip 200")
           + assembly("jumped_to", "nop\\nnop\\nret")
           + assembly("covered", "nop\\nret", unwind=True) + assembly("by_address", "nop\\nret")
           + r"""
    extern const int table[4];
    void called(void), jumps(void), covered(void), by_address(void);
    void (*volatile indirectly[])(void) = {covered, by_address};
    int main(void) {
      called();
      jumps();
      indirectly[0]();
      indirectly[1]();
      return table[0] == 1 && table[1] == 2 && table[2] == 3 && table[3] == 4 ? 3 : 5;
    }""")


@pytest.mark.parametrize("kind", [["-pie"], ["-no-pie"], ["-static"], ["-fuse-ld=lld-22"]])
def test_data_that_is_typed_as_a_function(kind, compile, recorded):
    """A table keeps its values; what is called, jumped to or has unwind tables is recorded."""
    cc = "clang-22" if "lld" in kind[0] else "gcc"
    program = compile(PROGRAM, "-O1", *kind, cc=cc, name="witnesses")
    right = ["main", "called", "jumps", "jumped_to", "covered"]
    assert recorded(program, [*right, "by_address", "table"]) == right


CHAIN = """
    STEP(by_address) STEP(called)
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
    """Debug information will do; without any, there are constructors, main and what is called."""
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
    program.write_bytes(data)
    recording = record("--", program)
    assert recording.status == 3
    assert "called" in Binary(program).named(recording.trace.addresses())
