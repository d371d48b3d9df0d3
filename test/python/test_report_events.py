"""What a start did, event by event: causes, reads and which of them went backwards."""

import json

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


def test_before_the_first_instruction_all_is_exec():
    """Whatever the kernel touches while it maps the program."""
    start = writer().phase("exec").fault(APP, DATA, kernel=1, access="w").fault(APP, 0, kernel=1)
    assert causes(start) == ["exec", "exec"]


def test_relocation_is_tables_and_what_they_name():
    """In the phase of relocation, tables and writes; the rest is the loader's."""
    start = writer().phase("relocation")
    for place, access in ((TABLES, "r"), (DATA, "w"), (CONSTANTS, "r")):
        start.fault(APP, place, access=access, code=(LOADER, 100))
    assert causes(start) == ["relocation", "relocation", "loader"]


def test_a_program_without_loader_relocates_itself():
    """There it is the program's own code that does it."""
    start = writer().phase("relocation").fault(APP, DATA, access="w", code=(APP, CODE))
    assert causes(start) == ["relocation"]


def test_the_loader_is_known_by_its_code():
    """In any phase, also while libraries are opened later; on its own pages, too."""
    start = writer().phase("main")
    start.fault(APP, CONSTANTS, code=(LOADER, 100)).fault(LOADER, 100, access="x",
                                                          code=(LOADER, 100))
    start.fault(APP, TABLES, code=(LOADER, 100))
    assert causes(start) == ["loader", "loader", "relocation"]


def test_constructors_answer_for_what_they_touch():
    """Code and data alike, and by system calls, too."""
    start = writer().phase("constructors").fault(APP, CODE, access="x")
    start.fault(APP, CONSTANTS).fault(OTHER, 0, kernel=1)
    assert causes(start) == ["constructor"] * 3


def test_in_main_it_is_what_was_touched_that_counts():
    """Code, constants, data and memory of no file; the kernel if it touched it."""
    start = writer().phase("main").fault(APP, CODE, access="x").fault(APP, CONSTANTS)
    start.fault(APP, DATA, access="w").fault(APP, DATA).fault(-1, -1, access="w")
    start.fault(OTHER, 0).fault(APP, CONSTANTS, kernel=1)
    assert causes(start) == ["code", "constant", "data", "data", "data", "constant", "kernel"]


def test_without_accesses_the_place_decides():
    """Recorders that cannot tell fetches from reads still know what is mapped as code."""
    start = writer().phase("main").fault(APP, CODE, access="?").fault(APP, CONSTANTS, access="?")
    assert causes(start) == ["code", "constant"]


def test_fills_that_continue_each_other_are_one_read():
    """One read for a fault, though the kernel filled page by page."""
    start = writer().phase("main").major(APP, CODE, pages=4, access="x")
    start.major(APP, CODE + 4 * PAGE, access="x")  # goes on there, but for another fault
    found = seen(start)
    assert "".join(found.kind) == "FMFM"
    assert found.bytes.tolist() == [4 * PAGE, 0, PAGE, 0]


def test_threads_do_not_disturb_each_other():
    """Fills of two threads at the same time are two reads."""
    start = writer().phase("main")
    for page in range(3):
        start.fill(APP, CODE + page * PAGE, thread=1).fill(APP, DATA + page * PAGE, thread=2)
    assert seen(start).bytes.tolist() == [3 * PAGE, 3 * PAGE]


def test_a_read_has_the_cause_of_the_fault_that_waited_for_it():
    """The next fault of the thread; what no fault waited for, a system call read."""
    start = writer().phase("main").major(APP, CODE, pages=3, access="x")
    start.fill(OTHER, 0, 8 * PAGE).fault(-1, -1, access="w")
    assert causes(start, "F") == ["code", "kernel"]


def test_reading_ahead_belongs_to_the_fault_that_set_it_off():
    """A minor fault near the end of a read lets the kernel read on."""
    start = writer().phase("main").fill(APP, CODE + 8 * PAGE, 8 * PAGE)
    start.fault(APP, CODE + 4 * PAGE, access="x")
    assert causes(start, "F") == ["code"]


def test_a_read_that_begins_before_the_last_one_is_backwards():
    """In the same file; the fault that waited for it is marked, too."""
    start = writer().phase("main").major(APP, 8 * PAGE).major(OTHER, 0).major(APP, 4 * PAGE)
    start.major(APP, 6 * PAGE)
    found = seen(start)
    assert "".join(found.kind) == "FMFMFMFM"
    assert found.backward.tolist() == [0, 0, 0, 0, 1, 1, 0, 0]


def test_without_fills_major_faults_stand_for_reads():
    """Who may not record fills still sees what goes backwards."""
    start = writer().phase("main").fault(APP, 8 * PAGE, major=1).fault(APP, 0, major=1)
    assert seen(start, fills=None).backward.tolist() == [0, 1]


def test_behind_the_data_its_last_page_is_bss():
    """Mapped whole, and cleared: what is written there is no section of the file. What is read
    there is."""
    start = FaultsWriter(plain_file("/app", sections=[(".data", 0, 100), (".comment", 100, 100)]))
    start.files[0]["segments"] = [{"address": 0, "offset": 0, "file_bytes": 100,
                                   "memory_bytes": 9999, "flags": "rw-"}]
    start.phase("main").fault(0, 150).fault(0, 150, access="w").fault(0, 50, access="w")
    assert seen(start).section == [".comment", ".bss", ".data"]
    assert causes(start) == ["constant", "data", "data"]


def test_events_have_their_section():
    """By the recording alone; what lies in none, or in no file, has none."""
    start = writer().phase("main").fault(APP, CODE).fault(APP, CODE + PAGE).fault(-1, -1)
    assert seen(start).section == [".text", "(no section)", ""]


def test_loaders_are_known_by_their_names():
    """glibc's and musl's; not a library whose name begins alike."""
    for name in ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1",
                 "ld-2.31.so", "ld64.so.2", "ld.so.1"):
        assert is_loader(f"/lib/{name}"), name
    for name in ("libldap.so.2", "ld", "ld.lld", "ldd"):
        assert not is_loader(f"/lib/{name}"), name


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
    json.dumps(found.cause.tolist())
