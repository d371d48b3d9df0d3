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

# As instrument/format/frontload_note.h has it. The ends are addresses.
NOTE = Template('''.section .note.frontload,"a",@note
.align 4
.long $name_size, $size, $kind
.asciz "$name"
.align 4
.long $version, $tiers
.quad $ends
''')
RIGHT = {"name_size": 10, "size": 16, "kind": 1, "name": "Frontload", "version": 1, "tiers": 1,
         "ends": "front_end"}


@pytest.fixture
def noted(link, tmp_path):
    """noted(**fields): a program whose front ends at main, if these fields of its note are right.
    """

    def noted(**fields):
        source = tmp_path / "note.s"
        source.write_text(NOTE.substitute(RIGHT | fields))
        return link(str(source), "-no-pie", "-Wl,--defsym=front_end=main", name="noted")

    return noted


def offset_of_main(program) -> int:
    read = elf.read(program.path)
    text = read.sections[read.section_names.index(b".text")]
    return program.addresses["main"] - int(text["addr"]) + int(text["offset"])


def test_the_note_says_it(noted):
    """Of several tiers the last one's end counts."""
    program = noted()
    assert front.end_of(elf.read(program.path)) == offset_of_main(program) > 0
    program = noted(size=24, tiers=2, ends="front_end - 1, front_end")
    assert front.end_of(elf.read(program.path)) == offset_of_main(program)


@pytest.mark.parametrize("fields", [
    {"version": 2}, {"kind": 2}, {"name": "Frontloax"}, {"name_size": 9}, {"tiers": 2},
    {"tiers": 0, "size": 8}, {"tiers": 9, "size": 80, "ends": ", ".join(["front_end"] * 9)},
    {"ends": "front_end + 0x10000000"}, {"size": 24, "tiers": 2, "ends": "front_end, front_end"},
    {"size": 24, "tiers": 2, "ends": "front_end, front_end - 1"},
], ids=str)
def test_a_wrong_note_is_none(noted, fields):
    """It is passed over, and this file has no sections of a front."""
    assert front.end_of(elf.read(noted(**fields).path)) is None


def test_without_a_note_sections_say_it():
    """The front ends before what holds the rest; without that, where the file's contents end."""
    marked = [Loaded(b".dynstr", 0, 10), Loaded(b".text.front", 10, 10)]
    rest = [Loaded(b".text", 60, 5), Loaded(b".rodata", 40, 5)]
    assert front.end_by_sections([*marked, *rest]) == 40
    assert front.end_by_sections(marked) == 20
    assert front.end_by_sections(rest) is None


def test_check_and_report_say_the_same(noted, cli, tools, startup):
    """Of the same file."""
    program = noted()
    end = offset_of_main(program)
    checked = cli("check", program.path, "--profile", startup("main"), "--min-coverage", "0",
                  "--json")
    assert json.loads(checked.out)["front"]["bytes"] == end
    read = elf.read(program.path)
    segments = [{"address": each.address, "offset": each.offset, "file_bytes": each.file_bytes,
                 "memory_bytes": each.file_bytes, "flags": "r--"} for each in read.segments]
    file = File(str(program.path), os.path.getsize(program.path), read.build_id.hex(), None, 4096,
                [], [Segment(**each) for each in segments], None)
    assert Places(file).front_end == end
