"""frontload faults, without perf: how perf's records are read and put in order, and what a start
waits for."""

import fcntl
import os
import re
import struct
import sys
import termios
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from abilities import needs
from faults_writer import FaultsWriter, plain_file
from frontload.faults import phases, table
from frontload.faults.history import History
from frontload.faults.loading import LOADER_TELLS, MAIN, Loading, Milestone
from frontload.faults.table import section_at
from frontload.faults.waits import DISK, Threads
from frontload.tracing import perf_records, perf_script
from frontload.tracing.space import AddressSpace, Region
from hypothesis import given
from hypothesis import strategies as st

DATA = Path(__file__).parent / "data"
SECOND = 1_000_000_000
LONG = "a-library-that-is-called-by-a-long-name.so.22.1"
ODD = "/tmp/odd\ndir/with: PERF_RECORD_COMM/a b (deleted)"


def read(name: str) -> list[perf_records.Record]:
    with open(DATA / name, "rb") as text:
        return list(perf_records.parse(text))


@pytest.fixture
def history() -> History:
    return History().follow(read("perf-faults.txt"))


def test_what_is_no_head_of_a_record_belongs_to_the_name_before_it():
    """Each of ours has process and thread, and begins its line."""
    name = b"a\n 7 5.5: b\nx 8/8 5.5: c"
    (record,) = perf_records.parse(
        (b"  1/1  5.000000001: PERF_RECORD_COMM: " + name + b":1/1\n").splitlines(keepends=True))
    assert record.name == name.decode()


@pytest.mark.parametrize(("line", "has_name", "expected"), [
    (b" my app 5/6 [001] 12.5: 7 cycles:u: x", True, (5, 6, b"", 12_500_000_000)),
    (b" app -1 1.000000001: cycles: x", True, (None, -1, b"", 1_000_000_001)),
    (b"   5/6   K,M   0.000012: x", False, (5, 6, b"K,M", 12_000))])
def test_a_head_tells_whose_it_is_and_when(line, has_name, expected):
    """As far as --fields has it; the time has as many digits as perf was told to write."""
    assert perf_script.head(line, has_name=has_name)[:4] == expected
    assert perf_script.head(b"app" + line.strip(), has_name=False) is None


def test_requests():
    """Device, kind, sectors and the thread that issued it."""
    assert [(each.device, each.kind, each.sectors, each.tid)
            for each in read("perf-requests.txt")] == [
        ((7, 0), "RA", 256, 77), ((254, 0), "WS", 8, 80)]


@given(st.text(alphabet="0123456789abcx/:.,()[]@=- \n\tPERF_RECORD_MMAP2COMMFORKLOSTUK"))
def test_a_damaged_text_is_no_end(text):
    """What is no record is passed over, whatever it is."""
    start = "  1/1   U   5.000000001: "
    list(perf_records.parse(f"{line}\n".encode() for line in (text + start + text).split("\n")))


def test_the_tree_of_processes(history):
    """Threads belong to their process, children have an entry; the last name counts, and may hold
    anything."""
    assert [(image.pid, image.parent, image.name) for image in history.images] == [
        (101, None, "new\nname"), (103, 0, "a b:2/3 (x)")]
    assert history.zero == 5 * SECOND + 4000
    assert [image.end for image in history.images] == [5 * SECOND + 30000, 5 * SECOND + 28000]


def test_faults_and_fills(history):
    """What a child does before its exec is counted, not listed. Each fault has its file, offset,
    code and access; memory without a file has none. What became dirty outside of a fault was
    written, not read."""
    assert (history.before_exec, history.lost) == ({"major": 0, "minor": 1}, 3)
    faults, odd = history.faults, history.paths.index(ODD)
    assert [fault.major for fault in faults] == [True, False, False, False]
    assert [(fault.file, fault.offset) for fault in faults] == [
        (odd, 0x4018), (odd, 0x1040), (-1, -1), (odd, 0x1040)]
    assert [fault.address for fault in faults] == [0x404018, 0x401040, 0x7ffff7fc0008, 0x401040]
    assert [(fault.code_file, fault.code_offset) for fault in faults] == [
        (-1, -1), (odd, 0x1040), (odd, 0x1044), (odd, 0x1040)]
    assert [(fault.access, fault.kernel, fault.process, fault.thread) for fault in faults] == [
        ("w", True, 0, 101), ("x", False, 0, 101), ("?", False, 0, 102), ("x", False, 1, 103)]
    assert [(fill.file, fill.offset, fill.bytes, fill.written) for fill in history.fills] == [
        (odd, 0, 4 * 4096, False), (odd, 16384, 4096, True), (odd, 20480, 4096, False)]


def test_phases_of_a_static_program(history):
    """exec ends with the first instruction. Without breakpoints only exec is known."""
    loading = Loading(ODD, None, (Milestone(MAIN, ODD, 0x1139, 0x401139),))
    found = phases.find(history, loading, 6 * SECOND)
    assert [(phase.name, phase.start - 5 * SECOND, phase.end - 5 * SECOND)
            for phase in found.phases if phase.process == 0] == [
        ("exec", 4000, 17000), ("constructors", 17000, 23000), ("main", 23000, 30000)]
    assert [missing.what for missing in found.missing] == ["the phases loader and relocation"]
    assert [phase.name for phase in phases.find(history, None, 6 * SECOND).phases] == ["exec"]


@pytest.mark.parametrize(("twice", "relocation"), [(True, (30, 50)), (False, (10, 20))])
def test_when_the_loader_says_that_it_has_ended(twice, relocation):
    """glibc also says that it begins, so its second word counts; musl's first. Relocation begins
    with the last file that was mapped before; a file that becomes read-only is no new mapping."""
    def mapping(time, start, protection="r-xp", path="/ld"):
        return perf_records.Mapping(2, 2, time, start, 4096, 0, (1, 1), len(path), protection, path)

    records = [
        perf_records.Comm(1, 1, 0, "exec", True), perf_records.Fork(2, 2, 1, 1),
        perf_records.Comm(2, 2, 2, "app", True),
        mapping(3, 0x1000), mapping(4, 0x4000, path="/app"),
        perf_records.Fault(2, 2, 10, False, 0x1000, 0x1000, False),
        perf_records.Breakpoint(2, 2, 20, 0x1100),
        mapping(25, 0x2000, "rw-p", "/lib1"), mapping(30, 0x3000, "rw-p", "/lib22"),
        mapping(40, 0x2000, "r--p", "/lib1"),
        perf_records.Breakpoint(2, 2, 50, 0x1100), perf_records.Breakpoint(2, 2, 60, 0x4200),
        perf_records.Exit(2, 2, 70)]
    loading = Loading("/app", "/ld", (Milestone(LOADER_TELLS, "/ld", 0x100, 0x1100),
                                      Milestone(MAIN, "/app", 0x200, 0x4200)), tells_twice=twice)
    found = phases.find(History().follow(records), loading, 100)
    assert [phase.name for phase in found.phases] == [
        "exec", "loader", "relocation", "constructors", "main"]
    assert (found.phases[2].start, found.phases[2].end) == relocation
    assert found.missing == []


regions = st.builds(lambda start, size, offset, file: Region(start, start + size, offset, file,
                                                             False),
                    st.integers(0, 30), st.integers(1, 12), st.integers(0, 99), st.integers(-1, 4))


@given(st.lists(regions, max_size=12))
def test_later_mappings_hide_earlier_ones(mapped):
    """At every address the last mapping counts; a copy does not follow the original."""
    space, expected = AddressSpace(), {}
    for region in mapped:
        space.add(region)
        for address in range(region.start, region.end):
            expected[address] = ((region.file, region.offset + address - region.start)
                                 if region.file >= 0 else (-1, -1))
    other = space.copy()
    space.add(Region(0, 50, 0, 7, False))
    for address in range(-1, 50):
        assert other.place(address) == expected.get(address, (-1, -1))


def test_sections_by_offset():
    """Headers are in none. What is written behind the end of the data is .bss."""
    file = {"sections": [{"name": ".b", "offset": 50, "size": 10},
                         {"name": ".a", "offset": 10, "size": 20}], "page_size": 4096,
            "segments": [{"offset": 10, "file_bytes": 20, "memory_bytes": 99, "flags": "rw-"}]}
    assert [section_at(file, offset, written=False) for offset in (0, 10, 29, 30, 59, 60)] == [
        "(no section)", ".a", ".a", "(no section)", ".b", "(no section)"]
    assert [section_at(file, offset, written=True) for offset in (29, 30, 55, 4095, 4096)] == [
        ".a", ".bss", ".bss", ".bss", "(no section)"]


POLL, READ, FUTEX, UNKNOWN = 7, 0, 202, 9999


def followed(*told) -> Threads:
    """Of threads 1 and 2, which begin at 0: (time, thread, what, its argument)."""
    threads = Threads()
    threads.begin(1, 0, 0)
    threads.begin(2, 0, 0)
    kinds = {"enter": perf_records.Call, "exit": partial(perf_records.Call, number=None),
             "off": lambda pid, thread, time, state: perf_records.Switch(
                 pid, thread, time, state in "SDI", state == "D"),
             "end": perf_records.Exit,
             "page fault": partial(perf_records.Fault, major=False, address=0, code=0,
                                   kernel=False),
             "fill": partial(perf_records.Fill, device=(8, 1), inode=5, offset=0, order=0)}
    for time, thread, what, *more in told:
        threads.see(kinds[what](1, thread, time, *more))
    return threads


SECOND_SLEEPS = (1, 2, "enter", FUTEX), (1, 2, "off", "S")
SLEEPS = *SECOND_SLEEPS, (10, 1, "enter", POLL), (11, 1, "off", "S")


@needs("x86-64")  # the numbers of system calls are its
@pytest.mark.parametrize(("told", "expected"), [
    ([*SLEEPS, (90, 1, "exit")], [(11, 90, "poll")]),
    # The last wait has no end.
    (SLEEPS, []),
    # The other thread ends while it sleeps.
    ([*SLEEPS, (90, 2, "end")], [(11, 90, "futex")]),
    # A wait belongs to who ends it; the first sleeps on.
    ([*SLEEPS, (50, 2, "exit")], [(11, 50, "futex")]),
    # Threads that are not the command's are passed over.
    ([(5, 77, "enter", POLL), (6, 77, "off", "S"), (9, 77, "exit")], []),
    *(([*SECOND_SLEEPS, *rest, (90, 1, "exit")], expected) for rest, expected in [
        # It could have run on.
        ([(10, 1, "enter", POLL), (11, 1, "off", "R")], []),
        ([(10, 1, "enter", READ), (11, 1, "off", "D")], [(11, 90, DISK)]),
        ([(10, 1, "enter", READ), (11, 1, "fill"), (12, 1, "off", "S")], [(12, 90, DISK)]),
        ([(10, 1, "enter", READ), (12, 1, "off", "S")], [(12, 90, "read")]),
        ([(10, 1, "enter", UNKNOWN), (12, 1, "off", "S")], [(12, 90, "another system call")])]),
    # A page fault, which may be of a file on FUSE.
    ([*SECOND_SLEEPS, (11, 1, "off", "S"), (90, 1, "page fault")], [(11, 90, DISK)]),
])
def test_what_a_thread_waits_for(told, expected):
    """What was before the start is left out."""
    def waits(start: int) -> list[tuple[int, int, str]]:
        return [(wait.start, wait.end, wait.reason) for wait in followed(*told).waits(start)]

    assert waits(0) == expected and waits(90) == []


@needs("x86-64")
@given(st.lists(st.lists(st.integers(1, 5), max_size=12), min_size=1, max_size=4))
def test_waits_are_the_times_in_which_nobody_runs(lengths):
    """Compared with a count in steps: threads that run and sleep in turn, each for so long."""
    threads, told = Threads(), []
    asleep: dict[int, set[int]] = {}
    for thread, parts in enumerate(lengths):
        threads.begin(thread, 0, 0)
        now = 0
        asleep[thread] = set()
        for number, length in enumerate(parts):
            if number % 2 and number + 1 < len(parts):
                told += [perf_records.Switch(1, thread, 4 * now, True, True),
                         perf_records.Call(1, thread, 4 * (now + length), READ)]
                asleep[thread] |= set(range(now, now + length))
            now += length
    for record in sorted(told, key=lambda each: each.time):
        threads.see(record)
    found = {step for wait in threads.waits(0) for step in range(wait.start // 4, wait.end // 4)}
    assert found == set.intersection(*asleep.values())


def test_how_perf_tells_of_waits():
    """A command may be called as perf's own text is."""
    text = (b"5/6  1.000000001: raw_syscalls:sys_enter: NR 7 (1, 2, 3, 4, 5, 6)\n"
            b"5/6  1.000000002: sched:sched_switch: prev_comm=a prev_state=R prev_pid=6 "
            b"prev_prio=120 prev_state=D|K ==> next_comm=x prev_state=S y next_pid=0 next_prio=1\n"
            b"5/6  1.000000003: raw_syscalls:sys_exit: NR 7 = -4\n")
    enter, off, leave = perf_records.parse(text.splitlines(keepends=True))
    assert (enter.number, leave.number) == (7, None) and off.for_disk


@pytest.mark.parametrize(("columns", "shown"), [
    (80, ["  constructors  ", " a-library-that-is-called-by-a-long-name…  (no section)  ?",
          "also shows offsets and threads"]),
    (150, ["  constructors  ", f" {LONG}     0x5000  (no section)  ?  "])])
def test_a_terminal_breaks_no_word(monkeypatch, columns, shown):
    """What has no room is left out or cut, and no line is wider than the terminal."""
    recorded = FaultsWriter(plain_file(f"/usr/lib/{LONG}"),
                            variant="app").phase("constructors")
    recorded.fault(0, 0x5000, major=1).fault(-1, 0)
    sample = {"exit_status": 0, "signal": None, "major_faults": 1, "minor_faults": 1, "ready": None,
              "wall_ns": 10 ** 8, "max_rss_kib": 1000}
    document = recorded.to_json(
        sample=sample, recorder={"tool": "perf", "before_exec": {"major": 0, "minor": 13},
                                 "unlisted": {"major": 0, "minor": 0}},
        phases=[{**phase, "waits_ns": None} for phase in recorded.phases])
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", f"{columns}")
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        table.show(document, None)
    text = ""
    with suppress(OSError):  # the end of a terminal
        while part := os.read(ours, 4096):
            text += part.decode()
    os.close(ours)
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).splitlines()
    assert max(map(len, lines)) <= columns
    for each in shown:
        assert any(each in line for line in lines), text
