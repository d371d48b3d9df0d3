"""What names are in a link (frontload-resolve, frontload.names)."""

import os

import pytest
from frontload.base.errors import Failure
from frontload.elf import file as elf
from frontload.profile import resolver as names
from linking import Entry, profile_text, write_profile

ASSEMBLY = """
.macro function name, section=.text
  .section \\section\\().\\name,"ax"
  .type \\name,@function
\\name: ret
  .size \\name,.-\\name
.endm
"""


pytestmark = pytest.mark.usefixtures("tools")


@pytest.fixture
def profile(tmp_path):
    """profile(*entries): one of functions, or of Entry."""
    return lambda *entries: write_profile(tmp_path, *entries)


@pytest.fixture
def assemble(tmp_path, run, llvm):
    def assemble(name, text):
        source = tmp_path / f"{name}.s"
        source.write_text(ASSEMBLY + text)
        run(llvm / "clang", "-c", source, "-o", tmp_path / f"{name}.o")
        return tmp_path / f"{name}.o"

    return assemble


def found(profile, *files):
    return [(p.entry, p.how, p.object.decode(), p.symbol.decode())
            for p in names.resolve(os.fspath(profile), map(os.fspath, files)).places]


def test_names_in_objects_and_archives(tmp_path, profile, assemble, run):
    """Objects are called as in profiles; archives may be thin."""
    a = assemble("a", "function one\nfunction two.llvm.7\n")
    b = assemble("b", ".globl three\nfunction three\n")
    for flags, name in (("rcs", "fat.a"), ("rcsT", "thin.a")):
        run("ar", flags, tmp_path / name, a, b)
        entries = profile("one", "two.llvm.99", "three", "gone")
        assert found(entries, tmp_path / name) == [
            (0, "exact", f"{name}(a.o)", "one"), (1, "suffix", f"{name}(a.o)", "two.llvm.7"),
            (2, "exact", f"{name}(b.o)", "three")]
    place, *_ = names.resolve(os.fspath(profile("one")), [os.fspath(a)]).places
    assert (place.object, place.section, place.value) == (b"a.o", b".text.one", 0)
    # What cannot be moved is found, but has no place.
    a = assemble("a", ".globl fixed\n.section .init\nfixed: nop\nfunction free\n")
    resolved = names.resolve(os.fspath(profile("fixed", "free", "gone")), [os.fspath(a)])
    assert resolved.unmovable == {0} and resolved.defined(3) == [True, True, False]


def test_names_in_a_linked_file(tmp_path, profile, link):
    """There a name has an address."""
    program, entries = link(), profile("f1", "last.isra.0", Entry("data", "rodata", "table"))
    resolved = names.resolve(os.fspath(entries), [os.fspath(program.path)])
    assert {(p.how, p.section, p.symbol, p.value) for p in resolved.places} == {
        (how, section, name, program.addresses[name.decode()]) for how, section, name in
        (("exact", b".rodata", b"table"), ("exact", b".text", b"f1"), ("clone", b".text", b"last"))}
    symbols = elf.read(program.path).linked_symbols()
    assert symbols.names.some(resolved.places.row) == [place.symbol for place in resolved.places]


def test_static_names_of_a_linked_file(tmp_path, profile, assemble, run, llvm):
    """Of several symbols of one name that of the entry's file counts, or else all of them."""
    for name in "ab":
        assemble(name, f'.file "{name}.c"\n.globl {name}\n{name}: ret\nfunction twin .init\n')
    run(llvm / "ld.lld", tmp_path / "a.o", tmp_path / "b.o", "-e", "a", "-o", tmp_path / "app")
    entries = profile(*(Entry("function", "text", "twin", file) for file in ("b.c", "c.c")))
    places = names.resolve(os.fspath(entries), [os.fspath(tmp_path / "app")]).places
    address = {entry: {p.value for p in places if p.entry == entry} for entry in (0, 1)}
    assert len(address[0]) == 1 and len(address[1]) == 2 and address[0] < address[1]


@pytest.fixture
def listed(tmp_path):
    """listed(profile, *lines): what is found in a list of symbols, `object binding name`, as
    (entry, how, object)."""

    def listed(entries, *lines):
        path = tmp_path / "list"
        path.write_text("".join(line.replace(" ", "\0") + "\0more\0\n" for line in lines))
        places = names.resolve(os.fspath(entries), [os.fspath(path)], "--listed").places
        assert all(lines[p.value].split()[2] == p.symbol.decode() for p in places)
        return [(p.entry, p.how, p.object.decode()) for p in places]

    return listed


def test_names_in_a_list(profile, listed):
    """Symbols of other formats are found by the same rules; what is found comes by entry. Of a line
    that is no symbol the number is told."""
    entries = profile("one", "two.llvm.1", "_ZN1AC1Ev", "gone")
    assert listed(entries, "a.obj global one", "a.obj local two.llvm.2", "b.obj global _ZN1AC2Ev",
                  "b.obj global one") == [(0, "exact", "a.obj"), (0, "exact", "b.obj"),
                                          (1, "suffix", "a.obj"), (2, "variant", "b.obj")]
    for line in ("a.o odd f", "", "a.o global "):
        with pytest.raises(Failure, match="line 2: not a symbol") as failure:
            listed(entries, "a.o global f", line)
        assert failure.value.code == 65


@pytest.mark.parametrize(("file", "wanted"), [
    ("a.c", ["a.c.o", "a.obj", "lib.a(a.o)"]), ("a.c.o", ["a.c.o"]),
    ("other.a(a.c.o)", ["a.c.o", "a.obj", "lib.a(a.o)"]), ("lib.a(a.o)", ["lib.a(a.o)"]),
    ("b.c", ["a.c.o", "a.obj", "lib.a(a.o)", "z.o"]),
])
def test_local_names_in_a_list_go_by_their_source(profile, listed, file, wanted):
    """The object that the profile names, else those that may be of its source, else all."""
    entries = profile(Entry("function", "text", "init", file))
    found = listed(entries, "a.c.o local init", "a.obj local init", "lib.a(a.o) local init",
                   "z.o local init")
    assert [name for *_, name in found] == wanted


def test_startup_set(tmp_path, profile, assemble, run):
    """In first-touch order, with the constants that it refers to."""
    a = assemble("a", ".globl b, a\nfunction a\nfunction b\nfunction c\n"
                 ".section .text.b\n.quad .Ltable\n.section .rodata.cst8,\"aM\",@progbits,8\n"
                 ".Ltable: .quad 1\n")
    sections = names.startup_set(os.fspath(profile("b", "a")), [os.fspath(a)])
    assert [(s.section_class, s.region, s.object, s.name) for s in sections] == [
        ("text", "front", b"a.o", b".text.b"), ("rodata", "front", b"a.o", b".rodata.cst8"),
        ("text", "front", b"a.o", b".text.a")]
    assert all(section.size and section.index for section in sections)
    text = '.section .text.f,"ax"\n.globl {0}\n{0}: .fill {1}\n' \
           '.section .text.g,"axG",@progbits,g,comdat\n.weak g\ng: ret\n'
    files = [assemble(name, text.format(name, size)) for name, size in (("a", 3), ("b", 5))]
    run("ar", "rcs", tmp_path / "b.a", files[1])
    sections = names.startup_set(os.fspath(profile("a", "g")),
                                 map(os.fspath, (files[0], tmp_path / "b.a")))
    assert {(s.name, s.namesakes, s.total) for s in sections} == {(b".text.f", 2, 8),
                                                                  (b".text.g", 0, 0)}


def test_odd_names_come_through(profile, assemble):
    """TAB, newline, backslash, and what is no UTF-8."""
    odd = b"a\tb\nc\\d\xff\xc3\xa4"
    a = assemble("a", ".globl tenBytes_x\n.section .text.x,\"ax\"\ntenBytes_x: ret\n")
    a.write_bytes(a.read_bytes().replace(b"tenBytes_x", odd))
    place, = names.resolve(os.fspath(profile("a\\tb\\nc\\\\d\\xffä")), [os.fspath(a)]).places
    assert place.symbol == odd


@pytest.mark.parametrize("content, code, what", [
    (None, 2, "No such file"),
    (b"", 65, "neither an ELF file nor an archive"),
    (b"BC\xc0\xde" + bytes(16), 65, "bitcode"),
    (b"!<arch>\nrubbish", 65, "app"),
    (b"!<thin>\nnowhere/     0           0     0     644     100       `\n", 65, "app"),
])
def test_bad_files(tmp_path, profile, content, code, what):
    """They are named, with the reason."""
    path = tmp_path / "app"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Failure) as caught:
        found(profile("f"), path)
    assert caught.value.code == code and str(path) in caught.value.message
    assert what in caught.value.message and caught.value.note


def test_stripped_and_cut_files(tmp_path, profile, link, run, llvm):
    """What has lost its names, or its end; of a bad profile the line is named."""
    program = link()
    run(llvm / "llvm-strip", program.path, "-o", tmp_path / "stripped")
    with pytest.raises(Failure, match="stripped"):
        found(profile("f"), tmp_path / "stripped")
    data = (tmp_path / "app.o").read_bytes()
    for size in range(0, len(data), 211):
        (tmp_path / "cut.o").write_bytes(data[:size])
        with pytest.raises(Failure) as caught:
            found(profile("f"), tmp_path / "cut.o")
        assert caught.value.code == 65
    (tmp_path / "bad.startup").write_text(profile_text() + "nonsense\tx\n")
    with pytest.raises(Failure, match=r"bad\.startup:5:") as caught:
        found(tmp_path / "bad.startup", program.path)
    assert caught.value.code == 65
