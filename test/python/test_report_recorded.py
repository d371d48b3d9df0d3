"""Recorded starts are files like any other: what is wrong in one is named, and nothing breaks."""

import json

import pytest
from faults_writer import PAGE, FaultsWriter, plain_file
from frontload.base.errors import EXIT_DATA, BadData
from frontload.report import recorded


def a_start() -> dict:
    writer = FaultsWriter(plain_file("/app", flags="r-x", sections=[(".text", 0, 5000)]),
                          plain_file("/x", before="9+2", after="1+2 9+2"))
    writer.phase("main").major(0, 5000, 3).fault(-1, -1, access="w")
    return writer.to_json()


def parsed(document) -> recorded.Recording:
    return recorded.parse(json.dumps(document).encode(), "start.json")


def test_a_start_is_read():
    """Names, columns and what was read of each file: by residency, else by fills."""
    start = parsed(a_start())
    assert start.variant == "app" and start.main == 0
    assert start.faults["major"].tolist() == [1, 0]
    assert start.reads[0].to_text(PAGE) == "1+3"  # fills: its residency is not known
    assert start.reads[1].to_text(PAGE) == "1+2"  # the rest was in memory before
    assert start.max_rss_bytes == 1000 * 1024
    start = parsed({**a_start(), "faults": None, "fills": None})  # were not recorded
    assert len(start.faults["file"]) == 0 and start.fills is None
    assert start.reads[0] is None and start.reads[1] is not None
    document = a_start()
    document["files"][1] |= {"size": 1 << 61, "before": "", "after": f"1+{1 << 48}"}
    assert parsed(document).reads[1].size == 1 << 60  # which needs no memory


def wrong(path: str, value) -> dict:
    """A start in which the value at a path is another one."""
    document = a_start()
    *parts, last = path.split(".")
    place = document
    for part in parts:
        place = place[int(part) if part.isdigit() else part]
    place[int(last) if last.isdigit() else last] = value
    return document


@pytest.mark.parametrize("path, value, message", [
    ("schema", "frontload-faults/2", "not a recorded start"),
    ("command", [], "command: is not a list of texts"),
    ("device", {}, "device.name: nothing is not a text"),
    ("variant", 7, "variant: 7 is not a text"),
    ("files", {}, "files: is not a list"),
    ("files.0", None, "files[0]: is not an object"),
    ("files.0.size", -1, "files[0].size: -1 is not a whole number"),
    ("files.0.size", True, "files[0].size: true is not a whole number"),
    ("files.0.page_size", 1000, "files[0].page_size: 1000 is not a page size"),
    ("files.1.after", "1+99", "files[1].after: the run 1+99 ends after the last of 64"),
    ("files.0.sections.0.name", None, "files[0].sections[0].name: nothing is not a text"),
    ("faults.file.1", 2, "faults.file[1]: 2 is not a whole number from -1 to 1"),
    ("faults.major.0", "1", 'faults.major[0]: "1" is not a whole number from -1 to 1'),
    ("faults.time_ns.0", 1 << 70, "faults.time_ns[0]: 1180591620717411303424 is not a whole"),
    ("faults.offset", [1], "faults.offset: has 1 rows, not the 2 of time_ns"),
    ("faults.access", "zz", "faults.access: is not a text of xrw?"),
    ("fills.bytes", None, "fills.bytes: is not a list"),
    ("fills", [], "fills: is not an object"),
    ("phases.0.process", 1, "phases[0].process: there is no process 1"),
])
def test_what_is_wrong_is_named(path, value, message):
    with pytest.raises(BadData) as failure:
        parsed(wrong(path, value))
    assert failure.value.message.startswith("start.json: ") and message in failure.value.message
    assert failure.value.code == EXIT_DATA


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_what_is_no_document_is_refused(data):
    with pytest.raises(BadData):
        recorded.parse(data, "start.json")
