"""bench/table: what the documents show of a race's result."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

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


def test_a_page_names_the_recorders_that_were_timed():
    """Each once, in the order in which they are declared, whichever of the workloads had it."""
    document = race(recordings=[{"name": "bolt", "title": "BOLT's"},
                                {"name": "breakpoints", "title": "the tracer"}])
    document["workloads"] += race(recordings=[{"name": "new", "title": "a new one"},
                                              {"name": "bolt", "title": "BOLT's"}])["workloads"]
    (named,) = lines(table.render(document), "* *Slowdown*")
    assert named.endswith(" its start is recorded, by the tracer, BOLT's, a new one.")
    (named,) = lines(table.render(race()), "* *Slowdown*")
    assert named.endswith(" its start is recorded.")


@pytest.mark.parametrize("figure, first, said, listed", [
    ("read_bytes", True, "Ours is first in every figure.", []),
    ("read_bytes", False, "Ours is first in 0 of 1 figures.", ["* not first: what"]),
    ("read_bytes", None, "Ours is first in 0 of 1 figures.", ["* equal: what"]),
    ("cold", None, "Ours is first in 0 of 1 figures.", ["* too close to tell: what"])])
def test_a_page_says_where_ours_is_not_first(figure, first, said, listed):
    """The verdict is a sentence, and what is not won is told figure by figure."""
    page = table.render(race(verdicts=[{"figure": figure, "first": first, "text": "what"}]))
    assert said in page.splitlines()
    assert [line for line in lines(page, "* ") if line.endswith(": what")] == listed


def test_a_page_says_what_is_wrong():
    """Outputs that differ, and what was not measured, cannot be overlooked."""
    page = table.render(race(outputs_are_identical=False, missing=["a slow disk: no cgroup"],
                             verdicts=[]))
    assert "**The program's output is not identical in all variants.**" in page
    assert "Missing: a slow disk: no cgroup" in page
    assert "Not judged: " in page


def test_all_programs_side_by_side_begin_the_page():
    """A column for each workload; a row that only one of them has is a dash in the other's."""
    document = race()
    document["workloads"].append(race(name="other", variants=[variant("default", 9.0, 2e6)],
                                      absent=[])["workloads"][0])
    text = table.side_by_side(document)
    assert lines(text, "|") == [
        "| linked by | small | other |", "| --- | --- | --- |",
        "| by default | 720, 73.6 MB, 4.69 s | 9, 2.0 MB, 4.69 s |",
        "| gcc PGO | — | — |", "| gcc LTO | — | — |", "| BOLT | — | — |",
        "| by front | 50, 0.72 MB, 4.69 s | — |",
        "| touched bytes (the limit) | 7.0 MB | 7.0 MB |"]
    assert "on a device of 150 requests and 80 MB a second" in text
    page = table.render(document)
    assert text in page.partition("\n## ")[0]


def test_the_small_table_has_few_rows_and_programs():
    """Peers of no row of their own share one, which names the fastest of each program."""
    variants = [variant("default", 720.0, 73.6e6), variant("order", 140.0, 24e6),
                variant("preread", 0.0, 207e6, slow_by_requests_ns=2.6e9),
                variant("bolt", 130.0, 23e6, slow_by_requests_ns=1.5e9),
                variant("order+relr", 120.0, 18e6, slow_by_requests_ns=1.1e9, ours=True),
                variant("front", 50.0, 0.72e6, slow_by_requests_ns=0.6e9),
                variant("front+prefetch", 2.0, 0.73e6, slow_by_requests_ns=0.1e9, ours=True)]
    document = race(variants=variants)
    document["workloads"] += [race(name=name)["workloads"][0] for name in ("b", "c", "d", "e")]
    rest = " | 720, 73.6 MB, 4.69 s" * 3 + " |", " | —" * 3 + " |"
    text = table.short(document)
    assert lines(text, "|") == [
        "| linked by | small | b | c | d |", "| --- | --- | --- | --- | --- |",
        "| by default | 720, 73.6 MB, 4.69 s" + rest[0],
        "| by order | 140, 24.0 MB, 4.69 s" + rest[1],
        f"| {table.FASTEST} | 130, 23.0 MB, 1.50 s (BOLT)" + rest[1],
        "| by front | 50, 0.72 MB, 0.60 s" + " | 50, 0.72 MB, 4.69 s" * 3 + " |",
        "| by front+prefetch | 2, 0.73 MB, 0.10 s" + rest[1]]
    assert "on a device of 150 requests and 80 MB a second" in text


def test_a_peer_that_the_rows_do_not_know_is_named_by_its_title():
    document = race(variants=[variant("default", 720.0, 73.6e6), variant("new", 1.0, 2e6)])
    assert "| 1, 2.0 MB, 4.69 s (by new) |" in table.short(document)


def test_without_a_slow_device_the_small_table_says_so():
    """Then the seconds are those of the plain device."""
    (workload,) = race()["workloads"]
    document = race(place=workload["place"] | {"throttle": None},
                    variants=[variant("default", 720.0, 73.6e6, slow_by_requests_ns=None)])
    text = table.short(document)
    assert "| by default | 720, 73.6 MB, 0.12 s |" in text
    assert "the seconds of a cold start." in text


README = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"


@pytest.fixture
def files(tmp_path):
    """files(race, readme): writes both and calls bench/table with them; its exit status."""
    def files(text, readme=README):
        (tmp_path / "race.json").write_text(text if isinstance(text, str) else json.dumps(text))
        (tmp_path / "README.md").write_text(readme)
        return table.main([f"{tmp_path}/race.json", f"--docs={tmp_path}/race.md",
                           f"--readme={tmp_path}/README.md"])
    return files


def test_only_what_is_between_the_marks_is_written(files, tmp_path):
    """The rest of the README stays; the same result gives the same bytes."""
    assert files(race()) == 0
    written = (tmp_path / "README.md").read_text()
    assert written == f"before\n{table.BEGIN}\n{table.short(race())}{table.END}\nafter\n"
    assert (tmp_path / "race.md").read_text() == table.render(race())
    assert files(race(), readme=written) == 0
    assert (tmp_path / "README.md").read_text() == written


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"schema": "frontload-bench/1"}',
                                  '{"schema": "frontload-race/1", "workloads": []}',
                                  '{"schema": "frontload-race/1", "workloads": [1]}'])
def test_no_table_of_something_else(files, tmp_path, capsys, text):
    """A file that is no result of the race is refused with exit 65, and nothing is written."""
    assert files(text) == 65
    assert capsys.readouterr().err.startswith(f"frontload: error: {tmp_path}/race.json: ")
    assert (tmp_path / "README.md").read_text() == README
    assert not (tmp_path / "race.md").exists()


@pytest.mark.parametrize("readme", ["no marks", README + README, f"{table.END}{table.BEGIN}"])
def test_a_readme_without_marks_is_refused(files, tmp_path, capsys, readme):
    """Nobody's text is written over by guess."""
    assert files(race(), readme=readme) == 65
    assert "lacks the lines" in capsys.readouterr().err
    assert (tmp_path / "README.md").read_text() == readme
    assert not (tmp_path / "race.md").exists()
