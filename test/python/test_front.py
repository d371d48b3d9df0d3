"""Where a front ends is decided in one place, by the note in the file or else by its sections."""

import json
import os
from string import Template

import pytest
from frontload.elf import file as elf
from frontload.elf import front
from frontload.elf.front import Loaded
from frontload.report.places import Places
from frontload.report.recorded import File, Segment

# As instrument/format/frontload_note.h has it. The numbers are addresses.
NOTE = Template('''.section .note.frontload,"a",@note
.align 4
.long $name_size, $size, $kind
.asciz "$name"
.align 4
.long $version, $count
.quad $addresses
.zero $room
''')
START, PAGE = "__executable_start", 4096
RIGHT = {"name_size": 10, "size": 264, "kind": 1, "name": "Frontload", "version": 3, "count": 1,
         "addresses": f"{START}, main", "room": 240}


def ranges(*addresses, **fields) -> dict:
    """The fields of a note of ranges with these beginnings and ends."""
    return {"count": len(addresses) // 2, "addresses": ", ".join(addresses),
            "room": 256 - 8 * len(addresses)} | fields


@pytest.fixture
def noted(link, tmp_path):
    """noted(*flags, **fields): a linear program, whose front ends at main if its note is right."""

    def noted(*flags, **fields):
        source = tmp_path / "note.s"
        source.write_text(NOTE.substitute(RIGHT | fields))
        return link(str(source), "-no-pie", "-Wl,-z,separate-loadable-segments", *flags,
                    name="noted")

    return noted


def offset_of_main(program) -> int:
    read = elf.read(program.path)
    text = read.sections[read.section_names.index(b".text")]
    return program.addresses["main"] - int(text["addr"]) + int(text["offset"])


def test_a_note_of_ranges(noted):
    """They come in the order of the note; those that follow each other are one."""
    program = noted(**ranges("main", "main + 8", START, f"{START} + 16",
                             f"{START} + {PAGE}", f"{START} + {PAGE + 1}"))
    end = offset_of_main(program) + 8
    read = elf.read(program.path)
    assert front.ranges_of(read) == [(end - 8, end), (0, PAGE + 1)]
    assert front.parts_of(read)[-1][1] == end and front.has_front(read)


def test_a_tail_is_not_the_front(noted):
    """The last ranges may be the tail, but not all; it is never one with a range of the front."""
    pages = [f"{START} + {PAGE * i}" for i in (0, 1, 1, 2)]
    for tail, expected in ((0, ([(0, 2 * PAGE)], [])), (1, ([(0, PAGE)], [(PAGE, 2 * PAGE)])),
                           (2, ([], []))):
        read = elf.read(noted(**ranges(*pages, count=2 | tail << 16)).path)
        assert (front.ranges_of(read), front.tail_of(read)) == expected


@pytest.mark.parametrize("fields", [
    {"version": 4}, {"kind": 2}, {"name": "Frontloax"}, {"name_size": 9}, {"count": 2},
    {"count": 0}, {"count": 17}, {"size": 16}, {"size": 280}, {"version": 2},
    {"addresses": "main, main"}, {"addresses": f"main, {START}"},
    {"addresses": f"{START}, main + 0x10000000"}, {"addresses": "1, main"},
    {"flags": ["-Wl,-z,noseparate-code"]},  # a range of another size in the file
], ids=str)
def test_a_wrong_note_is_none(noted, fields):
    read = elf.read(noted(*fields.pop("flags", ()), **fields).path)
    assert front.parts_of(read) == [] and not front.has_front(read)


def test_without_a_note_sections_say_it():
    """The front ends before what holds the rest; without that, where the file's contents end."""
    marked = [Loaded(b".dynstr", 0, 10), Loaded(b".data.front", 10, 10)]
    rest = [Loaded(b".text", 60, 5), Loaded(b".rodata", 40, 5)]
    assert front.end_by_sections([*marked, *rest]) == 40
    assert front.end_by_sections(marked) == 20
    assert front.end_by_sections(rest) is None


def test_check_and_report_say_the_same(noted, cli, tools, startup):
    """What lies between two ranges is in neither; a function counts if all of it is in one."""
    program = noted(**ranges("main", "main + 8", START, f"{START} + 64"))
    main = offset_of_main(program)
    checked = cli("check", program.path, "--profile", startup("main"), "--min-coverage", "0",
                  "--json=-")
    found = json.loads(checked.out)["front"]
    assert json.loads(checked.out)["placed"] == 0 and found["bytes"] == 72
    assert found["ranges"] == [{"offset": main, "bytes": 8}, {"offset": 0, "bytes": 64}]
    read = elf.read(program.path)
    segments = [{"address": each.address, "offset": each.offset, "file_bytes": each.file_bytes,
                 "memory_bytes": each.file_bytes, "flags": "r--"} for each in read.segments]
    file = File(path=str(program.path), size=os.path.getsize(program.path), page_size=4096,
                build_id=read.build_id.hex(), sections=[],
                segments=[Segment(**each) for each in segments])
    assert Places(file).front.to_text(PAGE) == f"0+{main // PAGE + 1}" == "0+2"  # whole pages
