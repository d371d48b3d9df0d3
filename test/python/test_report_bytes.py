"""Where the bytes went: what was read, touched and wasted, by section, function and object."""

from pathlib import Path

import pytest
from faults_writer import PAGE, FaultsWriter, elf_file, plain_file
from frontload.base.errors import Failure
from frontload.base.spans import Spans
from frontload.report import accounting, model, recorded
from frontload.report.places import Places
from hypothesis import given
from hypothesis import strategies as st
from trace_writer import CODE, DATA, TraceWriter

SIZE = 40
spans = st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)), max_size=6).map(
    lambda pairs: Spans([min(pair) for pair in pairs], [max(pair) for pair in pairs]))
# Sections as a damaged file may have them: over each other, and behind the end of the file.
sections = st.lists(st.tuples(st.sampled_from(["a", "b", "(no section)"]), st.integers(0, SIZE + 5),
                              st.integers(0, SIZE)), max_size=6)


@given(sections, spans, spans)
def test_the_bytes_add_up(given_sections, read, touched):
    file = recorded.parse(FaultsWriter(plain_file("/app", SIZE, given_sections)).to_bytes(),
                          "start.json").files[0]
    rows = accounting.rows(Places(file), read, touched)
    assert sum(row.read for row in rows) == read.size
    assert sum(row.touched for row in rows) == touched.size
    assert sum(row.wasted for row in rows) == (read - touched).size
    for row in rows:
        assert 0 <= row.wasted <= row.read <= row.size
        assert row.wasted >= row.read - row.touched
        assert row.density is None if not row.read else 0 <= row.density <= 1
    assert len({row.section for row in rows}) == len(rows)


def document(writer, **more) -> dict:
    return model.build([recorded.parse(writer.to_bytes(), "start.json")], **more)


@pytest.fixture
def started(tmp_path, link, llvm, tools):
    """started(program, name): the recording of a start that read all of the program."""

    def started(program, name="app") -> FaultsWriter:
        file = elf_file(llvm, program.path)
        file["after"] = f"0+{-(-file['size'] // PAGE)}"
        return FaultsWriter(file, command=(str(program.path),), variant=name)

    return started


def touched(folder: Path, program, *names, data=()) -> Path:
    """A trace in which the granules were touched where these symbols begin."""
    trace = TraceWriter().module(1, str(program.path), program.build_id)
    for name in names:
        trace.event(program.addresses[name], kind=CODE)
    for name in data:
        trace.event(program.addresses[name] // 16 * 16, kind=DATA)
    return trace.write(folder / "trace")


def test_touched_bytes_come_from_traces(tmp_path, link, started):
    """Granules of code and data, at their places in the file; and what the loader has to touch."""
    program = link()
    writer = started(program)
    writer.files.append(plain_file("/data", 50 * PAGE, before="", after="0+50"))
    trace = touched(tmp_path, program, "f1", data=["table"])
    found = document(writer, traces=[trace])["variants"][0]
    rows = {row["section"]: row for row in found["bytes"] if row["wasted"] is not None}
    assert rows[".rodata"]["touched"] == 16 and rows[".text"]["touched"] == 16
    assert rows[".text"]["wasted"] == rows[".text"]["read"] - 16
    assert rows[".rela.dyn"]["wasted"] == 0  # relocations are read, and nobody records that
    assert rows[".data.rel.ro"]["touched"] >= 8  # `pointer`, which is relocated
    wasted = sum(row["wasted"] for row in rows.values())
    assert found["summary"]["wasted_bytes"] == wasted < found["files"][0]["size"]
    assert found["files"][1]["touched_bytes"] == sum(row["touched"] for row in rows.values())


def test_another_build_is_understood_by_names(tmp_path, link, started):
    old = link(name="old")
    new = link("-Wl,--image-base=0x400000", "-no-pie", name="new",
               source="int more(int x) { return x + 1; }" + (tmp_path / "old.c").read_text())
    old.addresses["nameless"] = old.addresses["_start"] + 0x100000
    old.addresses["f1 again"] = old.addresses["f1"] + 1  # in the same granule
    trace = touched(tmp_path, old, "f1", "f1 again", data=["nameless"])
    variant = document(started(new, "new"), traces=[trace])["variants"][0]
    text = next(row for row in variant["bytes"] if row["section"] == ".text")
    assert 0 < text["touched"] <= 32
    assert "16 of the touched bytes" in variant["missing"][-1]["what"]


def test_waste_is_told_by_function_datum_and_object(tmp_path, link, started):
    """What was read and not touched, most first; objects by the map of the link."""
    program = link("-Wl,-Map=app.map")
    waste = document(started(program), traces=[touched(tmp_path, program, "main")],
                     maps=[tmp_path / "app.map"])["variants"][0]["waste"]
    for rows in waste.values():
        assert [row["wasted"] for row in rows] == sorted((row["wasted"] for row in rows),
                                                         reverse=True)
        assert all(row["wasted"] == row["read"] - row["touched"] > 0 for row in rows)
    functions = {row["name"]: row for row in waste["functions"]}
    assert functions["helper"]["section"] == ".text" and functions["helper"]["object"] == "app.o"
    table = next(row for row in waste["data"] if row["name"] == "table")
    assert (table["section"], table["size"], table["wasted"]) == (".rodata", 64, 64)
    assert "app.o" in {row["name"] for row in waste["objects"]}


def test_each_map_is_used_where_it_fits(tmp_path, link, started):
    """One map may be of one variant, and one of another; one that is of none is refused."""
    program, other = link(), link("-Wl,-Map=other.map", "-no-pie", name="other")
    trace = program.trace(tmp_path / "trace", "main")
    starts = [recorded.parse(started(each, each.path.name).to_bytes(), "start.json")
              for each in (program, other)]
    found = model.build(starts, traces=[trace], maps=[tmp_path / "other.map"])["variants"]
    assert not found[0]["waste"]["objects"] and found[1]["waste"]["objects"]
    wasted = {row["name"] for row in found[0]["waste"]["functions"]}
    assert "f1" in wasted and "main" not in wasted  # which count whole: no data was recorded
    with pytest.raises(Failure, match=r"other\.map: is not the map of any of these programs"):
        model.build(starts[:1], traces=[trace], maps=[tmp_path / "other.map"])
