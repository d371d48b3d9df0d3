"""Ways to link that change what is in the file: it has its front all the same, and it runs."""

import struct

import pytest
from elftools.elf.elffile import ELFFile
from linking import Image, compile_text, front
from whole import CXX, check_whole, compile_whole, file_offset, load_segments


@pytest.mark.parametrize(("flags", "compile_flags", "compiler"), [
    (["-flto", "-O1"], ["-flto", "-fno-inline"], "clang"),
    (["-flto=thin", "-O1"], ["-flto=thin", "-fno-inline"], "clang"),
    (["-Wl,--no-rosegment,-z,norelro"], [], "gcc"),
    (["-Wl,-O2,-z,now,-z,noseparate-code,-z,keep-text-section-prefix"], [], "gcc")])
def test_a_whole_program(tmp_path, flags, compile_flags, compiler):
    """Made by link-time optimization, folded, or with other segments, it does the same."""
    check_whole(tmp_path, *flags, compile_flags=compile_flags, compiler=compiler)


def test_emit_relocs(tmp_path):
    """The relocations that stay in the file are of the section that they lie in."""
    front, plain = check_whole(tmp_path, "-Wl,--emit-relocs")
    with front.open("rb") as stream, plain.open("rb") as other:
        elf = ELFFile(stream)
        tables, expected = ([s for s in file.iter_sections("SHT_RELA") if not s["sh_flags"] & 2]
                            for file in (elf, ELFFile(other)))
        for table in tables:
            target = elf.get_section(table["sh_info"])
            assert table.name == ".rela" + target.name
            assert all(0 <= r["r_offset"] - target["sh_addr"] < target["sh_size"]
                       for r in table.iter_relocations())
        assert sum(t.num_relocations() for t in tables) == sum(
            t.num_relocations() for t in expected)
        # A call from the front to behind it is where its relocation says.
        names = elf.get_section_by_name(".symtab")
        (call,) = [r["r_offset"]
                   for r in elf.get_section_by_name(".rela.text").iter_relocations()
                   if names.get_symbol(r["r_info_sym"]).name == "cold_2_leaf"]
    (distance,) = struct.unpack_from("<i", front.read_bytes(), file_offset(front, call))
    assert call + 4 + distance == Image(front).symbols["cold_2_leaf"].address


def identical_functions(folder, *others, flags=("-faddrsig",)):
    text = "__attribute__((noinline)) int other(int x) { return x + 1; }\n"
    text += "".join(f"__attribute__((noinline)) int {name}(int x) {{ return other(x) * 77; }}\n"
                    for name in ("first", "second", "third"))
    text += "int main(void) { return first(1) + third(1) != second(2); }\n"
    return compile_text(folder, "a.c", text + "".join(others), *flags, "-fno-inline",
                        compiler="clang")


@pytest.mark.parametrize("hot", ["first", "third"])
def test_identical_functions_are_folded_in_the_front(tmp_path, hot):
    """A profile of a folded program has one of their names, not always the one that is called now;
    lld folds only what is in one output section."""
    linked = front(tmp_path, identical_functions(tmp_path), "-Wl,--icf=all", entries=("main", hot))
    symbols = linked.image.symbols
    assert symbols["first"] == symbols["second"] == symbols["third"]
    assert linked.image.section_of("second") == ".text.front" and not linked.missing
    # It is there once, and so it counts: beside main.
    sizes = {s.address: s.size for s in symbols.values() if s.section == ".text.front"}
    assert linked.report["classes"]["text"] == {"sections": 2, "referred": 0,
                                                "bytes": sum(sizes.values())}


@pytest.mark.parametrize(("flags", "cold"), [(["-Wl,--icf=all"], "cold"), ([], "second")])
def test_functions_that_only_look_identical_are_no_twins(tmp_path, flags, cold):
    """They call another function, or are of another size; and without --icf there are none."""
    program = identical_functions(tmp_path, (
        "int another(int x) { return x - 1; }\n"
        "int cold(int x) { return another(x) * 77; }\n"
        "int user(int x) { return cold(x) + another(x); }\n"))
    image = front(tmp_path, program, *flags, entries=("main", "first")).image
    assert image.section_of("first") == ".text.front" and image.section_of(cold) == ".text"


@pytest.mark.parametrize(("flag", "is_folded"), [("-faddrsig", True), ("-fno-addrsig", False)])
def test_safe_folding(tmp_path, flag, is_folded):
    """With --icf=safe only code of an object that lists significant addresses is folded, and is in
    the front with its twin; all of it with =all."""
    safe, all_ = (front(tmp_path, identical_functions(tmp_path, flags=(flag,)), f"-Wl,--icf={icf}",
                        output=icf, entries=("main", "first")).image.symbols
                  for icf in ("safe", "all"))
    assert safe["first"].section == all_["first"].section == ".text.front"
    assert all_["first"] == all_["second"]
    assert (safe["first"] == safe["second"]) == is_folded
    assert safe["second"].section == (".text.front" if is_folded else ".text")


def test_gc_sections(tmp_path):
    """What nothing refers to is not in the file, profile or not, and the report says so."""
    dead = compile_text(tmp_path, "dead.c", "int hot_dead(int x) { return x; }\n"
                        "const int *hot_dead_too(void) { static const int d[9]; return d; }\n")
    linked = front(tmp_path, *compile_whole(tmp_path), dead, "-Wl,--gc-sections,--min-match=0",
                   driver=CXX,
                   entries=("hot_dead", "main", "hot_dead_too", "hot_1_step"))
    assert not linked.image.matching("dead")
    assert "cold_4_pages" not in linked.image.symbols, "nothing refers to it"
    assert {(m["name"], m["reason"]) for m in linked.names["missing"]} == {
        ("hot_dead", "not in the link"), ("hot_dead_too", "not in the link")}


@pytest.mark.parametrize(("flags", "page"), [
    ("separate-code", 4096), ("separate-code", 65536), ("separate-loadable-segments", 4096),
    ("noseparate-code", 65536), ("pack-relative-relocs", 65536),
    ("common-page-size=16384", 65536)])
def test_segments(tmp_path, flags, page):
    """Pages of the size that the target may have: a front without holes larger than a page."""
    out, _ = check_whole(tmp_path, f"-Wl,-z,{flags}", f"-Wl,-z,max-page-size={page}", page=page)
    if flags.startswith("separate"):
        # No page of code holds anything else.
        code, other = ({n // page for s in load_segments(out) if bool(s.p_flags & 1) == is_code
                        for n in range(s.p_offset, s.p_offset + s.p_filesz)}
                       for is_code in (True, False))
        assert not code & other
    if flags.startswith("common"):  # where pages of that size end, relocations' protection does
        with out.open("rb") as stream:
            (relro,) = [s.header for s in ELFFile(stream).iter_segments("PT_GNU_RELRO")]
        assert (relro.p_vaddr + relro.p_memsz) % 16384 == 0
