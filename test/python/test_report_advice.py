"""Advice: each rule speaks where the start gives it a reason, with a gain that it bears out."""

import pytest
from faults_writer import PAGE, FaultsWriter, elf_file, plain_file
from frontload.report import model, recorded
from trace_writer import CODE, TraceWriter

# Pointers to each other in some 60 pages, which are relocated; a table of which little is used.
POINTERS = """
#include <stdio.h>
char *pointers[30000] = {[0 ... 29999] = (char *)pointers};
const char table[200000] = "sparse";
int main(void) { return printf("%d\\n", table[(long)pointers[7] & 7]) < 0; }
"""


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


def test_a_program_that_is_read_here_and_there_gets_a_front(tmp_path, link, start):
    program = link("-no-pie", source=POINTERS)
    writer = start(program)
    for page in (40, 60, 20, 80, 10):
        writer.major(0, page * PAGE, pages=4)
    said = sentences(writer)["front"]
    assert "5 separate extents by 5 major faults, and 2 of 5 reads went backwards" in said["text"]
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
            (".rodata.front", PAGE, 39 * PAGE), (".text", 40 * PAGE, 100 * PAGE),
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


def test_waits_for_other_things_than_files_are_told():
    """With no gain: nobody is to expect one of a front. Those for files are none of them."""
    def waiting(**waits_ms: int) -> dict[str, dict]:
        writer = FaultsWriter(plain_file("/app")).phase("main")
        writer.phases[-1]["waits_ns"] = {name: ms * 1_000_000 for name, ms in waits_ms.items()}
        return sentences(writer)

    said = waiting(disk=40, clock_nanosleep=20, poll=4, futex=2)["waits"]
    assert "For 26 ms of this start's 100 ms" in said["text"] and "26 ms in main" in said["text"]
    assert "20 ms in clock_nanosleep, 4 ms in poll and 2 ms in futex" in said["text"]
    assert "strace" in said["how"] and set(said["gain"].values()) == {None}
    assert "waits" not in waiting(disk=90) and "waits" not in waiting(poll=4)
    assert "in another system call" in waiting(**{"another system call": 30})["waits"]["text"]
