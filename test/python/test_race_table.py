"""bench/table: what the documents show of a race's result."""

import json

import pytest
from bench_room import BENCH  # noqa: F401 (where coldbench is)
from coldbench import table


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
                "missing": [], "outputs_are_identical": True, "recordings": [],
                "variants": [variant("default", 720.0, 73.6e6),
                             variant("front", 50.0, 0.72e6, link={"seconds": 3, "runs": [2, 3, 4]},
                                     recording=[{"slowdown": 7.26}, {"slowdown": 312.4}],
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


def test_a_page_has_all_columns_of_each_row():
    """Peers first, what is absent as a dash with its reason, then the limit."""
    introduction, _, page = table.render(race()).partition("\n## ")
    assert lines(page, "| by ") == [
        "| by default | 720 | 10 | 73.6 | 3 | 700 | 66.0 | 0.125 ± 0.001 | 5.400 ± 0.002 | 4.690 | "
        "0.020 | 207.6 | 2.50 (once) | — | — | — |",
        "| by front | 50 | 10 | 0.72 | 3 | 700 | 66.0 | 0.125 ± 0.001 | 5.400 ± 0.002 | 4.690 | "
        "0.020 | 207.6 | 3.00 | 7.3 + 312 | 51 | 0.73 |"]
    (absent,) = lines(page, "| gcc PGO (1) |")
    assert page.index("| by default") < page.index(absent) < page.index("| by front")
    assert set(absent.split("|")[2:-1]) == {" — "}
    assert lines(page, "(") == [r"(1) it has \<no\> source  ", "(2) it fails"]
    assert lines(page, "| gcc LTO (1) |") and lines(page, "| BOLT (2) |")
    assert lines(page, "| touched bytes") == [
        "| touched bytes (the limit) |  |  | 7.0 |" + "  |" * 12]
    (near,) = lines(page, "* Predictions are within 5%")
    assert near.endswith("for 1 of 1 variants")
    assert "Linux 6.18, A \\| B (2 processors)" in introduction


def test_a_page_says_what_is_wrong():
    """What is not won is told figure by figure. Outputs that differ, and what was not measured,
    cannot be overlooked."""
    verdicts = [("read_bytes", True), ("read_bytes", False), ("read_bytes", None), ("cold", None)]
    page = table.render(race(verdicts=[{"figure": figure, "first": first, "text": "what"}
                                       for figure, first in verdicts]))
    assert "Ours is first in 1 of 4 figures." in page.splitlines()
    assert [line for line in lines(page, "* ") if line.endswith(": what")] == [
        "* not first: what", "* equal: what", "* too close to tell: what"]
    page = table.render(race(outputs_are_identical=False, missing=["a slow disk: no cgroup"],
                             verdicts=[]))
    assert "**The program's output is not identical in all variants.**" in page
    assert "Missing: a slow disk: no cgroup" in page
    assert "Not judged: " in page


def test_the_small_table_has_few_rows_and_programs():
    """Peers of no row of their own share one, which names the fastest of each program. A program
    that lacks a row has a dash there."""
    variants = [variant("default", 720.0, 73.6e6), variant("order", 140.0, 24e6),
                variant("preread", 0.0, 207e6, slow_by_requests_ns=2.6e9),
                variant("bolt", 130.0, 23e6, slow_by_requests_ns=1.5e9),
                variant("front", 50.0, 0.72e6, slow_by_requests_ns=0.6e9)]
    document = race(variants=variants)
    document["workloads"] += [race(name=name)["workloads"][0] for name in ("b", "c", "d", "e")]
    text = table.short(document)
    assert lines(text, "|") == [
        "| linked by | small | b | c | d |", "| --- | --- | --- | --- | --- |",
        "| by default | 720, 73.6 MB, 4.69 s" + " | 720, 73.6 MB, 4.69 s" * 3 + " |",
        "| by order | 140, 24.0 MB, 4.69 s" + " | —" * 3 + " |",
        f"| {table.FASTEST} | 130, 23.0 MB, 1.50 s (BOLT)" + " | —" * 3 + " |",
        "| by front | 50, 0.72 MB, 0.60 s" + " | 50, 0.72 MB, 4.69 s" * 3 + " |"]
    assert "on a device of 150 requests and 80 MB a second" in text


README = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"


@pytest.fixture
def files(tmp_path):
    """files(race, readme): writes both and calls bench/table with them: its exit status, and what
    it left of the README and wrote as race.md."""
    def files(text, readme=README):
        (tmp_path / "race.json").write_text(text if isinstance(text, str) else json.dumps(text))
        (tmp_path / "README.md").write_text(readme)
        page = tmp_path / "race.md"
        status = table.main([f"{tmp_path}/race.json", f"--docs={page}",
                             f"--readme={tmp_path}/README.md"])
        return status, (tmp_path / "README.md").read_text(), page.exists() and page.read_text()
    return files


def test_only_what_is_between_the_marks_is_written(files):
    """The rest of the README stays; the same result gives the same bytes."""
    written = f"before\n{table.BEGIN}\n{table.short(race())}{table.END}\nafter\n"
    for readme in (README, written):
        assert files(race(), readme) == (0, written, table.render(race()))


@pytest.mark.parametrize("text, readme", [
    ("no JSON", README), ("[]", README), ('{"schema": "frontload-bench/1"}', README),
    ('{"schema": "frontload-race/1", "workloads": [1]}', README),
    # Nobody's text is written over by guess.
    (race(), "no marks"), (race(), README + README), (race(), f"{table.END}{table.BEGIN}")])
def test_something_else_is_refused(files, text, readme):
    """Exit 65, and nothing is written."""
    assert files(text, readme) == (65, readme, False)
