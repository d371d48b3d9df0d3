"""Advice: each rule speaks where the start gives it a reason, with a gain that it bears out."""

import pytest
from faults_writer import PAGE, FaultsWriter, elf_file, plain_file
from frontload.report import model, recorded
from frontload.report.spans import Spans
from trace_writer import CODE, DATA, TraceWriter

# Pointers to each other in some 60 pages, which are relocated; a table of which little is used.
POINTERS = """
#include <stdio.h>
char *pointers[30000] = {[0 ... 29999] = (char *)pointers};
const char table[200000] = "sparse";
int main(void) { return printf("%d\\n", table[(long)pointers[7] & 7]) < 0; }
"""


def calls(number: int) -> str:
    """A library that calls its own functions by name."""
    return "#define N __attribute__((noinline))\n" + "\n".join(
        f"N int f{i}(int x) {{ return x + {i}; }}" for i in range(number)) + (
        "\nint all(int x) {" + "".join(f"x += f{i}(x);" for i in range(number)) + "return x; }")


def sentences(writer: FaultsWriter, **more) -> dict[str, dict]:
    document = model.build([recorded.parse(writer.to_bytes(), "start.json")], **more)
    found = {each["id"]: each for each in document["variants"][0]["advice"]}
    for each in found.values():
        assert each["text"].endswith(".") and each["how"]
    return found


@pytest.fixture
def start(llvm):
    """start(program): a writer for starts of a linked program."""

    def start(program, *others: dict, **changes) -> FaultsWriter:
        return FaultsWriter(elf_file(llvm, program.path, **changes), *others,
                            command=(str(program.path),)).phase("relocation")

    return start


def offset_of(writer: FaultsWriter, section: str, file: int = 0) -> int:
    return next(each["offset"] for each in writer.files[file]["sections"]
                if each["name"] == section)


def test_unpacked_relocations_are_to_be_packed(link, start):
    """Packed ones are well, and so are tables that were in memory."""
    program = link("-pie", "-Wl,-z,nopack-relative-relocs", source=POINTERS, flags=("-fPIE",))
    writer = start(program)
    for page in range(0, 160, 8):
        writer.major(0, offset_of(writer, ".rela.dyn") + page * PAGE, pages=8)
    said = sentences(writer)["relr"]
    assert "0.72 MB of relative relocations" in said["text"]
    assert 15 <= said["gain"]["major_faults"] <= 20
    assert 600_000 < said["gain"]["read_bytes"] <= 30_000 * 24
    packed = start(link("-pie", "-Wl,-z,pack-relative-relocs", source=POINTERS, flags=("-fPIE",),
                        name="packed"))
    packed.major(0, offset_of(packed, ".relr.dyn"), pages=8)
    assert "relr" not in sentences(packed)
    warm = start(program)
    assert "relr" not in sentences(warm.fault(0, offset_of(warm, ".rela.dyn")))


def test_pages_that_relocation_writes_need_not_be(link, start):
    """At fixed addresses nothing is written; what is saved is at most what was read for it."""
    program = link("-pie", source=POINTERS, flags=("-fPIE",))
    writer = start(program)
    for page in range(0, 56, 8):
        writer.major(0, offset_of(writer, ".data") + page * PAGE, pages=8, access="w")
    said = sentences(writer)["no-pie"]
    assert "at most" in said["text"] and 5 <= said["gain"]["major_faults"] <= 7
    assert 0 < said["gain"]["read_bytes"] <= 56 * PAGE
    fixed = start(link("-no-pie", source=POINTERS, name="fixed"))
    fixed.major(0, offset_of(fixed, ".data"), access="w")
    assert "no-pie" not in sentences(fixed)
    assert "no-pie" not in sentences(start(program).fault(0, PAGE))  # nothing read for it


def test_a_library_that_looks_up_its_own_functions(link, llvm, start):
    """The linker could bind them; for a few, or if it did, nothing is said."""
    program = link()
    for number, options in ((150, []), (20, []), (150, ["-Wl,-Bsymbolic"])):
        library = link("-shared", *options, source=calls(number), flags=("-fPIC",), name="lib.so")
        writer = start(program, elf_file(llvm, library.path))
        writer.major(1, offset_of(writer, ".dynsym", 1), pages=2)
        said = sentences(writer).get("bsymbolic")
        assert (said is not None) == (number == 150 and not options)
        if said:
            assert "149 of the 153 symbols" in said["text"]
            assert 0 < said["gain"]["read_bytes"] < 2 * PAGE


def test_small_libraries_are_to_be_linked_in(link, start):
    """Those that cost faults; not large ones, not libc and the loader, not what was in memory."""
    writer = start(link(), *(
        plain_file(path, size, [(".dynsym", 0, PAGE), (".dynamic", PAGE, 512)], flags="r-x",
                   before="", after="") for path, size in (
            ("/usr/lib/libsmall.so.1", 20 * PAGE), ("/opt/libwarm.so", 20 * PAGE),
            ("/lib/libc.so.6", 20 * PAGE), ("/lib64/ld-linux-x86-64.so.2", 20 * PAGE),
            ("/opt/liblarge.so", 2 << 20))))
    for number in (1, 3, 4, 5):
        writer.major(number, 0, pages=4).major(number, 8 * PAGE, pages=4)
    said = sentences(writer.fault(2, 0))["static-libs"]
    assert "1 small shared library (libsmall.so.1)" in said["text"] and "at most" in said["text"]
    assert said["gain"] == {"major_faults": 2, "read_bytes": 8 * PAGE}
    assert "static-libs" not in sentences(start(link(name="alone")).major(0, 0))


def test_a_program_that_is_read_here_and_there_gets_a_front(tmp_path, link, start):
    program = link("-no-pie", source=POINTERS)
    writer = start(program)
    for page in (40, 60, 20, 80, 10):
        writer.major(0, page * PAGE, pages=4)
    said = sentences(writer)["front"]
    assert "5 separate stretches by 5 major faults, and 2 of 5 reads went backwards" in said["text"]
    assert said["gain"] == {"major_faults": None, "read_bytes": None}
    trace = TraceWriter().module(1, str(program.path), program.build_id)
    trace.event(program.addresses["main"] // 16 * 16, kind=CODE)
    said = sentences(writer, traces=[trace.write(tmp_path / "trace")])["front"]
    assert "at most" in said["text"]
    assert said["gain"]["major_faults"] == 4 and 0 < said["gain"]["read_bytes"] <= 20 * PAGE
    # What is read in one stretch needs none.
    assert "front" not in sentences(start(program).major(0, 0, pages=8).major(0, 8 * PAGE, pages=8))


def test_a_front_that_is_faulted_in_is_to_be_prefetched():
    """Major faults inside of it are what prefetching saves; it reads the rest of it."""
    def with_front(*touches: tuple[int, int]) -> dict[str, dict]:
        """What is said of a front of 40 pages, and major faults at (page, number of pages)."""
        writer = FaultsWriter(plain_file("/app", 200 * PAGE, [
            (".text.front", PAGE, 39 * PAGE), (".text", 40 * PAGE, 100 * PAGE),
            (".rodata", 140 * PAGE, 60 * PAGE)], flags="r-x", before="", after="")).phase("main")
        for page, pages in touches:
            writer.major(0, page * PAGE, pages=pages, access="x")
        return sentences(writer)

    said = with_front((0, 8), (8, 8), (16, 8), (24, 8))["prefetch"]
    assert said["gain"] == {"major_faults": 3, "read_bytes": -8 * PAGE}
    assert not {"prefetch", "untrained"} & with_front((0, 40), (50, 8)).keys()
    said = with_front((0, 40), (50, 8), (70, 8), (150, 8), (190, 8))
    assert said["untrained"]["gain"] == {"major_faults": 4, "read_bytes": 32 * PAGE}
    assert "front" not in said


def test_a_large_table_of_which_little_is_used(tmp_path, link, start):
    """What was read of it for nothing is at most what is saved; used tables are well."""
    program = link(source=POINTERS)
    for used, expected in ((10, True), (8000, False)):
        writer = start(program)
        first = offset_of(writer, ".rodata")
        writer.major(0, first, pages=40)
        trace = TraceWriter().module(1, str(program.path), program.build_id)
        for number in range(used):
            trace.event(program.addresses["table"] // 16 * 16 + 16 * number, kind=DATA)
        said = sentences(writer, traces=[trace.write(tmp_path / "trace")]).get("sparse-tables")
        assert bool(said) == expected
        if said:
            assert "(table)" in said["text"] and said["gain"]["major_faults"] is None
            assert 40 * PAGE - 5000 - 16 * used < said["gain"]["read_bytes"] <= 40 * PAGE


def replayed(pages: list[int], window: int, ahead: bool = False, **changes) -> FaultsWriter:
    """A start whose faults are those of a kernel with such a readahead, around each or ahead."""
    writer = FaultsWriter(plain_file("/app", 4000 * PAGE, flags="r-x", before="", after="",
                                     **changes)).phase("main")
    read: set[int] = set()
    for page in pages:
        if page in read:
            writer.fault(0, page * PAGE)
            continue
        first = page if ahead else max(page - window // 2, 0)
        mine = [each for each in range(first, min(first + window, 4000)) if each not in read]
        read.update(mine)
        for each in mine:
            writer.fill(0, each * PAGE)
        writer.fault(0, page * PAGE, major=1)
    writer.files[0]["after"] = Spans.of_units(sorted(read), PAGE).to_text(PAGE)
    return writer


def test_a_file_that_is_read_all_over_gains_by_more_readahead():
    """The replay says how much; single pages far apart need less. Most may as well be all of it."""
    everywhere = sentences(replayed(list(range(0, 3900, 8)), 32))["readahead"]
    assert everywhere["gain"]["major_faults"] > 60
    whole = sentences(replayed(list(range(0, 3900, 40)), 32))["whole-file"]
    assert whole["gain"]["major_faults"] > 90 and whole["gain"]["read_bytes"] < 0
    ahead = sentences(replayed(list(range(0, 3900, 8)), 32, ahead=True))["readahead"]
    assert "instead of 122, and read about" in ahead["text"] and ahead["gain"]["major_faults"] > 60
    said = sentences(replayed(list(range(0, 3900, 100)), 32))
    apart = said["readahead"]
    assert "whole-file" not in said
    assert "16 KiB instead of 128 KiB" in apart["text"]
    assert apart["gain"]["major_faults"] == 0 and apart["gain"]["read_bytes"] > 4_000_000


def test_waits_for_other_things_than_files_are_told():
    """With no gain: nobody is to expect one of a front. Those for files are none of them."""
    def waiting(**waits_ms: int) -> dict[str, dict]:
        writer = FaultsWriter(plain_file("/app")).phase("main")
        writer.phases[-1]["waits_ns"] = {name: ms * 1_000_000 for name, ms in waits_ms.items()}
        return sentences(writer)

    said = waiting(disk=40, clock_nanosleep=20, poll=4, futex=2)["waits"]
    assert "For 26 ms of this start's 100 ms" in said["text"] and "26 ms in main" in said["text"]
    assert "For 20 ms it sleeps (clock_nanosleep)." in said["text"]
    assert "time-outs" in said["how"] and set(said["gain"].values()) == {None}
    assert "waits" not in waiting(disk=90) and "waits" not in waiting(poll=4)
    assert "strace" in waiting(**{"another system call": 30})["waits"]["how"]
