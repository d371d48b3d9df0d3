"""The trace reader: what the format says is read, what is damaged is refused with its offset."""

import os
import tracemalloc

import pytest
from frontload.base.errors import BadData, Failure
from frontload.profile import trace
from hypothesis import given
from hypothesis import strategies as st
from trace_writer import BLOCK, CODE, DATA, TraceWriter


@pytest.mark.parametrize("order", ["<", ">"])
def test_events_are_read_in_order_in_both_byte_orders(tmp_path, order):
    """A trace gives its events in stream order, whatever the byte order of its machine."""
    writer = TraceWriter(order).module(1, "/bin/app", b"\x12" * 20)
    writer.event(0x5000).event(0x4010, kind=DATA).event(0x4000, kind=BLOCK)
    writer.event(0x4025, kind=CODE)
    read = trace.read(writer.write(tmp_path / "t"))
    assert read.addresses.tolist() == [0x5000, 0x4010, 0x4000, 0x4025]
    assert (read.kinds.tolist(), read.owners.tolist()) == ([1, 2, 3, 4], [0] * 4)
    assert read.main == trace.Module("/bin/app", b"\x12" * 20, True)


def test_what_is_no_event_is_passed_over(tmp_path):
    """Empty slots, those behind next_slot, newer kinds, and a path that looks like records."""
    path = b"/" + b"\x01" * 40 + b"\x80" * 60
    writer = TraceWriter().hole(2).module(1, path).hole().event(1).hole(3).event(1, kind=0x42)
    slots = len(writer.event(2).slots)
    read = trace.read(writer.hole(9).event(3).write(tmp_path / "t", next_slot=slots, minor=7))
    assert read.addresses.tolist() == [1, 2] and read.ownerless == 0
    assert os.fsencode(read.main.path) == path


def test_a_large_hole_costs_no_memory(tmp_path):
    """A sparse file of 256 MB is read in a small part of that memory."""
    path = TraceWriter().module(1, "/m").event(1).write(tmp_path / "t", next_slot=1 << 24)
    os.truncate(path, 128 + (1 << 28))
    tracemalloc.start()
    assert trace.read(path).addresses.tolist() == [1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 25


def test_records_of_the_same_file_are_united(tmp_path):
    """A library that was loaded twice is one module; with another build-id it is another. One that
    its writer did not finish is none, and its events are counted."""
    writer = TraceWriter().event(7).module(1, "/bin/app")
    for number, identity in ((2, b"a" * 20), (3, b"a" * 20), (4, b"b" * 20)):
        writer.module(number, "/lib.so", identity, main=False).event(number, number)
    writer.module(5, "/lib.so", complete=False).event(5, 5).event(9, 9)
    read = trace.read(writer.write(tmp_path / "t"))
    assert (read.addresses.tolist(), read.ownerless) == ([7, 2, 3, 4], 2)
    assert [(module.path, module.main) for module in read.modules] == [
        ("/bin/app", True), ("/lib.so", False), ("/lib.so", False)]
    assert read.owners.tolist() == [0, 1, 1, 2]


def test_slots_that_a_recorder_had_no_room_for(tmp_path):
    """They were dropped, or it was killed before it made room: then the file has whole pages."""
    path = TraceWriter().module(1, "/m").event(1).write(tmp_path / "t", next_slot=8, dropped=5)
    read = trace.read(path)
    assert (len(read.kinds), read.dropped) == (1, 5)
    writer = TraceWriter().module(1, "/m").event(1)
    writer.hole((4096 - 128) // 16 - len(writer.slots)).event(2).write(path)
    os.truncate(path, 4096)
    assert trace.read(path).addresses.tolist() == [1]


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
    """However much is missing at the end, the cut is noticed, also in the empty tail."""
    path = tmp_path / "t"
    for size in range(1, len(GOOD.to_bytes())):
        path.write_bytes(GOOD.to_bytes()[:size])
        with pytest.raises(BadData, match=r"truncated|not a trace"):
            trace.read(path)
    TraceWriter().module(1, "/m").event(1).hole(9).write(path, next_slot=3)
    os.truncate(path, path.stat().st_size - 5)
    with pytest.raises(BadData, match="truncated inside slot 11"):
        trace.read(path)


def raw_module(slots: int, path_size: int, given: int) -> TraceWriter:
    """A module record that says it has `slots` slots and has `given`."""
    word = 0x80 << 56 | 1 << 48 | slots << 16 | path_size
    first = word.to_bytes(8, "little") + (1).to_bytes(8, "little")
    return TraceWriter(slots=[first] + [b"x" * 16] * (given - 1))


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


def test_what_is_no_file_of_a_trace_is_refused(tmp_path):
    """What cannot be opened is a usage error that names the path; an empty file is bad data."""
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(Failure, match=str(path)) as caught:
            trace.read(path)
        assert caught.value.code == 2
    (tmp_path / "t").touch()
    with pytest.raises(BadData, match="is empty") as caught:
        trace.read(tmp_path / "t")
    assert "record again" in caught.value.note


slots_behind_a_header = st.builds(
    lambda slots, number: TraceWriter().to_bytes(next_slot=number) + slots,
    st.binary(max_size=400), st.integers(0, 40))
changed_bytes = st.builds(
    lambda position, new: GOOD.to_bytes()[:position] + new + GOOD.to_bytes()[position + len(new):],
    st.integers(0, len(GOOD.to_bytes())), st.binary(max_size=4))


@given(slots_behind_a_header | changed_bytes)
def test_any_bytes_are_a_trace_or_refused(tmp_path_factory, damaged):
    """Behind a good header, or anywhere in a good trace."""
    path = tmp_path_factory.getbasetemp() / "damaged.fltrace"
    path.write_bytes(damaged)
    try:
        read = trace.read(path)
    except BadData as problem:
        assert str(path) in problem.message
        return
    assert len(read.kinds) == len(read.addresses) == len(read.owners)
    assert all(0 <= owner < len(read.modules) for owner in read.owners)


def test_the_role_of_a_process_is_read(tmp_path):
    """A trace says its role since 1.3; what would steer a terminal is none."""
    writer = TraceWriter().module(1, "/app").event(1)
    for minor, written, role in ((3, b"renderer", "renderer"), (3, b"", ""), (2, b"renderer", ""),
                                 (3, b"tab\0process", "tab")):
        assert trace.read(writer.write(tmp_path / "t", minor=minor, role=written)).role == role
    for role in (b"two words", b"\x1b[31m", b"\xc3\xa9", b"x" * 32):
        with pytest.raises(BadData, match=r"not a role.*\(at byte 64\)"):
            trace.read(writer.write(tmp_path / "t", minor=3, role=role))


def test_the_end_of_a_process_is_read(tmp_path):
    """A trace tells since 1.5 that its process failed; after a whole startup, that is no failure of
    the startup."""
    writer = TraceWriter().module(1, "/app").event(1)
    for minor, done, expected in (5, 0, True), (5, 1, False), (4, 0, False):
        path = writer.write(tmp_path / "t", minor=minor, done=done, failed=1)
        assert trace.read(path).failed is expected
