"""frontload predict of whole starts: prefetch lists, and what is said of their files."""

import json
import os
import sys

import numpy as np
import pytest
from abilities import needs
from bench_room import BENCH
from compiled import compile_to
from frontload.reading import listing, planning
from frontload.reading.listing import MAP, PAGE, READ, File, PrefetchList, Touch

pytestmark = pytest.mark.usefixtures("tools")
LIBRARY = File("/lib/libfoo.so", 1000 * PAGE, 1, "c0ffee")
DATA = File("/etc/foo", 3 * PAGE, 1)


def start(*pages: int, data: bool = True) -> PrefetchList:
    """A start that touches these pages of the library, and then the data file by read(2)."""
    found = PrefetchList(1, {LIBRARY: {page: Touch(rank, 1, MAP)
                                      for rank, page in enumerate(pages)}})
    if data:
        found.pages[DATA] = {page: Touch(len(pages) + page, 1, READ) for page in range(3)}
    return found


@pytest.fixture
def lists(tmp_path):
    """lists(start...): their files."""
    def lists(*starts: PrefetchList) -> list[str]:
        paths = []
        for number, each in enumerate(starts):
            path = tmp_path / f"{number}.files"
            path.write_bytes(listing.to_bytes(each))
            paths.append(str(path))
        return paths
    return lists


def test_pages_in_order_are_one_touch():
    found = PrefetchList(1, {DATA: {0: Touch(5, 1, READ), 1: Touch(6, 1, READ),
                                   2: Touch(2, 1, MAP)}})
    assert planning.touched(found, DATA) == [[2, 1, 0], [0, 2, 1]]


def test_all_ways_of_a_start(cli, lists):
    """What a list asks for faults nowhere; a front is for ELF files only."""
    (path,) = lists(start(*range(900, 0, -90)))
    document = json.loads(cli("predict", "--json=-", path).out)
    assert document["schema"] == "frontload-predict-starts/1"
    assert [each["name"] for each in document["devices"]] == ["hdd", "emmc", "ssd", "nfs", "lazy"]
    assert document["lists"] == [{"path": path, "weight": 1, "runs": 1, "files": 2,
                                  "touched_bytes": 13 * PAGE}]
    ways = document["starts"]["hdd"]
    assert {way: cost["major_faults"] for way, cost in ways.items()} == {
        "as_it_is": 10, "list": 0, "fronts": 1, "fronts_and_list": 0}
    assert ways["fronts_and_list"]["read_bytes"] == 13 * PAGE
    times = [ways[way]["seconds"] for way in ("as_it_is", "list", "fronts_and_list")]
    assert times == sorted(times, reverse=True)
    library, data = document["files"]
    assert (library["path"], library["can_have_front"]) == (LIBRARY.path, True)
    assert (data["path"], data["can_have_front"]) == (DATA.path, False)
    assert data["devices"]["hdd"]["fronts"] == data["devices"]["hdd"]["as_it_is"]
    assert data["devices"]["hdd"]["as_it_is"]["requests"] == 1


def test_seconds_are_of_what_is_waited_for():
    """A disk has to find each range of a list; others work on many requests at once."""
    cost = {"requests": 12, "asked_requests": 10, "asked_ranges": 5, "read_bytes": 1000}
    device = {"latency_seconds": 1, "bytes_per_second": 100, "parallel": 1}
    assert planning.seconds(cost, device) == 2 + 5 + 10
    assert planning.seconds(cost, device | {"parallel": 4}) == 2 + 3 + 10
    assert planning.seconds(cost | {"asked_requests": 0, "asked_ranges": 0}, device) == 12 + 10


def test_starts_are_weighted(cli, lists):
    """A library of two starts gains by both; the order is that of the gain."""
    often, seldom = lists(start(10, 500), start(*range(0, 1000, 50)))
    plain = json.loads(cli("predict", "--json=-", often, seldom).out)
    weighted = json.loads(cli("predict", "--json=-", "--weighted-input", f"9,{often}", seldom).out)
    assert plain["files"][0]["lists"] == weighted["files"][0]["lists"] == 2
    faults = [each["starts"]["hdd"]["as_it_is"]["major_faults"] for each in (plain, weighted)]
    assert faults[1] == faults[0] + 8 * 2
    assert [each["weight"] for each in weighted["lists"]] == [1, 9]


def test_the_tables(cli, lists):
    (path,) = lists(start(10, 500))
    lines = cli("predict", "--device", "lazy", "--device", "hdd", path).out.splitlines()
    assert sum(line.split()[0] in ("lazy", "hdd") for line in lines if line) == 8
    assert any(line.startswith(LIBRARY.path) for line in lines)
    both = cli("predict", *lists(start(10), start(20))).out
    assert "of lists" in both


def test_lists_and_traces_are_not_mixed(cli, lists, tmp_path):
    """Nor are options of traces taken."""
    (path,) = lists(start(1))
    (tmp_path / "app.fltrace").write_bytes(b"FLTRACE")
    for options, said in (
            (["--recorded", "app", path], "--recorded: is not for prefetch lists"),
            (["--variant", "a=app", path], "--variant: is not"),
            (["--warm-seconds", "1", path], "--warm-seconds: is not"),
            ([path, tmp_path / "app.fltrace"], "is a prefetch list"), ([], "no input")):
        assert said in cli("predict", *options, code=2).err


def test_segments_of_a_file_that_is_there_count(cli, tmp_path, lists):
    """Code is read from the fault on, data around it."""
    path = compile_to(tmp_path / "app", "gcc", "-O1", "app.c", sources={
        "app.c": "char t[1 << 20] = {1}; int main(void) { return 0; }"})
    status = os.stat(path)
    file = File(str(path), status.st_size, status.st_mtime_ns, "c0ffee")
    found = PrefetchList(1, {file: {100: Touch(0, 1, MAP)}})
    (listed,) = lists(found)
    ways = json.loads(cli("predict", "--json=-", listed).out)["starts"]["hdd"]
    assert ways["as_it_is"]["major_faults"] == 1
    assert ways["as_it_is"]["read_bytes"] == 32 * PAGE


# What argv[1:] reads, cold, and what is predicted of it.
ON_A_DEVICE = """
import json, sys
from coldbench import start
from frontload.reading import record
command = sys.argv[1:]
touched = record.record(command)[0]
started, predicted = start.measure({start.AS_IT_IS: (command, touched)}, "hdd", 1,
                                   lambda text: None)
figures = "major_faults", "read_bytes", "requests"
print(json.dumps({name: [[getattr(starts[0], figure) for figure in figures],
                         [predicted[name][figure] for figure in figures]]
                  for name, starts in started.items()}))
"""


@needs("loop-devices", "throttle", "perf", "quiet-page-cache", "kernel>=6.17")
def test_the_kernel_does_what_is_predicted(run):
    """Within 10%; but the kernel may page out what was just read, then there are more faults."""
    script = "import argparse, asyncio, decimal, email, http.server, json, sqlite3, ssl"
    found = json.loads(run(sys.executable, "-c", ON_A_DEVICE, sys.executable, "-c", script,
                           env=os.environ | {"PYTHONPATH": os.pathsep.join(
                               [str(BENCH), *sys.path])}).stdout)
    measured, predicted = found["as it is"]
    assert min(predicted) > 20
    faults, read, requests = np.divide(measured, predicted)
    assert faults > 0.9 and requests > 0.9 and read < 1.1, found
    (listed_faults, listed_read, _), (_, predicted_read, _) = found["list"]
    assert listed_faults <= measured[0] / 2 and listed_read <= 1.1 * predicted_read, found
