"""The reader of samples: what the format says is read, what is damaged is refused and told."""

import contextlib
import struct
import tracemalloc

import numpy as np
import pytest
from frontload.base.errors import BadData
from frontload.profile import sample
from frontload.profile.sample import PageSample, Slice, TouchedPages
from frontload.profile.trace import Module
from hypothesis import given
from hypothesis import strategies as st


def made(pages=(1, 2, 3, 9), *, ordered=False, exact=True, path="/usr/bin/app",
         part=None) -> PageSample:
    return PageSample("s", [Module(path, b"\x12" * 20, True)],
                      [TouchedPages(np.array(pages, np.int64), exact, ordered, part)], 4096, 7, 11,
                      False, "")


def header(body: bytes = b"", order="<", **fields) -> bytes:
    """A sample by hand, as frontload_sample_format.h declares it."""
    values = {"byte_order": 1 if order == "<" else 2, "end": 2, "machine": 62, "major": 1,
              "minor": 0, "header_size": 96, "size": 96 + len(body), "page_size": 4096, "pid": 7,
              "run": 11, "modules": 1, "forked": 0, "role": b""} | fields
    return struct.pack(order + "8sBBHHHIIIIQIB3x32s16x", b"\x89FLS\r\n\x1a\n",
                       *values.values()) + body


# The main program, exact; build-id ab; path /a; two ranges: pages 3 and 4, and 300.
BODY = bytes([3, 1, 0xab, 2, *b"/a", 2, 3, 2, 0xa7, 2, 1])


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_sample_byte_by_byte(order):
    """What the header of the format declares is what is read, in both byte orders."""
    read = sample.parse(header(BODY, order, role=b"tester", forked=1), "s")
    assert read.main == Module("/a", b"\xab", True)
    assert read.touched[0].pages.tolist() == [3, 4, 300]
    assert (read.touched[0].exact, read.touched[0].ordered) == (True, False)
    assert (read.pid, read.run, read.forked, read.role) == (7, 11, True, "tester")


def test_a_slice():
    """Of a file of which only some pages are told, it is said which."""
    body = bytes([10, 0, 1, ord("/"), 4, 3, 1, 1, 5, 2])
    told = sample.parse(header(body, major=2), "s").touched[0]
    assert told.part == Slice(stripe=4, count=3, number=1) and told.pages.tolist() == [5, 6]
    assert told.part.has(np.arange(17)).nonzero()[0].tolist() == [4, 5, 6, 7, 16]


def test_pages_in_order_of_first_touch():
    """Ordered ranges step back as well."""
    body = bytes([7, 0, 1, ord("/"), 3, 20, 1, 3, 1, 0, 2])
    assert sample.parse(header(body), "s").touched[0].pages.tolist() == [10, 9, 10, 11]


SLICES = st.none() | st.integers(2, 1000).flatmap(lambda count: st.builds(
    Slice, st.integers(1, 1 << 22), st.just(count), st.integers(0, count - 1)))


@given(st.lists(st.integers(0, 1 << 30), unique=True, max_size=60), st.booleans(), st.booleans(),
       SLICES)
def test_what_is_written_is_read(pages, ordered, exact, part):
    """A sample that Python writes has the same pages when it is read. Without slices, it is one
    that older readers know."""
    pages = pages if ordered else sorted(pages)
    pages = [page for page in pages if not part or part.has(page)]
    written = sample.to_bytes(made(pages, ordered=ordered, exact=exact, part=part))
    read = sample.parse(written, "s")
    assert written[12] == (2 if part else 1) and read.touched[0].part == part
    assert read.touched[0].pages.tolist() == pages
    assert (read.touched[0].ordered, read.touched[0].exact) == (ordered, exact)
    assert read.modules == made().modules


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(body):
    """Whatever follows a right header is a sample or bad data, soon."""
    with contextlib.suppress(BadData):
        sample.parse(header(body), "s")


@given(st.data())
def test_a_changed_byte_is_read_or_refused(data):
    """A sample of which one byte has changed is another sample or bad data."""
    whole = bytearray(header(BODY))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(BadData):
        sample.parse(bytes(whole), "s")


@pytest.mark.parametrize("size", range(96 + len(BODY)))
def test_a_cut_sample_is_refused(size):
    """However little is missing."""
    with pytest.raises(BadData):
        sample.parse(header(BODY)[:size], "s")


@pytest.mark.parametrize("content, said", [
    (b"", "is empty"),
    (b"hello", "not a sample: wrong magic"),
    (header(BODY, byte_order=3), "byte order 3 is neither 1 (little) nor 2 (big)"),
    (header(BODY, major=0), "sample format 0 is none of 1 to 2, which this frontload reads"),
    (header(BODY, major=3), "sample format 3 is none of 1 to 2, which this frontload reads"),
    (header(bytes([8, 0, 1, ord("/"), 0, 2, 0, 0])), "slice 0 of 2, in stripes of 0 pages"),
    (header(bytes([8, 0, 1, ord("/"), 1, 1, 0, 0])), "slice 0 of 1, in stripes of 1 page"),
    (header(bytes([8, 0, 1, ord("/"), 4, 2, 2, 0])), "slice 2 of 2, in stripes of 4 pages"),
    (header(bytes([8, 0, 1, ord("/"), 4, 2, 1, 1, 3, 2])), "pages of another slice"),
    (header(BODY, size=4711), "truncated: it has 108 of 4711 bytes"),
    (header(BODY + b"x", size=108), "has 109 of 108 bytes"),
    (header(BODY, page_size=5000), "pages of 5000 bytes"),
    (header(BODY, page_size=0), "pages of 0 bytes"),
    (header(BODY, header_size=4), "a header of 4 bytes in a sample of 108"),
    (header(BODY, role=b"two words"), "its role is"),
    (header(BODY + b"x"), "more behind its last file"),
    (header(BODY, modules=2), "ends inside a number"),
    (header(bytes([1, 200, 1, 1])), "a build-id of 200 bytes, of which 1 are there"),
    (header(bytes([1, 0, 0, 0])), "a file without a path"),
    (header(bytes([1, 0, 1, ord("/"), 1, 5, 0])), "a range of 0 pages from page 5 on"),
    (header(bytes([4, 0, 1, ord("/"), 1, 1, 1])), "a range of 1 page from page -1 on"),
    (header(b"\xff" * 12), "a number of more than 9 bytes")])
def test_what_cannot_be_is_refused(content, said):
    """The message says what is wrong."""
    with pytest.raises(BadData) as problem:
        sample.parse(content, "s")
    assert said in str(problem.value)


def test_a_range_of_all_pages_costs_no_memory():
    """A few bytes cannot ask for gigabytes."""
    body = bytes([1, 0, 1, ord("/"), 1, 0, *b"\xff\xff\xff\xff\xff\xff\x03"])
    tracemalloc.start()
    with pytest.raises(BadData):
        sample.parse(header(body), "s")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
