"""The trace reader: what the format says is read, what is damaged is refused with its offset."""

import os
import tracemalloc

import pytest
from frontload.base.errors import BadData, Failure
from frontload.profile import trace
from hypothesis import given
from hypothesis import strategies as st
from trace_writer import BLOCK, CODE, DATA, TraceWriter


def events(read: trace.Trace) -> list[tuple[str, int, int]]:
    return [(read.modules[owner].path, int(kind), int(address))
            for owner, kind, address in zip(read.owners, read.kinds, read.addresses, strict=True)]


@pytest.mark.parametrize("order", ["<", ">"])
def test_events_are_read_in_order_in_both_byte_orders(tmp_path, order):
    """A trace gives its events in stream order, whatever the byte order of its machine."""
    writer = TraceWriter(order).module(1, "/bin/app", b"\x12" * 20)
    writer.event(0x5000).event(0x4010, kind=DATA).event(0x4000, kind=BLOCK)
    writer.event(0x4025, kind=CODE)
    read = trace.read(writer.write(tmp_path / "t"))
    assert events(read) == [("/bin/app", 1, 0x5000), ("/bin/app", 2, 0x4010),
                            ("/bin/app", 3, 0x4000), ("/bin/app", 4, 0x4025)]
    assert read.main == trace.Module("/bin/app", b"\x12" * 20, True)


def test_holes_and_the_empty_tail_are_passed_over(tmp_path):
    """Empty slots, in the middle or to the end of the file, are no events."""
    writer = TraceWriter().hole(2).module(1, "/bin/app").hole().event(1).hole(3).event(2).hole(100)
    assert [event[2] for event in events(trace.read(writer.write(tmp_path / "t")))] == [1, 2]


def test_a_large_hole_costs_no_memory(tmp_path):
    """A sparse file of 256 MB is read in a small part of that memory."""
    path = TraceWriter().module(1, "/m").event(1).write(tmp_path / "t", next_slot=1 << 24)
    os.truncate(path, 128 + (1 << 28))
    tracemalloc.start()
    assert len(trace.read(path).kinds) == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 25


def test_slots_behind_next_slot_are_not_read(tmp_path):
    """What lies behind the claimed slots does not count."""
    path = TraceWriter().module(1, "/m").event(1).event(2).write(tmp_path / "t", next_slot=3)
    assert [event[2] for event in events(trace.read(path))] == [1]


def test_a_module_may_be_recorded_after_its_first_event(tmp_path):
    """Two threads may write an event and its module record in the wrong order."""
    path = TraceWriter().event(7).module(1, "/bin/app").write(tmp_path / "t")
    assert events(trace.read(path)) == [("/bin/app", 1, 7)]


def test_records_of_the_same_file_are_united(tmp_path):
    """A library that was loaded twice is one module; with another build-id it is another."""
    writer = TraceWriter().module(1, "/bin/app")
    for number, identity in ((2, b"a" * 20), (3, b"a" * 20), (4, b"b" * 20)):
        writer.module(number, "/lib.so", identity, main=False).event(number, number)
    read = trace.read(writer.write(tmp_path / "t"))
    assert [(module.path, module.main) for module in read.modules] == [
        ("/bin/app", True), ("/lib.so", False), ("/lib.so", False)]
    assert read.owners.tolist() == [1, 1, 2]


def test_events_of_an_incomplete_module_are_counted_and_left_out(tmp_path):
    """A module record that its writer did not finish is skipped, with the events that name it."""
    writer = TraceWriter().module(1, "/bin/app").event(1).module(2, "/lib.so", complete=False)
    read = trace.read(writer.event(2, 2).event(3, 9).event(4).write(tmp_path / "t"))
    assert [event[2] for event in events(read)] == [1, 4]
    assert read.ownerless == 2


def test_bytes_of_a_path_are_not_taken_for_records(tmp_path):
    """A path may hold bytes that look like events or module records."""
    evil = b"/" + b"\x01" * 40 + b"\x80" * 60
    read = trace.read(TraceWriter().module(1, evil).event(5).write(tmp_path / "t"))
    assert [event[2] for event in events(read)] == [5] and read.ownerless == 0
    assert os.fsencode(read.main.path) == evil


def test_record_kinds_of_a_newer_minor_version_are_skipped(tmp_path):
    """Within a major version, kinds that are not known are one slot and mean nothing."""
    writer = TraceWriter().module(1, "/m").event(1, kind=0x42).event(2)
    assert [event[2] for event in events(trace.read(writer.write(tmp_path / "t", minor=7)))] == [2]


def test_a_full_trace_may_claim_slots_that_it_dropped(tmp_path):
    """next_slot may lie behind the end of the file by the events that were dropped."""
    path = TraceWriter().module(1, "/m").event(1).write(tmp_path / "t", next_slot=8, dropped=5)
    read = trace.read(path)
    assert (len(read.kinds), read.dropped) == (1, 5)


def test_a_recorder_may_be_killed_before_it_made_room(tmp_path):
    """A file of whole pages is readable also if a slot was claimed that it has no room for."""
    writer = TraceWriter().module(1, "/m").event(1)
    path = writer.hole((4096 - 128) // 16 - len(writer.slots)).event(2).write(tmp_path / "t")
    os.truncate(path, 4096)
    assert len(trace.read(path).kinds) == 1


GOOD = TraceWriter().module(1, "/bin/app", b"i" * 20).event(1).event(2)


@pytest.mark.parametrize(("what", "header", "offset"), [
    ("wrong magic", {"magic": b"\x89FLT\n\x1a\n\0"}, 0),
    ("byte order 3", {"byte_order": 3}, 8),
    ("word size 5", {"word_size": 5}, 9),
    ("trace format 2 is not 1", {"major": 2}, 12),
    ("header size 64", {"header_size": 64}, 16),
    ("truncated inside its header of 4096", {"header_size": 4096}, len(GOOD.to_bytes())),
    ("slot size 32", {"slot_size": 32}, 20),
    ("truncated: it has 5 of 6 slots", {"next_slot": 6}, len(GOOD.to_bytes())),
])
def test_a_bad_header_is_refused(tmp_path, what, header, offset):
    """Each header field that cannot be right is refused, with its offset."""
    with pytest.raises(BadData) as caught:
        trace.read(GOOD.write(tmp_path / "t", **header))
    assert what in caught.value.message and f"(at byte {offset})" in caught.value.message
    assert caught.value.code == 65


def test_a_trace_cut_anywhere_is_refused(tmp_path):
    """However much is missing at the end, the cut is noticed."""
    path = tmp_path / "t"
    for size in range(1, len(GOOD.to_bytes())):
        path.write_bytes(GOOD.to_bytes()[:size])
        with pytest.raises(BadData, match=r"truncated|not a trace"):
            trace.read(path)


def raw_module(slots: int, path_size: int, given: int) -> TraceWriter:
    """A module record that says it has `slots` slots and has `given`."""
    word = 0x80 << 56 | 1 << 48 | slots << 16 | path_size
    first = word.to_bytes(8, "little") + (1).to_bytes(8, "little")
    return TraceWriter(slots=[first] + [b"x" * 16] * (given - 1))


def test_a_cut_in_the_empty_tail_is_refused(tmp_path):
    """A file that is not made of whole slots was cut, also where nothing was recorded yet."""
    path = TraceWriter().module(1, "/m").event(1).hole(9).write(tmp_path / "t", next_slot=3)
    os.truncate(path, path.stat().st_size - 5)
    with pytest.raises(BadData, match="truncated inside slot 11"):
        trace.read(path)


@pytest.mark.parametrize(("what", "writer"), [
    ("recorded twice", TraceWriter().module(1, "/a").module(1, "/b")),
    ("has no path", TraceWriter().module(1, "", b"i" * 20)),
    ("module record of 3 slots", raw_module(slots=3, path_size=4, given=3)),
    ("runs past the end", raw_module(slots=3, path_size=32, given=2)),
])
def test_a_bad_module_record_is_refused(tmp_path, what, writer):
    """Module records that contradict themselves or each other are refused."""
    with pytest.raises(BadData, match=what):
        trace.read(writer.write(tmp_path / "t"))


def test_a_folder_or_a_missing_file_is_no_trace(tmp_path):
    """What cannot be opened is a usage error that names the path."""
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(Failure, match=str(path)) as caught:
            trace.read(path)
        assert caught.value.code == 2


def test_an_empty_file_is_refused(tmp_path):
    """A file of no bytes is bad data, with a remedy."""
    (tmp_path / "t").touch()
    with pytest.raises(BadData, match="is empty") as caught:
        trace.read(tmp_path / "t")
    assert "record again" in caught.value.note


@given(st.binary(max_size=400), st.integers(0, 40))
def test_random_slots_never_crash_the_reader(tmp_path_factory, slots, next_slot):
    """Any bytes behind a good header give a trace or BadData."""
    path = tmp_path_factory.mktemp("t") / "t"
    path.write_bytes(TraceWriter().to_bytes(next_slot=next_slot) + slots)
    try:
        read = trace.read(path)
    except BadData:
        return
    assert len(read.kinds) == len(read.addresses) == len(read.owners)
    assert all(0 <= owner < len(read.modules) for owner in read.owners)


@given(st.data())
def test_a_damaged_trace_never_crashes_the_reader(tmp_path_factory, data):
    """A good trace with some bytes changed gives a trace or BadData."""
    damaged = bytearray(GOOD.to_bytes())
    for position in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=4)):
        damaged[position] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("t") / "t"
    path.write_bytes(damaged)
    try:
        trace.read(path)
    except BadData as problem:
        assert str(path) in problem.message


def test_the_role_of_a_process_is_read(tmp_path):
    """A trace says its role since 1.3; in an older one these bytes mean nothing."""
    writer = TraceWriter().module(1, "/app").event(1)
    assert trace.read(writer.write(tmp_path / "t", minor=3, role=b"renderer")).role == "renderer"
    assert trace.read(writer.write(tmp_path / "t", minor=3)).role == ""
    assert trace.read(writer.write(tmp_path / "t", minor=2, role=b"renderer")).role == ""


def test_a_role_that_is_just_being_changed_is_read(tmp_path):
    """What a longer role has left behind the zero does not count."""
    path = TraceWriter().module(1, "/app").write(tmp_path / "t", minor=3, role=b"tab\0process")
    assert trace.read(path).role == "tab"


@pytest.mark.parametrize("role", [b"two words", b"\x1b[31m", b"\xc3\xa9", b"x" * 32])
def test_what_cannot_be_a_role_is_refused(tmp_path, role):
    """It would be shown on a terminal."""
    path = TraceWriter().module(1, "/app").write(tmp_path / "t", minor=3, role=role)
    with pytest.raises(BadData, match=r"not a role.*\(at byte 64\)"):
        trace.read(path)
