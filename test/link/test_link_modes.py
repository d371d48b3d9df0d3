"""Ways to link that change what is in the file: it has its front all the same, and it runs."""

import json
import struct

import pytest
from elftools.elf.elffile import ELFFile
from linking import COMPILERS, Image, check_run, compile_text, link, write_profile
from whole import check_front, compile_whole, file_offset, link_whole, load_segments


def test_emit_relocs(tmp_path):
    """The relocations that stay in the file are of the section that they lie in."""
    front, plain = link_whole(tmp_path, compile_whole(tmp_path), "-Wl,--emit-relocs")
    assert check_run(front) == check_run(plain)
    image = check_front(front)
    counts = []
    for path in (front, plain):
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            tables = [s for s in elf.iter_sections("SHT_RELA") if not s["sh_flags"] & 2]
            for table in tables:
                target = elf.get_section(table["sh_info"])
                assert table.name == ".rela" + target.name
                assert all(0 <= r["r_offset"] - target["sh_addr"] < target["sh_size"]
                           for r in table.iter_relocations())
            counts.append(sum(t.num_relocations() for t in tables))
    assert counts[0] == counts[1]
    # A call from the front to behind it is where its relocation says.
    with front.open("rb") as stream:
        elf = ELFFile(stream)
        names = elf.get_section_by_name(".symtab")
        (call,) = [r["r_offset"]
                   for r in elf.get_section_by_name(".rela.text.front").iter_relocations()
                   if names.get_symbol(r["r_info_sym"]).name == "cold_2_leaf"]
    (distance,) = struct.unpack_from("<i", front.read_bytes(), file_offset(front, call))
    assert call + 4 + distance == image.symbols["cold_2_leaf"].address


@pytest.mark.parametrize("lto", ["-flto", "-flto=thin"])
def test_lto(tmp_path, lto):
    """Functions of a C++ program that link-time optimization compiles are placed, and can throw."""
    objects = compile_whole(tmp_path, lto, "-fno-inline", compiler="clang")
    front, plain = link_whole(tmp_path, objects, lto, "-O1")
    assert check_run(front) == check_run(plain)
    check_front(front)


def test_icf_never_folds_the_front_away(tmp_path):
    """Identical functions of the front become one in it, wherever a cold one comes in the link."""
    names = ("cold_a", "hot_a", "cold_b", "hot_b")
    text = "".join(f"__attribute__((noinline)) int {name}(int x) {{ return x * 77 + 5; }}\n"
                   for name in names)
    main = "int main(void) { return cold_a(1) + cold_b(1) != hot_a(1) + hot_b(1); }\n"
    program = compile_text(tmp_path, "a.c", text + main, "-faddrsig", "-fno-inline",
                           compiler="clang")
    out = tmp_path / "out"
    link(out, program, "-Wl,--icf=all", profile=write_profile(tmp_path, "main", "hot_a", "hot_b"))
    check_run(out)
    image = Image(out)
    assert image.symbols["hot_a"] == image.symbols["hot_b"]
    assert image.symbols["cold_a"] == image.symbols["cold_b"]
    assert image.section_of("hot_a") == ".text.front"


def test_icf_of_a_whole_program(tmp_path):
    """Folding changes nothing that the program does."""
    front, plain = link_whole(tmp_path, compile_whole(tmp_path, "-faddrsig", compiler="clang"),
                              "-Wl,--icf=all")
    assert check_run(front) == check_run(plain)
    check_front(front)


def test_gc_sections(tmp_path):
    """What nothing refers to is not in the file, profile or not, and the report says so."""
    objects = compile_whole(tmp_path)
    dead = compile_text(tmp_path, "dead.c", "int hot_dead(int x) { return x; }\n"
                        "const int *hot_dead_too(void) { static const int d[9]; return d; }\n")
    report = tmp_path / "report.json"
    driver = COMPILERS["clang"][1]
    profile = write_profile(tmp_path, "hot_dead", "main", "hot_dead_too", "hot_1_step")
    link(tmp_path / "out", *objects, dead, "-Wl,--gc-sections", "-Wl,--min-match=0",
         f"-Wl,--front-report={report}", driver=driver, profile=profile)
    image = Image(tmp_path / "out")
    assert not image.matching("dead")
    assert "cold_4_pages" not in image.symbols, "nothing refers to it"
    missing = json.loads(report.read_text())["names"]["missing"]
    assert {(m["name"], m["reason"]) for m in missing} == {
        ("hot_dead", "not in the link"), ("hot_dead_too", "not in the link")}
    assert check_run(tmp_path / "out").endswith(" 7 one\n")


@pytest.mark.parametrize("page", [4096, 65536])
@pytest.mark.parametrize("flags", [
    "separate-code", "noseparate-code", "separate-loadable-segments", "norelro", "now",
    "pack-relative-relocs"])
def test_segments(tmp_path, flags, page):
    """Pages of the size that the target may have: a front without holes larger than a page."""
    objects = compile_whole(tmp_path)
    front, plain = link_whole(tmp_path, objects, f"-Wl,-z,{flags}", f"-Wl,-z,max-page-size={page}")
    assert check_run(front) == check_run(plain)
    check_front(front, page)
    if flags.startswith("separate"):
        # No page of code holds anything else.
        code = {n // page for s in load_segments(front) if s.p_flags & 1
                for n in range(s.p_offset, s.p_offset + s.p_filesz)}
        other = {n // page for s in load_segments(front) if not s.p_flags & 1
                 for n in range(s.p_offset, s.p_offset + s.p_filesz)}
        assert not code & other


def test_common_page_size(tmp_path):
    """RELRO ends where pages of that size end."""
    front, plain = link_whole(tmp_path, compile_whole(tmp_path), "-Wl,-z,max-page-size=65536",
                              "-Wl,-z,common-page-size=16384")
    assert check_run(front) == check_run(plain)
    check_front(front, 65536)
    with front.open("rb") as stream:
        (relro,) = [s.header for s in ELFFile(stream).iter_segments("PT_GNU_RELRO")]
    assert (relro.p_vaddr + relro.p_memsz) % 16384 == 0


def build_id(path) -> bytes:
    """The build-id, read from memory's view: a PT_NOTE segment."""
    with path.open("rb") as stream:
        (note,) = [n for s in ELFFile(stream).iter_segments("PT_NOTE") for n in s.iter_notes()
                   if n["n_type"] == "NT_GNU_BUILD_ID"]
    return bytes.fromhex(note["n_desc"])


def test_build_id(tmp_path):
    """There is one; it is the same for the same file, another for another layout or content."""
    objects = compile_whole(tmp_path)

    def linked(name: str, version: int, *order: str) -> bytes:
        extra = compile_text(tmp_path, "extra.c", f"int version = {version};\n")
        link(tmp_path / name, *objects, extra, "-pie", "-Wl,--build-id=sha1",
             driver=COMPILERS["clang"][1], profile=write_profile(tmp_path, *order))
        return build_id(tmp_path / name)

    first = linked("first", 1, "main", "hot_1_step")
    assert len(first) == 20
    assert linked("again", 1, "main", "hot_1_step") == first
    assert linked("layout", 1, "hot_1_step", "main") != first
    assert linked("content", 2, "main", "hot_1_step") != first
