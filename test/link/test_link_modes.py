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


def identical_functions(folder, *others, flags=("-faddrsig",)):
    names = ("first", "second", "third")
    text = "".join(f"__attribute__((noinline)) int {name}(int x) {{ return other(x) * 77; }}\n"
                   for name in names)
    main = "int main(void) { return first(1) + third(1) != second(2); }\n"
    other = "__attribute__((noinline)) int other(int x) { return x + 1; }\n"
    return compile_text(folder, "a.c", other + text + "".join(others) + main, *flags, "-fno-inline",
                        compiler="clang")


@pytest.mark.parametrize("hot", ["first", "third"])
def test_identical_functions_are_folded_in_the_front(tmp_path, hot):
    """A profile of a folded program has one of their names, not always the one that is called now;
    lld folds only what is in one output section."""
    program = identical_functions(tmp_path)
    report = tmp_path / "report.json"
    link(tmp_path / "out", program, "-Wl,--icf=all", f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, "main", hot))
    image = Image(tmp_path / "out")
    assert image.symbols["first"] == image.symbols["second"] == image.symbols["third"]
    assert image.section_of("second") == ".text.front"
    told = json.loads(report.read_text())
    assert told["names"]["missing"] == []
    # It is there once, and so it counts: beside main.
    sizes = {s.address: s.size for s in image.symbols.values() if s.section == ".text.front"}
    assert told["classes"]["text"] == {"sections": 2, "referred": 0, "bytes": sum(sizes.values())}


def test_functions_that_only_look_identical_are_no_twins(tmp_path):
    """They call another function, or are of another size; and without --icf there are none."""
    others = ("__attribute__((noinline)) int another(int x) { return x - 1; }\n",
              "__attribute__((noinline)) int cold(int x) { return another(x) * 77; }\n",
              "int user(int x) { return cold(x) + another(x); }\n")
    program = identical_functions(tmp_path, *others)
    profile = write_profile(tmp_path, "main", "first")
    link(tmp_path / "folded", program, "-Wl,--icf=all", profile=profile)
    assert Image(tmp_path / "folded").section_of("cold") == ".text"
    for flags in ((), ("-Wl,--icf=none",)):
        link(tmp_path / "out", program, *flags, profile=profile)
        image = Image(tmp_path / "out")
        assert image.section_of("first") == ".text.front"
        assert image.section_of("second") == ".text"


# What is compiled beside the three functions, and how: whether lld finds `second` safe to fold.
TAKES_ADDRESS = "extern int second(int); int (*address)(int) = second;\n"
SAFE = {"with a list": (("-faddrsig",), None, (), True),
        "without a list": (("-fno-addrsig",), None, (), False),
        "address taken": (("-faddrsig",), (TAKES_ADDRESS, "-faddrsig"), (), False),
        "used where there is no list": (
            ("-faddrsig",), ("int second(int); int f(void) { return second(1); }\n",
                             "-fno-addrsig"), (), False),
        "exported": (("-faddrsig", "-fPIC"), None, ("-shared",), False),
        "hidden": (("-faddrsig", "-fPIC", "-fvisibility=hidden"), None, ("-shared",), True)}


@pytest.mark.parametrize("case", SAFE)
def test_safe_folding(tmp_path, case):
    """With --icf=safe only what lld folds is in the front with its twin; all of it with =all."""
    compile_flags, other, flags, is_folded = SAFE[case]
    objects = [identical_functions(tmp_path, flags=compile_flags)]
    if other:
        objects.append(compile_text(tmp_path, "b.c", *other, compiler="clang"))
    profile = write_profile(tmp_path, "main", "first")
    images = {}
    for icf in ("safe", "all"):
        link(tmp_path / "out", *objects, *flags, f"-Wl,--icf={icf}", profile=profile)
        images[icf] = Image(tmp_path / "out").symbols
    for symbols in images.values():
        assert symbols["first"].section == ".text.front"
    assert images["all"]["first"] == images["all"]["second"]
    assert (images["safe"]["first"] == images["safe"]["second"]) == is_folded
    assert images["safe"]["second"].section == (".text.front" if is_folded else ".text")


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
