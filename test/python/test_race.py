"""The race: its verdicts, a whole small one, and what the documents show of it."""

import json
import os
import sys

import pytest
from abilities import needs
from bench_room import BENCH, read_json, write_files
from coldbench import table
from coldbench.__main__ import main as bench
from coldbench.judge import first
from coldbench.judge.figures import PLAIN, THROTTLED, Figures
from coldbench.show import document, page, untrained
from frontload.base.errors import BadData
from places import ROOT


def test_first_is_who_beats_every_peer():
    """By the better of our rows; equal counts and overlapping times are too close to tell."""
    ours = {"front": (9, 5e6, [1, 1.1, 1], [2, 2, 2]),
            "prefetch": (2, 6e6, [1, 1, 1.3], [1, 1, 1])}
    peers = {"order": (20, 9e6, [1, 1.3, 1.2], [3, 3, 3.1]),
             "preread": (2, 50e6, [5, 5, 5.1], [0.5, 0.5, 0.51])}
    medians, times = {}, {}
    for name, (faults, read, cold, slow) in {**ours, **peers}.items():
        medians[name] = {"major_faults": faults, "read_bytes": read}
        times |= {(name, PLAIN): cold, (name, THROTTLED): slow}
    verdicts = first.verdicts(Figures(medians, times), list(ours), list(peers))
    found = {verdict.figure: verdict for verdict in verdicts}
    assert {name: verdict.holds for name, verdict in found.items()} == {
        "major_faults": None, "read_bytes": True, "cold": None, "throttled": False}
    assert found["read_bytes"].text == "bytes read: front 5.00 MB, order 9.00 MB"


PROGRAM = r"""
#include <stdio.h>
__attribute__((section(".big"))) const char big[2 << 20] = {1};
int main(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof big; i += STEP) sum += ((const volatile char *)big)[i];
  return printf("%d\n", sum == 1) != 2;
}
"""
DESCRIPTION = """
from coldbench.variants.rows import ROWS
from coldbench.variants.workload import Workload
there = ("default", "order", "preread", "willneed", "front")
WORKLOAD = Workload(
    name="small", variants=("default", "front"), peers=("order", "preread", "willneed"),
    arguments=(), absent={row.name: "<why>" for row in ROWS if row.name not in there})
"""
NINJA = """
include $workloads/rules.ninja
program = ./small.default
rule link
  command = cc -O1 -DSTEP=$step $in -Wl,--build-id -o $out
build small.default: link $source/program.c
  step = 4096
build small.order: link $source/program.c
  step = 262144
build small.front: link $source/program.c
  step = 1048576
build traces.data: record small.default
  how = --data
"""


@needs("loop-devices", "throttle", "ptrace", "valgrind", "path-without-space")
def test_a_whole_race(build, tmp_path, run):
    """All rows are measured on one device; JSON, table, links, recordings, limit and verdict."""
    folder = write_files(tmp_path / "small", program_c=PROGRAM, workload_py=DESCRIPTION,
                         variants_ninja=NINJA)
    (tmp_path / "tmp").mkdir()
    shown = run(BENCH / "race", folder, "--runs=1", "--build-dir", build, "--work-dir",
                tmp_path / "work", "--json", tmp_path / "race.json", env=os.environ | {
                    "TMPDIR": str(tmp_path / "tmp"), "FRONTLOAD_PYTHON": sys.executable}).stdout
    (raced,) = read_json(tmp_path / "race.json", "frontload-race/1")["workloads"]
    assert raced["outputs_are_identical"] and raced["place"]["own_device"]
    assert 2048 <= raced["limit"]["touched_bytes"] < 100_000
    found = {variant["name"]: variant for variant in raced["variants"]}
    assert list(found) == ["default", "order", "preread", "willneed", "front"]
    default, order, preread = found["default"], found["order"], found["preread"]
    assert default["requests"]["bytes"] >= default["cold"]["read_bytes"]["median"] > 2e6
    assert order["cold"]["read_bytes"]["median"] < 2e6
    assert preread["cold"]["major_faults"]["median"] < default["cold"]["major_faults"]["median"]
    assert [each["recorder"] for each in found["front"]["recording"]] == ["breakpoints", "data"]
    assert [verdict["figure"] for verdict in raced["verdicts"]][:4] == [
        "major_faults", "all_faults", "read_bytes", "slow_by_requests_ns"]
    # 128 KiB readahead: 16 requests at 150 a second, or 2 MB at 80.
    waited = default["slow_by_requests_ns"] - default["warm"]["wall_ns"]["median"]
    assert waited == pytest.approx(default["requests"]["reads"] / 150 * 1e9)
    assert "\n* not built: " in shown and r"\<why\>" in shown


SERVER = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((section(".big"))) const char big[2 << 20] = {1};
static void end(int number) {
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof big; i += 4096) sum += ((const volatile char *)big)[i];
  _exit(sum == number);
}
int main(void) {
  signal(SIGTERM, end);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
"""
SERVER_DESCRIPTION = """
from coldbench.variants.workload import Workload
from frontload.base.ready import Ready
WORKLOAD = Workload(name="small", variants=("default",), arguments=(), before=("env", "A=b"),
                    ready=Ready(output="ready", request="echo answer >{output}"))
"""


@needs("loop-devices", "throttle", "ptrace", "valgrind", "path-without-space")
def test_a_server_is_raced_to_its_answer(build, tmp_path, run):
    """It does not end by itself. What it reads while it is ended does not count."""
    folder = write_files(tmp_path / "small", program_c=SERVER, workload_py=SERVER_DESCRIPTION,
                         variants_ninja=NINJA)
    run(BENCH / "race", folder, "--runs=1", "--link-runs=0", "--build-dir", build, "--work-dir",
        tmp_path / "work", "--json", tmp_path / "race.json",
        env=os.environ | {"FRONTLOAD_PYTHON": sys.executable})
    (raced,) = read_json(tmp_path / "race.json", "frontload-race/1")["workloads"]
    (default,) = raced["variants"]
    assert default["requests"]["bytes"] >= default["cold"]["read_bytes"]["median"] > 0
    assert default["requests"]["bytes"] < 1e6
    assert raced["outputs_are_identical"] and raced["command"][:2] == ["env", "A=b"]
    assert default["prediction"]["why"] == "is a startup of several processes"


def time(mean, half=None):
    low, high = (None, None) if half is None else (mean - half, mean + half)
    return {"median": mean, "mean": mean, "low": low, "high": high}


def variant(name, faults, read, **other):
    cold = {"major_faults": {"median": faults}, "minor_faults": {"median": 10.0},
            "read_bytes": {"median": read}, "read_runs": {"median": 3.0},
            "max_rss_bytes": {"median": 66e6}, "wall_ns": time(125e6, 1e6)}
    return {"name": name, "title": f"by {name}", "ours": name == "front", "size": 207_576_480,
            "cold": cold, "warm": {"wall_ns": time(20e6)}, "slow": {"wall_ns": time(5.4e9, 2e6)},
            "slow_by_requests_ns": 4.69e9, "requests": {"reads": 700.0},
            "link": {"seconds": 2.5, "runs": [2.5]},
            "recording": None, "prediction": None} | other


def race(**workload):
    return {"schema": "frontload-race/1", "runs": 5,
            "host": {"kernel": "Linux 6.18", "processor": "A | B", "processors": 2},
            "workloads": [{
                "name": "small", "title": "a program", "limit": {"touched_bytes": 7_000_000},
                "place": {"file_system": "ext4", "read_ahead_kib": 128, "own_device": True,
                          "throttle": {"device": "hdd", "iops": 150, "bytes_per_second": 80e6}},
                "missing": [], "outputs_are_identical": True,
                "variants": [variant("default", 720.0, 73.6e6),
                             variant("front", 50.0, 0.72e6, link={"seconds": 3, "runs": [2, 3, 4]},
                                     recording=[{"recorder": "breakpoints", "slowdown": 7.26},
                                                {"recorder": "data", "slowdown": 312.4}],
                                     prediction={"major_faults": 51.0, "read_bytes": 0.73e6,
                                         "difference": {}, "agrees": True, "why": None})],
                "absent": [{"name": name, "title": title, "why": why} for name, title, why in (
                    ("gcc-pgo", "gcc PGO", "it has <no> source"),
                    ("gcc-pgo-lto", "gcc LTO", "it has <no> source"),
                    ("bolt", "BOLT", "it fails"))],
                "verdicts": [{"figure": "read_bytes", "first": True, "text": "bytes read"}],
            } | workload]}


def lines(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def test_a_page_has_a_table_of_seconds_then_one_for_each_program():
    """Peers first, what is absent as a dash and with its reason, then the limit."""
    introduction, _, small = page.render(race()).partition("\n## ")
    assert lines(introduction, "| ") == [
        "| linked by | small |", "| --- | --- |", "| by default | 4.690 |", "| gcc PGO | — |",
        "| gcc LTO | — |", "| BOLT | — |", "| by front | 4.690 |"]
    assert lines(small, "| ")[2:] == [
        "| by default | 720 | 73.6 | 700 | 66.0 | 0.125 | 5.400 | 0.020 | 207.6 | 2.50 |",
        "| **front** | 50 | 0.72 | 700 | 66.0 | 0.125 | 5.400 | 0.020 | 207.6 | 3.00 |",
        "| touched bytes (the limit) |  | 7.0 |" + "  |" * 7]
    assert lines(small, "* ")[-3:] == [
        "* times slower while recorded: frontload-trace 7.3, frontload-valgrind 312",
        r"* not built: gcc PGO, gcc PGO with LTO: it has \<no\> source",
        "* not built: BOLT: it fails"]
    assert lines(small, "* predicted") == ["* predicted within 5%, or one: 1 of 1 variants"]
    assert "Linux 6.18, A \\| B, 2 processors" in introduction
    assert "Half of the widest 95% confidence interval is 0.002 s" in introduction


def held(name: str = "cc1-heldout") -> dict:
    """A result of bench/heldout."""
    rows = [{"trained_with": row, "major_faults": faults, "read_bytes": faults * 1e5,
             "seconds_hdd": faults / 100}
            for row, faults in (("no front", 800), ("0", 400), ("1", 300), ("2", 200), ("4", 100),
                                ("8", 80), ("itself", 1))]
    return {"schema": document.HELDOUT, "workloads": [
        {"name": name, "starts": 9, "area": 150, "rows": rows}]}


HELDOUT = held()


def test_the_small_table_has_few_rows_and_programs():
    """The linker alone, packed relocations with an order file, the fastest way of others, ours."""
    variants = [variant("default", 720.0, 73.6e6), variant("preread", 0.0, 207e6),
                variant("bolt", 130.0, 23e6, slow_by_requests_ns=1.5e9),
                variant("order+relr", 140.0, 24e6, slow_by_requests_ns=1.6e9),
                variant("front+prefetch", 1.0, 0.72e6, ours=True, slow_by_requests_ns=0.6e9)]
    document = race(name="cc1", variants=variants)
    document["workloads"] += race(name="of no interest")["workloads"]
    text = table.short(document, HELDOUT)
    assert lines(text, "|")[2:] == [
        f"| {table.PROGRAMS['cc1']} | lld | 720 | 73.6 | 66.0 | 4.69 |",
        "|  | BOLT | 130 | 23.0 | 66.0 | 1.50 |",
        f"|  | {table.SHORT['order+relr']} | 140 | 24.0 | 66.0 | 1.60 |",
        "|  | **Frontload** | 1 | 0.72 | 66.0 | 0.60 |",
        "| the same, mean of 9 startups that were **not trained** | lld | 800 | 80.0 |  | 8.00 |",
        "|  | **Frontload**, `--front=auto` | 400 | 40.0 |  | 4.00 |",
        "|  | **Frontload**, trained with 8 others | 80 | 8.0 |  | 0.80 |"]
    assert "on a device of 150 requests and 80 MB a second" in text
    assert "6.18 ([other kernels](docs/reference/kernels.md)), ext4, readahead 128 KiB" in text


def test_a_workload_of_another_session_is_added(tmp_path):
    """It takes the place of the one of that name, and notes another machine, for good. Counts under
    other conditions are refused."""
    first, later = race(name="cc1"), race(name="postgresql")
    first["workloads"] += race(name="postgresql", title="old")["workloads"]
    later["host"] = later["host"] | {"processor": "another"}
    files = [tmp_path / "first", tmp_path / "later"]
    files[0].write_text(json.dumps(first))
    files[1].write_text(json.dumps(later))
    cc1, postgresql = table.merged(files)["workloads"]
    assert "host" not in cc1 and postgresql["title"] == "a program"
    assert "time: Linux 6.18, another, 2 processors." in page.render(
        table.merged(files))
    files[1].write_text(json.dumps(table.merged(files)))
    files[0].write_text(json.dumps(race(name="git") | {"host": first["host"] | {"processor": "C"}}))
    assert [workload.get("host", {}).get("processor")
            for workload in table.merged(files)["workloads"]] == [None, "A | B", "another"]
    files[1].write_text(json.dumps(later | {"runs": 4}))
    with pytest.raises(BadData):
        table.merged(files)


README = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"


def test_programs_stand_side_by_side_by_training():
    text = untrained.table(held("git")["workloads"] + held()["workloads"])
    assert [line.split(" | ")[:4] for line in lines(text, "|")[2:]] == [
        ["| clang", "9", "800, 8.00", "400, 4.00"], ["| git", "9", "800, 8.00", "400, 4.00"]]
    assert text.endswith("| 80, 0.80 | 1, 0.01 | 150 |\n")


@pytest.mark.parametrize("text, readme, code", [
    (json.dumps(race()), README, 0), ("no JSON", README, 65),
    # Text of others is not written over by guess.
    (json.dumps(race()), f"{table.END}{table.BEGIN}", 65)])
def test_only_what_is_between_the_marks_is_written(tmp_path, text, readme, code):
    """The rest of the README stays. What cannot be used is refused, and nothing is written."""
    result = tmp_path / "result.json"
    result.write_text(text)
    docs, shown = tmp_path / "docs/reference/race.md", tmp_path / "README.md"
    docs.parent.mkdir(parents=True)
    shown.write_text(readme)
    (tmp_path / "docs/case-studies.md").write_text(README)
    heldout = tmp_path / "heldout.json"
    heldout.write_text(json.dumps(HELDOUT))
    assert bench(["table", f"{result}", f"--heldout={heldout}", f"--root={tmp_path}"]) == code
    if code:
        assert shown.read_text() == readme and not docs.exists()
    else:
        assert shown.read_text() == (
            f"before\n{table.BEGIN}\n{table.short(race(), HELDOUT)}{table.END}\nafter\n")
        assert docs.read_text() == page.render(race())


def test_the_documents_show_the_figures_of_the_result(tmp_path):
    """Of docs/race.json and docs/heldout.json, which the bench wrote: none was written by hand."""
    files = ("README.md", "docs/case-studies.md", "docs/heldout.json", "docs/reference/race.md",
             "docs/race.json")
    (tmp_path / "docs/reference").mkdir(parents=True)
    for file in files[:3]:
        (tmp_path / file).write_text((ROOT / file).read_text())
    assert bench(["table", str(ROOT / "docs/race.json"), f"--root={tmp_path}"]) == 0
    for file in files:
        assert (tmp_path / file).read_text() == (ROOT / file).read_text(), file


def test_prose_has_the_figures_of_the_result():
    """Where a page repeats some of clang's."""
    (cc1,) = (each for each in json.loads((ROOT / "docs/race.json").read_text())["workloads"]
              if each["name"] == "cc1")
    found = {variant["name"]: (
        f"{variant['cold']['major_faults']['median']:.0f} | "
        f"{variant['cold']['read_bytes']['median'] / 1e6:.1f}", page.time_ns(variant) / 1e9)
        for variant in cc1["variants"]}
    (_, default), (_, order), (front, alone), (prefetched, fast), (_, whole) = (
        found[name] for name in ("default", "order", "front", "front+prefetch", "preread"))
    explained, prefetch = ((ROOT / "docs" / name).read_text()
                           for name in ("cold-starts.md", "prefetch.md"))
    assert (f"clang takes {default:.1f} by default, {order:.1f} with an order file, {alone:.2f} "
            f"with a front and {fast:.2f} with one that is prefetched" in explained)
    assert f"clang takes {whole:.1f} s." in explained
    assert f"| front | {front} | {alone:.2f} s |" in prefetch
    assert f"| front, prefetched | {prefetched} | {fast:.2f} s |" in prefetch
