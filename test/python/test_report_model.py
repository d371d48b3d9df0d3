"""The document of a report: what it says of starts, and that it always says it the same way."""

import copy
import json
import random

import pytest
from faults_writer import MS, PAGE, FaultsWriter, elf_file, places, plain_file
from frontload.base.errors import Failure
from frontload.report import model, page, recorded
from hypothesis import given
from hypothesis import strategies as st
from linking import link as link_by_frontload
from odd_names import NAMES, addresses, program_with


def start(writer: FaultsWriter, **changes) -> recorded.Recording:
    return recorded.parse(writer.to_bytes(**changes), "start.json")


def two_files(**changes) -> FaultsWriter:
    writer = FaultsWriter(
        plain_file("/small", 8 * PAGE, before="", after=""),
        plain_file("/app", 100 * PAGE, [(".text", 0, 50 * PAGE)], flags="r-x", before="", after=""),
        plain_file("/untouched", before="", after=""), command=("/app", "--x"), **changes)
    writer.phase("exec").major(0, 0, pages=2).phase("main").major(1, 20 * PAGE, pages=8)
    return writer.major(1, 4 * PAGE, pages=8).fault(1, 5 * PAGE).fault(-1, -1, access="w")


def test_a_variant_is_summed_up():
    document = model.build([start(two_files())])
    variant = document["variants"][0]
    assert variant["summary"] == {
        "major_faults": 3, "minor_faults": 2, "read_bytes": 18 * PAGE, "read_runs": 3,
        "requests": None, "wall_ns": 100 * MS, "max_rss_bytes": 1024_000, "touched_bytes": None,
        "wasted_bytes": None, "density": None, "backward_reads": 1, "files_read": 2, "blocks": None}
    assert [(file["path"], file["read"], file["major_faults"], file["minor_faults"])
            for file in variant["files"]] == [("/app", "4+8 20+8", 2, 1), ("/small", "0+2", 1, 0)]
    events = variant["events"]
    assert events["file"] == [1, 1, 0, 0, 0, 0, 0, -1] and events["kind"] == "FMFMFMmm"
    assert len({len(column) for column in events.values()}) == 1
    assert [(phase["name"], phase["major_faults"], phase["read_bytes"])
            for phase in variant["phases"]] == [("exec", 1, 2 * PAGE), ("main", 2, 16 * PAGE)]
    assert document["comparison"] is None and document["title"] == "app"
    writer = two_files(device={"name": "hdd", "description": "a disk", "read_ahead_kib": 128})
    (variant,) = model.build([start(writer)])["variants"]
    assert variant["device"] == "hdd: a disk, readahead 128 KiB"
    writer = two_files(device={"name": "", "description": "", "image": "squashfs:xz:16K"})
    (variant,) = model.build([start(writer)])["variants"]
    assert (variant["block_bytes"], variant["summary"]["blocks"]) == (4 * PAGE, 5)
    other = FaultsWriter(plain_file("/app", page_size=16384))
    assert model.build([start(other), start(two_files())])["page_size"] == PAGE


def test_without_single_faults_the_totals_count():
    """No fault was listed, as without perf: that is not the same as none."""
    writer = two_files(sample={"wall_ns": MS, "major_faults": 3, "minor_faults": 90})
    found = recorded.parse(writer.to_bytes(faults=None, fills=None), "start.json")
    variant = model.build([found])["variants"][0]
    assert variant["summary"]["major_faults"] == 3 and variant["summary"]["minor_faults"] == 90
    assert variant["summary"]["backward_reads"] is None
    assert all(file["major_faults"] is None for file in variant["files"])
    # Without root those taken in the kernel are only counted, as the first of every program.
    writer = two_files(recorder={"unlisted": {"major": 1, "minor": 18}})
    summary = model.build([start(writer)])["variants"][0]["summary"]
    assert summary["major_faults"] == 3 + 1 and summary["minor_faults"] == 2 + 18
    # A child that nobody waited for is listed, and the kernel's total is without it.
    writer = two_files(recorder={"unlisted": {"major": -1, "minor": 0}})
    assert model.build([start(writer)])["variants"][0]["summary"]["major_faults"] == 3


def test_variants_are_compared_with_the_first():
    after = FaultsWriter(plain_file("/app", 100 * PAGE, before="", after=""), variant="after")
    after.major(0, 0, pages=9)
    document = model.build([start(two_files()), start(after)])
    found = document["comparison"]["variants"]
    assert [each["variant"] for each in found] == [1]
    assert found[0]["ratios"]["read_bytes"] == 0.5 and found[0]["ratios"]["major_faults"] == 0.3333
    assert found[0]["differences"]["read_bytes"] == -9 * PAGE
    assert found[0]["ratios"]["touched_bytes"] is None
    assert found[0]["ratios"]["backward_reads"] == 0


def test_odd_names_reach_the_page_as_text(tmp_path, llvm):
    names = [*NAMES, b"_Z3onev\n", b"_Z3twov"]
    program, out = program_with(tmp_path, names), tmp_path / "app"
    link_by_frontload(out, program)
    file = elf_file(llvm, out)
    text = next(each for each in file["sections"] if each["name"] == ".text")
    writer, places = FaultsWriter(file, command=(str(out),)).phase("main"), addresses(out)
    for name in names:
        place = places[name] - text["address"] + text["offset"]
        writer.fault(0, place, access="x", code=(0, place))
    document = model.build([start(writer)])
    (variant,) = document["variants"]
    shown = [variant["symbols"][number] for number in variant["events"]["symbol"]]
    assert shown == [*(name.decode("utf-8", "backslashreplace") for name in NAMES), "_Z3onev\n",
                     "two()"]
    written = page.render(document).decode()
    assert not [bad for bad in ("<b>&", "\x1b", "\u202e", "new\nline") if bad in written]
    assert "<b>&\"'" in json.loads(model.dump(document))["variants"][0]["symbols"]


def test_a_program_elsewhere_is_found_by_its_build_id(tmp_path, link, llvm):
    """What was recorded on another device: the caller says where it is, or names are missing."""
    program = link()
    writer = FaultsWriter(elf_file(llvm, program.path, path="/mnt/gone/app"),
                          command=("/mnt/gone/app",)).fault(0, 0)
    missing = model.build([start(writer)])["variants"][0]["missing"]
    assert "names of functions" in missing[-1]["what"] and "/mnt/gone/app" in missing[-1]["why"]
    found = model.build([start(writer)], binaries=[program.path])["variants"][0]["missing"]
    assert [each["what"] for each in found] == ["touched bytes, and so what was read for nothing"]
    other = link("-no-pie", name="other")
    with pytest.raises(Failure, match="other: is not among the recorded files"):
        model.build([start(writer)], binaries=[other.path])
    # Another file at the path is not taken for it.
    file = elf_file(llvm, program.path, build_id="00" * 20)
    writer = FaultsWriter(file, command=(str(program.path),), recorder={"lost": 7})
    missing = model.build([start(writer)])["variants"][0]["missing"]
    assert "lost 7 of them" in missing[0]["why"]
    assert "is not the file that was recorded" in missing[1]["why"]


def test_the_same_start_makes_the_same_bytes():
    document = two_files().to_json()
    again = copy.deepcopy(document)
    for table in ("faults", "fills"):
        order = list(range(len(again[table]["time_ns"])))
        random.Random(1).shuffle(order)
        for name, column in again[table].items():
            shuffled = [column[place] for place in order]
            again[table][name] = "".join(shuffled) if name == "access" else shuffled
    first, second = (model.dump(model.build([recorded.parse(json.dumps(each).encode(), "x")]))
                     for each in (document, again))
    assert first == second


@given(st.data())
def test_any_recording_makes_a_document_or_a_message(data):
    document = two_files().to_json()
    path = data.draw(st.sampled_from([path for path in places(document) if path]))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = data.draw(st.sampled_from(
        [None, True, -1, 0, 1, 4096, 1 << 61, 1 << 64, 0.5, float("nan"), "", "\0", "\ud800", "r-x",
         "2+1", [], [0], {}, {"name": "x", "offset": 1 << 61, "size": 1 << 61, "address": 0}]))
    try:
        found = model.build([recorded.parse(json.dumps(document).encode(), "start.json")])
    except Failure:
        return
    json.loads(model.dump(found), parse_constant=lambda name: pytest.fail(name))
