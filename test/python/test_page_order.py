"""The order of first touch that perf's faults give to the pages of a sample."""

import numpy as np
from frontload.profile.sample import PageSample, TouchedPages
from frontload.profile.trace import Module
from frontload.recording.page_order import PageOrder
from frontload.tracing.perf_records import Comm, Fault, Fork, Mapping

PATH = "/usr/bin/app"


def mapped(pid, start, offset=0, path=PATH, size=0x100000):
    return Mapping(pid, pid, 0, start, size, offset, (8, 1), 4711, "r-xp", path)


def fault(pid, address):
    return Fault(pid, pid, 1, False, address, 0, False)


def ordered(records, *pages, pid=7):
    sample = PageSample("", [Module(PATH, b"", True)],
                        [TouchedPages(np.array(pages), True, False)], 4096, pid, 1, False, "")
    (touched,) = PageOrder(records, 4096).of(sample).touched
    return touched.pages.tolist(), touched.ordered


def test_pages_come_as_they_were_touched():
    """By their place in the file; what has no fault comes last."""
    records = [mapped(7, 0x10000), fault(7, 0x15123), fault(7, 0x12000), fault(7, 0x15008)]
    assert ordered(records, 1, 2, 5, 9) == ([5, 2, 1, 9], True)


def test_only_pages_of_the_sample_count():
    """perf also sees the faults that come after the start."""
    assert ordered([mapped(7, 0x10000), fault(7, 0x14000), fault(7, 0x12000)], 2, 3) == \
        ([2, 3], True)


def test_an_offset_in_the_file_and_another_file():
    """Addresses are looked up in what was mapped last."""
    records = [mapped(7, 0x10000, path="/other"), mapped(7, 0x10000, offset=0x3000),
               fault(7, 0x11000)]
    assert ordered(records, 1, 4) == ([4, 1], True)


def test_without_faults_there_is_no_order():
    """Nor of another process."""
    assert ordered([mapped(8, 0x10000), fault(8, 0x12000)], 1, 2) == ([1, 2], False)


def test_what_a_process_executes_begins_anew():
    """What it was before, and mapped then, is over."""
    records = [mapped(7, 0x10000), fault(7, 0x12000), Comm(7, 7, 0, "app", True),
               fault(7, 0x13000), mapped(7, 0x20000), fault(7, 0x21000)]
    assert ordered(records, 1, 2, 3) == ([1, 2, 3], True)


def test_a_forked_child_has_what_its_parent_mapped():
    """And faults of its own."""
    records = [mapped(7, 0x10000), fault(7, 0x11000), Fork(8, 8, 0, 7, 7), fault(8, 0x13000)]
    assert ordered(records, 1, 3, pid=8) == ([3, 1], True)
