"""What a start did, event by event: causes, reads and which of them went backwards."""

import pytest
from faults_writer import MS, PAGE, FaultsWriter, plain_file
from frontload.report import recorded
from frontload.report.events import CAUSES, Events, events, is_loader
from frontload.report.places import Places
from hypothesis import given
from hypothesis import strategies as st

# The program: a page each of tables of relocations, constants and code, and written data behind.
APP, LOADER, OTHER = 0, 1, 2
TABLES, CONSTANTS, CODE, DATA = (number * 16 * PAGE for number in range(4))


def writer() -> FaultsWriter:
    app = plain_file("/app", sections=[(".rela.dyn", TABLES, PAGE), (".rodata", CONSTANTS, PAGE),
                                       (".text", CODE, PAGE), (".data", DATA, PAGE)])
    app["segments"] = [{"address": start, "offset": start, "file_bytes": 16 * PAGE,
                        "memory_bytes": 16 * PAGE, "flags": flags}
                       for start, flags in ((0, "r--"), (CONSTANTS, "r--"), (CODE, "r-x"),
                                            (DATA, "rw-"))]
    return FaultsWriter(app, plain_file("/lib64/ld-linux-x86-64.so.2", flags="r-x"),
                        plain_file("/etc/passwd"))


def seen(start: FaultsWriter, **changes) -> Events:
    recording = recorded.parse(start.to_bytes(**changes), "start.json")
    return events(recording, [Places(file) for file in recording.files])


def causes(start: FaultsWriter, kind: str = "Mm") -> list[str]:
    found = seen(start)
    return [CAUSES[cause] for cause, each in zip(found.cause, found.kind, strict=True)
            if each in kind]


LOADERS = {"code": (LOADER, 100)}
WRITE, FETCH, KERNEL = {"access": "w"}, {"access": "x"}, {"kernel": 1}


@pytest.mark.parametrize(("phase", "faults", "expected"), [
    # Before the first instruction, whatever the kernel touches while it maps the program.
    ("exec", [(APP, DATA, KERNEL | WRITE), (APP, 0, KERNEL)], "exec exec"),
    # In the phase of relocation, tables and writes; the rest is the loader's.
    ("relocation", [(APP, TABLES, LOADERS), (APP, DATA, LOADERS | WRITE),
                    (APP, CONSTANTS, LOADERS)], "relocation relocation loader"),
    # A program without loader relocates itself.
    ("relocation", [(APP, DATA, WRITE | {"code": (APP, CODE)})], "relocation"),
    # The loader is known by its code, also while libraries are opened later; on its own pages, too.
    ("main", [(APP, CONSTANTS, LOADERS), (LOADER, 100, LOADERS | FETCH), (APP, TABLES, LOADERS)],
     "loader loader relocation"),
    # Code and data alike, and by system calls, too.
    ("constructors", [(APP, CODE, FETCH), (APP, CONSTANTS, {}), (OTHER, 0, KERNEL)],
     "constructor constructor constructor"),
    # In main it is what was touched that counts: also memory of no file; the kernel if it did.
    ("main", [(APP, CODE, FETCH), (APP, CONSTANTS, {}), (APP, DATA, WRITE), (APP, DATA, {}),
              (-1, -1, WRITE), (OTHER, 0, {}), (APP, CONSTANTS, KERNEL)],
     "code constant data data data constant kernel"),
    # Recorders that cannot tell fetches from reads still know what is mapped as code.
    ("main", [(APP, CODE, {"access": "?"}), (APP, CONSTANTS, {"access": "?"})], "code constant"),
])
def test_each_fault_has_a_cause(phase, faults, expected):
    start = writer().phase(phase)
    for file, offset, how in faults:
        start.fault(file, offset, **how)
    assert causes(start) == expected.split()


def test_fills_that_continue_each_other_are_one_read():
    """Unless it goes on for another fault; those of other threads do not disturb it."""
    start = writer().phase("main").major(APP, CODE, pages=4, access="x")
    start.major(APP, CODE + 4 * PAGE, access="x")
    found = seen(start)
    assert "".join(found.kind) == "FMFM" and found.bytes.tolist() == [4 * PAGE, 0, PAGE, 0]
    start = writer().phase("main")
    for page in (1, 0, 2):  # readahead_expand() of Linux goes down, then up
        start.fill(APP, CODE + page * PAGE, thread=1).fill(APP, DATA + page * PAGE, thread=2)
    assert seen(start).bytes.tolist() == [3 * PAGE, 3 * PAGE]


def test_a_read_has_the_cause_of_the_fault_that_waited_for_it():
    """The next fault of the thread; what no fault waited for, a system call read."""
    start = writer().phase("main").major(APP, CODE, pages=3, access="x")
    start.fill(OTHER, 0, 8 * PAGE).fault(-1, -1, access="w")
    assert causes(start, "F") == ["code", "kernel"]
    # A minor fault near the end of a read lets the kernel read on.
    start = writer().phase("main").fill(APP, CODE + 8 * PAGE, 8 * PAGE)
    start.fault(APP, CODE + 4 * PAGE, access="x")
    assert causes(start, "F") == ["code"]


def test_a_read_that_begins_before_the_last_one_is_backwards():
    """In the same file; the fault that waited is marked, too, and may stand for its read."""
    start = writer().phase("main").major(APP, 8 * PAGE).major(OTHER, 0).major(APP, 4 * PAGE)
    start.major(APP, 6 * PAGE)
    found = seen(start)
    assert "".join(found.kind) == "FMFMFMFM"
    assert found.backward.tolist() == [0, 0, 0, 0, 1, 1, 0, 0]
    assert seen(start, fills=None).backward.tolist() == [0, 0, 1, 0]


def test_behind_the_data_its_last_page_is_bss():
    """Mapped whole, and cleared: what is written there is no section of the file."""
    start = FaultsWriter(plain_file("/app", sections=[(".data", 0, 100), (".comment", 100, 100)]))
    start.files[0]["segments"] = [{"address": 0, "offset": 0, "file_bytes": 100,
                                   "memory_bytes": 9999, "flags": "rw-"}]
    start.phase("main").fault(0, 150).fault(0, 150, access="w").fault(0, 50, access="w")
    assert seen(start).section == [".comment", ".bss", ".data"]
    assert causes(start) == ["constant", "data", "data"]
    start = writer().phase("main").fault(APP, CODE).fault(APP, CODE + PAGE).fault(-1, -1)
    assert seen(start).section == [".text", "(no section)", ""]


def test_loaders_are_known_by_their_names():
    names = ["ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1", "ld-2.31.so", "ld64.so.2", "ld.so.1"]
    assert [each for each in [*names, "libldap.so.2", "ld", "ld.lld", "ldd"]
            if is_loader(f"/lib/{each}")] == names


@given(st.lists(st.tuples(st.sampled_from("fF"), st.integers(0, 2), st.integers(0, 63),
                          st.integers(1, 3)), max_size=30))
def test_no_byte_is_lost_when_reads_are_joined(steps):
    """The reads together are the fills together, in order of time, and every event stays."""
    start = writer().phase("main")
    for kind, file, page, thread in steps:
        if kind == "F":
            start.fill(file, page * PAGE, thread=thread)
        else:
            start.fault(file, page * PAGE, thread=thread)
    found = seen(start)
    assert found.bytes.sum() == PAGE * sum(kind == "F" for kind, *_ in steps)
    assert (found.kind == "m").sum() == sum(kind == "f" for kind, *_ in steps)
    assert sorted(found.time_ns.tolist()) == found.time_ns.tolist()
    assert found.time_ns.max(initial=0) <= len(steps) * MS
