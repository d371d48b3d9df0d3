"""The document of a report: what it says of starts, and that it always says it the same way."""

import copy
import json
import random

import pytest
from faults_writer import MS, PAGE, FaultsWriter, elf_file, places, plain_file
from frontload.base.errors import BadData, Failure
from frontload.report import measured, model, page, page_plan, recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from linking import link as link_by_frontload
from odd_names import NAMES, addresses, program_with

CPP = """
namespace app { struct Table { virtual int at(int x); };
__attribute__((noinline)) int Table::at(int x) { return x + 1; } }
int main(int argc, char **argv) { app::Table table; return table.at(argc) == 7; }
"""


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
    """Counts, bytes and runs; files that nobody needed are left out, the largest reads come
    first."""
    document = model.build([start(two_files())])
    variant = document["variants"][0]
    assert variant["summary"] == {
        "major_faults": 3, "minor_faults": 2, "read_bytes": 18 * PAGE, "read_runs": 3,
        "requests": None, "wall_ns": 100 * MS, "max_rss_bytes": 1024_000, "touched_bytes": None,
        "wasted_bytes": None, "density": None, "backward_reads": 1, "files_read": 2}
    assert [(file["path"], file["read"], file["major_faults"], file["minor_faults"])
            for file in variant["files"]] == [("/app", "4+8 20+8", 2, 1), ("/small", "0+2", 1, 0)]
    events = variant["events"]
    assert events["file"] == [1, 1, 0, 0, 0, 0, 0, -1] and events["kind"] == "FMFMFMmm"
    assert len({len(column) for column in events.values()}) == 1
    assert [(phase["name"], phase["major_faults"], phase["read_bytes"])
            for phase in variant["phases"]] == [("exec", 1, 2 * PAGE), ("main", 2, 16 * PAGE)]
    assert document["comparison"] is None and document["title"] == "app"


def test_without_single_faults_the_totals_count():
    """No fault was listed, as without perf: that is not the same as none."""
    writer = two_files(sample={"wall_ns": MS, "major_faults": 3, "minor_faults": 90})
    found = recorded.parse(writer.to_bytes(faults=None, fills=None), "start.json")
    variant = model.build([found])["variants"][0]
    assert variant["summary"]["major_faults"] == 3 and variant["summary"]["minor_faults"] == 90
    assert variant["summary"]["backward_reads"] is None
    assert all(file["major_faults"] is None for file in variant["files"])


def test_faults_that_were_counted_only_count():
    """Without root those taken in the kernel are not listed, such as the first of every program."""
    writer = two_files(recorder={"unlisted": {"major": 1, "minor": 18}})
    summary = model.build([start(writer)])["variants"][0]["summary"]
    assert summary["major_faults"] == 3 + 1 and summary["minor_faults"] == 2 + 18
    # A child that nobody waited for is listed, and the kernel's total is without it.
    writer = two_files(recorder={"unlisted": {"major": -1, "minor": 0}})
    assert model.build([start(writer)])["variants"][0]["summary"]["major_faults"] == 3


def test_a_device_of_its_own_is_told():
    """Times of a device that the kernel slowed down are not those of the machine."""
    writer = two_files(device={"name": "hdd", "description": "a disk", "read_ahead_kib": 128})
    assert model.build([start(writer)])["variants"][0]["device"] == (
        "hdd: a disk, readahead 128 KiB")
    with pytest.raises(BadData, match=r"device\.name: nothing is not a text"):
        start(two_files(device={}))


def test_variants_are_compared_with_the_first():
    """Ratios and differences of every figure that both have."""
    after = FaultsWriter(plain_file("/app", 100 * PAGE, before="", after=""), variant="after")
    after.major(0, 0, pages=9)
    document = model.build([start(two_files()), start(after)])
    found = document["comparison"]["variants"]
    assert [each["variant"] for each in found] == [1]
    assert found[0]["ratios"]["read_bytes"] == 0.5 and found[0]["ratios"]["major_faults"] == 0.3333
    assert found[0]["differences"]["read_bytes"] == -9 * PAGE
    assert found[0]["ratios"]["touched_bytes"] is None
    assert found[0]["ratios"]["backward_reads"] == 0


def test_names_are_as_people_wrote_them(tmp_path, link, llvm):
    """Symbols of C++ are demangled; who touched is told, too."""
    program = link("-lstdc++", source=CPP, flags=("-xc++",))
    file = elf_file(llvm, program.path)
    text = next(each for each in file["sections"] if each["name"] == ".text")
    place = {name: program.addresses[name] - text["address"] + text["offset"]
             for name in ("_ZN3app5Table2atEi", "main")}
    writer = FaultsWriter(file, command=(str(program.path),)).phase("main")
    writer.fault(0, place["_ZN3app5Table2atEi"], access="x", code=(0, place["main"]))
    variant = model.build([start(writer)])["variants"][0]
    events = variant["events"]
    assert variant["symbols"][events["symbol"][0]] == "app::Table::at(int)"
    assert variant["symbols"][events["by"][0]] == "main"
    assert variant["section_names"][events["section"][0]] == ".text"


def test_odd_names_reach_the_page_as_text(tmp_path, llvm):
    """Each function that was faulted in has its own name, also among mangled ones that are two
    lines; the page has nothing of them that would be markup."""
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


def test_another_file_at_the_path_is_not_taken_for_it(link, llvm):
    """Its names would be wrong: the build-id decides."""
    program = link()
    file = elf_file(llvm, program.path, build_id="00" * 20)
    missing = model.build([start(FaultsWriter(file, command=(str(program.path),)))])
    assert "is not the file that was recorded" in missing["variants"][0]["missing"][0]["why"]


def test_what_was_lost_is_told():
    """The recorder's own complaints come first."""
    writer = two_files(missing=[{"what": "fills", "why": "no", "remedy": ""}],
                       recorder={"lost": 7})
    missing = model.build([start(writer)])["variants"][0]["missing"]
    assert missing[0]["what"] == "fills" and "lost 7 of them" in missing[1]["why"]


def test_starts_have_to_be_of_one_kind_of_machine():
    """Pages of several sizes cannot be drawn side by side; no start is no report."""
    other = FaultsWriter(plain_file("/app", page_size=16384))
    with pytest.raises(Failure, match="different page sizes"):
        model.build([start(two_files()), start(other)])
    with pytest.raises(Failure, match="no recorded start"):
        model.build([])


def test_the_same_start_makes_the_same_bytes():
    """Whatever the order of the events of the recording."""
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


@settings(max_examples=300)
@given(st.data())
def test_any_recording_makes_a_document_or_a_message(data):
    """What passes the checks of the reader breaks nothing behind it; the document is JSON that
    browsers read, too."""
    document = two_files().to_json()
    path = data.draw(st.sampled_from([path for path in places(document) if path]))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = data.draw(st.sampled_from(
        [None, -1, 0, 1, 4096, 1 << 61, float("nan"), "", "\0", "\ud800", "r-x", "2+1", [], {},
         {"name": "x", "offset": 1 << 61, "size": 1 << 61, "address": 0}]))
    try:
        found = model.build([recorded.parse(json.dumps(document).encode(), "start.json")])
    except Failure:
        return
    json.loads(model.dump(found), parse_constant=lambda name: pytest.fail(name))


MEASURED = {"schema": "frontload-measure/2", "results": [
    {"variant": "a", "condition": "cold", "label": "cold", "runs": [{"very": "long"}],
     "figures": {"wall_ns": {"median": 1.5, "low": None, "outliers": [3]}}}],
    "comparisons": [{"condition": "cold", "variant": "b", "base": "a", "figure": "wall_ns",
                     "estimate": 0.5, "low": 0.4, "high": None, "more": 1}],
    "costs": [{"condition": "cold", "variant": "a", "figure": "wall_ns", "estimate": 9.0,
               "low": 8.0, "high": 10, "excess": None},
              {"condition": "cold", "variant": "b", "figure": "wall_ns", "estimate": 5.0,
               "low": 4.0, "high": 6, "excess": {"base": "a", "estimate": -4, "low": -5,
                                                 "high": -3}}]}
PREDICTED = {"schema": "frontload-predict/1", "predictions": [
    {"trace": "t", "touches": 1, "devices": {"hdd": {"major_faults": 7, "seconds": 0.5}}}]}


def test_measurements_and_predictions_come_along():
    """Their figures, without the single runs."""
    assert measured.measured(MEASURED, "m.json") == {
        "results": [{"variant": "a", "condition": "cold", "label": "cold",
                     "figures": MEASURED["results"][0]["figures"]}],
        "comparisons": [{"condition": "cold", "variant": "b", "base": "a", "figure": "wall_ns",
                         "estimate": 0.5, "low": 0.4, "high": None}],
        "costs": MEASURED["costs"]}
    assert measured.predicted(PREDICTED, "a", "p.json") == [
        {"variant": "a", "trace": "t", "devices": {"hdd": {"major_faults": 7, "seconds": 0.5}}}]


def test_predictions_of_several_variants_are_told_apart():
    """By their names; a single one need not have the same name."""
    each = PREDICTED["predictions"][0]
    both = {**PREDICTED, "predictions": [{**each, "variant": "a"},
                                         {**each, "variant": "b", "trace": "u"}]}
    assert [row["trace"] for row in measured.predicted(both, "b", "p.json")] == ["u"]
    one = {**PREDICTED, "predictions": both["predictions"][1:]}
    assert [row["variant"] for row in measured.predicted(one, "c", "p.json")] == ["c"]
    with pytest.raises(BadData, match="no prediction for the variant 'c'"):
        measured.predicted(both, "c", "p.json")


COST = {"major_faults": 9, "requests": 10, "asked_requests": 0, "read_bytes": 4096, "seconds": 2}
WAYS = {"as_it_is": COST, "list": {**COST, "seconds": 1.5}, "fronts": {**COST, "seconds": 0.5},
        "fronts_and_list": {**COST, "seconds": 0.25}}
PLAN = {"schema": "frontload-predict-starts/1", "devices": [{"name": "hdd"}],
        "starts": {"hdd": WAYS}, "files": [
            {"path": "/etc/x", "touched_bytes": 5000, "can_have_front": False,
             "devices": {"hdd": {**WAYS, "fronts_and_list": WAYS["list"]}}},
            {"path": "/lib/libfoo.so", "lists": 1, "touched_bytes": 1000, "can_have_front": True,
             "devices": {"hdd": WAYS}}]}


def changed(value: dict, path: list, to: object) -> dict:
    """The same with something else at a place of it."""
    found = json.loads(json.dumps(value))
    inside = found
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = to
    return found


def test_a_plan_says_what_to_mend():
    """The file first that gains most by both; what is no ELF file gains nothing by a front."""
    document = {"plan": measured.planned(PLAN, "p.json")}
    devices, rows = page_plan.starts(document)
    assert devices == ["hdd"]
    assert [(row["way"], row["cells"][0]["time"]) for row in rows] == [
        ("as it is", "2.00 s"), ("with a list", "1.50 s"), ("with fronts", "500 ms"),
        ("with fronts and a list", "250 ms")]
    library, text = page_plan.files(document)
    assert (library["path"], library["list"], library["front"], library["both"]) == (
        "/lib/libfoo.so", "500 ms", "1.50 s", "1.75 s")
    assert (library["read"], library["wasted"]) == (4096, 3096)
    assert (text["path"], text["front"], text["wasted"]) == ("/etc/x", "", 0)
    assert page_plan.starts({"plan": None}) == ([], []) and page_plan.files({"plan": None}) == []


@pytest.mark.parametrize("path, to, message", [
    (["schema"], "frontload-predict/1", "does not have the schema"),
    (["devices"], [], "has no device"), (["starts"], {}, "starts lacks the device 'hdd'"),
    (["files", 1, "devices"], {"ssd": WAYS}, "files[1].devices lacks the device 'hdd'"),
    (["starts", "hdd", "list"], 1, "starts.hdd.list: is not an object"),
    (["starts", "hdd", "list", "requests"], -1, "requests: is not a whole number"),
    (["starts", "hdd", "list", "seconds"], None, "starts.hdd.list.seconds: is not a number"),
    (["files", 0, "devices", "hdd", "list", "seconds"], float("nan"),
     "files[0].devices.hdd.list.seconds: is not a number"),
    (["files", 0, "path"], 7, "files[0].path: is not a text")])
def test_wrong_plans_are_refused(path, to, message):
    with pytest.raises(BadData) as failure:
        measured.planned(changed(PLAN, path, to), "p.json")
    assert message in str(failure.value)


@pytest.mark.parametrize("document, message", [
    ([], "does not have the schema"),
    ({"schema": "frontload-measure/9"}, "does not have the schema"),
    ({**MEASURED, "results": 1}, "results: is not a list"),
    ({**MEASURED, "costs": [{**MEASURED["costs"][0], "excess": 1}]},
     "costs[0].excess: is not an object"),
    ({**MEASURED, "costs": [{**MEASURED["costs"][0], "excess": {"base": 1}}]},
     "costs[0].excess.base: is not a text"),
    ({**MEASURED, "results": [1]}, "results[0]: is not an object"),
    ({**MEASURED, "results": [{"figures": {}}]}, "results[0].variant: is not a text"),
    ({**MEASURED, "results": [{**MEASURED["results"][0], "figures": {"x": {"y": "<b>"}}}]},
     "results[0].figures.x.y: is not a number"),
    ({**MEASURED, "results": [{**MEASURED["results"][0], "figures": {"x": {"y": float("inf")}}}]},
     "results[0].figures.x.y: is not a number"),
])
def test_wrong_measurements_are_refused(document, message):
    """With the place in the file."""
    with pytest.raises(BadData) as failure:
        measured.measured(document, "m.json")
    assert message in failure.value.message and failure.value.message.startswith("m.json: ")
