"""Makes a program or library huge: what no linker writes, and a reader has to be ready for. The
kernel and the loader do not look at sections, so that it runs all the same."""

import struct

from elftools.elf.elffile import ELFFile

PROGBITS, SYMTAB, STRTAB, RELA, INIT_ARRAY = 1, 2, 3, 4, 14
ALLOC = 2
_ENTRY = {SYMTAB: 24, RELA: 24}


def place_of(path, name):
    """The number of a section, and its contents."""
    with open(path, "rb") as stream:
        elf = ELFFile(stream)
        return elf.get_section_index(name), elf.get_section_by_name(name).data()


def grown(program, region, sections, symbols=b"", names=None):
    """Adds to a program: `region`; section headers, which `sections(place of it)` returns as type,
    flags, address, offset, size and, for symbols, the section with their names; `symbols` behind
    its own. `names` says which of the new sections has the names of its symbols, if any has."""
    data = bytearray(program.read_bytes())
    with open(program, "rb") as stream:
        elf = ELFFile(stream)
        count, headers_at = elf.num_sections(), elf["e_shoff"]
        name = elf.get_section_by_name(".eh_frame")["sh_name"]
    number, old = place_of(program, ".symtab")
    headers = bytearray(data[headers_at:headers_at + 64 * count])
    data += bytes(-len(data) % 64)
    at = len(data)
    data += region + bytes(-len(region) % 64)
    struct.pack_into("<QQ", headers, 64 * number + 24, len(data), len(old + symbols))
    if names is not None:
        struct.pack_into("<I", headers, 64 * number + 40, count + names)
    data += old + symbols
    data += bytes(-len(data) % 64)
    for kind, flags, address, offset, size, *link in sections(at):
        headers += struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size,
                               *(link or [0]), 0, 8, _ENTRY.get(kind, 8))
    total = len(headers) // 64
    struct.pack_into("<Q", data, 40, len(data))
    if total < 0xff00:
        struct.pack_into("<H", data, 60, total)
    else:  # their number is in the first
        struct.pack_into("<Q", headers, 32, total)
        struct.pack_into("<H", data, 60, 0)
    program.write_bytes(data + headers)


def same_place(kind, flags, piece, times, many):
    """grow(program): makes many sections, all of which are the same bytes."""
    def grow(program):
        size = len(piece) * times
        link = place_of(program, ".strtab")[0] if kind == SYMTAB else 0
        grown(program, piece * times, lambda at: [
            (kind, flags, (1 << 40) + number * size, at, size, link) for number in range(many)])
    return grow
