"""Link maps: what has no symbol gets the name of its section or string; wrong maps are refused."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from frontload.elf import file as elf
from frontload.profile import addresses
from frontload.profile import format as profile
from frontload.profile.link_map import LinkMap, MergedStrings, Span
from frontload.profile.startup_profile import Name, Touched
from hypothesis import given
from hypothesis import strategies as st
from test_resolve import function, linked
from trace_writer import DATA, TraceWriter

# A function with a jump table, which has no symbol; strings that are merged, one of them long; a
# constant that is merged; a table with a symbol.
SOURCE = r"""
#include <stdio.h>
const int table[64] = {1};
__attribute__((noinline)) double jump(int x, const char *s) {
  switch (x) {
  case 1: puts("one string"); return 0.1234567;
  case 2: puts(s + 1); return s[0] + table[3];
  case 3: return table[x + s[1]];
  case 4: puts("a string that is longer than one granule of sixteen bytes"); return 4;
  case 5: putchar(s[5]); return 0.7654321;
  case 6: return fputs("four", stdout);
  }
  return 0;
}
int main(int argc, char **argv) { return (int)jump(argc, argv[0]); }
"""


@pytest.fixture
def mapped(link, tmp_path):
    """mapped(*options): a linked program, and its map."""

    def mapped(*options, name="app", source=SOURCE, flags=()):
        path = tmp_path / f"{name}.map"
        program = link(f"-Wl,-Map={path}", *options, source=source, name=name, flags=flags)
        return program, path

    return mapped


def sections(path, name: str) -> list[tuple[int, int]]:
    """Address and size of the input sections of a name, by a plain reading of the map."""
    found = re.findall(rf"^ *(\w+) +\w+ +(\w+) +\d+ {{9}}\S.*:\({re.escape(name)}\)$",
                       path.read_text(), re.MULTILINE)
    return [(int(address, 16), int(size, 16)) for address, size in found]


def trace(program, to, *addresses):
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    writer.event(program.addresses["main"])
    for address in addresses:
        writer.event(address & ~15, kind=DATA)
    return writer.write(to)


def entries(cli, program, link_map, tmp_path, *addresses) -> dict[Name, Touched]:
    """What the profile of touches of data has besides main."""
    result = cli("profile", trace(program, tmp_path / "t", *addresses), "--map", link_map,
                 "-o", tmp_path / "p")
    assert re.fullmatch(r"frontload: note: \w+: \d names? from 1 run\n", result.err)
    return {name: touch.touched for name, touch in profile.read(tmp_path / "p").touches.items()
            if name.kind != "function"}


def test_a_jump_table_has_the_name_of_its_section(mapped, cli, tmp_path):
    """What no symbol names is an entry of its input section, with the object's base name, and a
    string has its contents, however little of it is touched."""
    program, path = mapped()
    (address, size), = sections(path, ".rodata.jump")
    (strings, _), = sections(path, ".rodata.str1.1")
    read = elf.read(program.path)
    contents = elf.read_range(read, read.section_names.index(b".rodata"), strings, 99)
    touched = (address, program.addresses["table"] + 32,
               strings + contents.index(b"granule of sixteen"))
    found = entries(cli, program, path, tmp_path, *touched)
    long = Name("string", "rodata", b"a string that is longer than one granule of sixteen bytes")
    assert found[long] == Touched(16, 1)
    assert found[Name("section", "rodata", b".rodata.jump", b"app.o")] == Touched(
        min(size, 16 - address % 16), 1)
    assert found[Name("data", "rodata", b"table")] == Touched(16, 1)
    assert Name("section", "rodata", b".rodata.table", b"app.o") not in found
    text = re.sub(rb"^( *\w+ +\w+ )( *\w+ +\d+ {9,})", rb"\1   \2", path.read_bytes(),
                  flags=re.MULTILINE)
    assert text != path.read_bytes()
    path.write_bytes(text)
    assert entries(cli, program, path, tmp_path, *touched) == found


def test_static_data_has_its_object(mapped, compile, cli, run, llvm, tmp_path):
    """The map tells of which object a static is, also where the objects have no STT_FILE."""
    for name in ("one", "two"):
        path = compile(f"static int counter = 1; int {name}(void) {{ return ++counter; }}",
                       f"{name}.o")
        run(llvm / "llvm-strip", "--strip-unneeded", "--keep-symbol=counter", path)
    program, path = mapped(tmp_path / "one.o", tmp_path / "two.o",
                           source="int one(void), two(void); int main() { return one() + two(); }")
    one, two = [address for address, size in sections(path, ".data") if size == 4][-2:]
    assert {Name("data", "data", b"counter", name) for name in (b"one.o", b"two.o")} <= \
        entries(cli, program, path, tmp_path, one, two).keys()


def test_what_the_linker_keeps_together_needs_no_name(mapped, cli, tmp_path):
    """Merged constants, tables of the linker, and arrays have no entry, and are not nameless."""
    source = SOURCE + "_Thread_local char zeros[65536]; char *zero(void) { return zeros; }"
    program, path = mapped("-Wl,-u,zero", source=source)
    for name in (".rodata.cst8", ".init_array", ".eh_frame+0x0", ".got"):
        found = entries(cli, program, path, tmp_path, sections(path, name)[-1][0])
        assert all(name.kind == "data" for name in found)  # of neighbours
    (address, size), = sections(path, ".tbss.zeros")
    (touched, _), = sections(path, ".dynamic")
    assert address <= touched < address + size
    assert entries(cli, program, path, tmp_path, touched + 32) == {}


def test_without_a_map_the_remedy_is_named(mapped, cli, tmp_path):
    """Touches of what has no symbol are counted, and the note says what gives them a name."""
    program, path = mapped()
    (address, size), = sections(path, ".rodata.jump")
    touched = trace(program, tmp_path / "t", address + size - 16)
    result = cli("profile", touched, "-o", tmp_path / "p")
    assert "1 first touch of 2 without a symbol" in result.err
    assert "--map FILE" in result.err and "-Wl,-Map=FILE" in result.err
    assert "No such file" in cli("profile", touched, "--map", tmp_path / "none", code=2).err
    result = cli("profile", program.trace(tmp_path / "u", "main"), "--map", tmp_path / "none")
    assert "none: not used, because no trace of app has data" in result.err


def test_bad_maps_are_refused(mapped, cli, tmp_path):
    """Of another link, cut, foreign or damaged: bad data, with the line where there is one."""
    program, path = mapped()
    text = path.read_bytes()
    _, other = mapped(name="other", source=SOURCE.replace("table[64]", "table[640]"))
    touched = trace(program, tmp_path / "t", 16)
    refused = cli("profile", touched, "--map", other, code=65).err
    assert f"{other}: is not the map of the link of" in refused and "no section ." in refused
    for bad, what in (
            (text[:-20], ": truncated: the last line has no newline"),
            (text[:text.index(b" .data")].rpartition(b"\n")[0] + b"\n",
             ": is not the map of the link of"),
            (b"hello\n" + text, ":1: not a link map of lld"),
            (b"", "is not the map of the link of"),
            (text.replace(b"app.o:(.text.main)", b"app.o\n:(.text.main)"), "damaged: neither"),
            (re.sub(rb"( +)\w+( +\w+ +\w+ +\d+ {9}\S*app.o:\(.text.main)", rb"\1 1\2", text),
             "lies outside its output section")):
        assert bad != text
        path.write_bytes(bad)
        refused = cli("profile", touched, "--map", path, code=65).err
        assert f"error: {path}" in refused and what in refused and "-Wl,-Map=FILE" in refused


MAP = b"""\
     VMA      LMA     Size Align Out     In      Symbol
    1000     1000       20    16 .text
    1000     1000       18    16         a.o:(.text.f)
    1000     1000       18     1                 f()
    1018     1018        8     8         a.o:(.text.g)
    1018     1018        8     1                 g()
    2000     2000       40     1 .rodata
    2000     2000       10     1         <internal>:(.rodata.str1.1)
    2010     2010        8     1         lib/x.a(y.o):(.rodata.f)
    2018     2018        0     1         . = ALIGN(8)
       0        0       10     1 .comment
       0        0       10     1         <internal>:(.comment)
"""


def file_of(*symbols: tuple) -> elf.Elf:
    """A linked file with the output sections of MAP."""
    table = np.zeros(5, [("type", "u4"), ("flags", "u8"), ("addr", "u8"), ("size", "u8")])
    table["addr"], table["size"] = [0, 0x1000, 0x2000, 0, 0], [0, 0x20, 0x40, 0, 0]
    return elf.Elf(**{**vars(linked(*symbols)), "sections": table})


def test_the_map_of_another_order_is_refused(tmp_path):
    """Links that differ in the order of sections alone are told apart by their symbols."""
    path = tmp_path / "app.map"
    path.write_bytes(MAP)
    found = LinkMap(path, file_of(function("f", 0x1000, 24), function("g", 0x1018, 8)))
    # The object of an archive's member is the base name of the archive, and the member.
    assert Name("section", "rodata", b".rodata.f", b"x.a(y.o)") in found.names(
        np.arange(len(found.ranges.start)))
    with pytest.raises(elf.BadData, match="1 of 2 symbols lie in no input section"):
        LinkMap(path, file_of(function("g", 0x1000, 8), function("f", 0x1008, 24)))


@given(st.integers(0, len(MAP)), st.integers(0, 40), st.binary(max_size=20))
def test_any_damage_is_told_or_harmless(tmp_path_factory, position, size, replacement):
    """Random changes of a map raise BadData or give a map; nothing else."""
    path = tmp_path_factory.getbasetemp() / "damaged.map"
    path.write_bytes(MAP[:position] + replacement + MAP[position + size:])
    try:
        link_map = LinkMap(path, file_of(function("f", 0x1000, 24)))
        names = link_map.names(np.arange(len(link_map.ranges.start)))
        assert names and all(name.kind == "section" for name in names if name)
    except elf.BadData as problem:
        assert problem.code == 65


def test_strings_of_a_file(tmp_path):
    """Zeros between strings are padding; a string that the end cuts counts as far as it goes."""
    path, contents = tmp_path / "app", b"one\0\0\0two\0cut"
    path.write_bytes(contents)
    table = np.array([(1, 0x1000, 0, len(contents))],
                     [("type", "u4"), ("addr", "u8"), ("offset", "u8"), ("size", "u8")])
    # No more of an ELF file than is needed.
    file = SimpleNamespace(path=str(path), section_classes=["rodata"], sections=table)
    strings = MergedStrings(file, [Span(0, 0x1000, 0x100d)])
    names = strings.names(np.arange(len(strings.ranges.start)))
    assert [name and name.name for name in names] == [b"one", None, None, b"two", b"cut"]
    assert strings.ranges.end.tolist() == [0x1004, 0x1005, 0x1006, 0x100a, 0x100d]
    with pytest.raises(elf.BadData, match="smaller than its strings"):
        MergedStrings(file, [Span(0, 0x1000, 0x1008)] * 2)
    with pytest.raises(elf.BadData, match="runs past the end"):
        MergedStrings(file, [Span(0, 0x100a, 0x100e)])


def test_a_map_that_cannot_be_used_ends_the_work_in_a_sentence(mapped, cli, tmp_path, monkeypatch):
    """It is refused again with the trace that it is for, not only when the binary is opened."""
    program, path = mapped()
    trace(program, tmp_path / "t", program.addresses["table"])

    def refuse(linked, spans):
        raise elf.BadData(linked.path, "smaller than its strings")

    monkeypatch.setattr(addresses, "MergedStrings", refuse)
    assert "smaller than its strings" in cli("profile", tmp_path / "t", "--map", path, code=65).err


def test_a_copy_of_a_librarys_data_has_no_name(mapped, cli, tmp_path):
    """The linker makes it (R_X86_64_COPY), so that no later link finds it in an object."""
    source = "#include <stdio.h>\nint own;\nint main(void) { own += fputs(\"y\", stdout); }\n"
    program, link_map = mapped("-no-pie", flags=["-fno-pie"], source=source)
    found = entries(cli, program, link_map, tmp_path,
                    *(program.addresses[name] for name in ("stdout", "own")))
    assert {b"own", b"stdout"} & {entry.name for entry in found} == {b"own"}
