"""The report's page before a browser sees it: its text, its size, and what it is made from."""

import re
import time

import documents
import numpy as np
import pytest
from frontload.report import page_text
from frontload.report.page import render
from frontload.report.page_events import picture_data
from frontload.report.page_files import compare_files
from frontload.report.page_strips import COLUMNS, HEIGHT, strip


@pytest.mark.parametrize(("value", "text"), [
    (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (999_960, "1.00 MB"), (72_446_872, "72.4 MB"),
    (207_576_480, "208 MB"), (-2_256_768, "\N{MINUS SIGN}2.26 MB"), (None, "?")])
def test_sizes(value, text):
    """Sizes have three digits and a unit."""
    assert page_text.byte_count(value) == text


@pytest.mark.parametrize(("before", "after", "text"), [
    (724, 52, "14 times fewer"), (10, 9, "10.0% fewer"), (52, 724, "14 times more"),
    (5, 5, "the same"), (1000, 1001, "about the same"), (5, 0, "none left"), (0, 5, "none before"),
    (None, 5, "")])
def test_changes(before, after, text):
    """Two figures are compared in words."""
    assert page_text.change(before, after, "fewer") == text


def test_shares():
    """A share is never rounded to all or nothing."""
    assert page_text.share(1, 100_000) == "< 0.1%"
    assert page_text.share(99_999, 100_000) == "> 99.9%"
    assert page_text.share(0, 7) == "0%"
    assert page_text.share(None, 7) == "?"


def test_names_are_shown_as_they_are():
    """What would not be seen is written out, and a long name keeps its ends."""
    assert page_text.name("a\u202eb\nc\udce9") == "a\\u202eb\\nc\\udce9"
    shown = page_text.name(documents.LONG)
    assert len(shown) < 1100
    assert shown.startswith("ns::long") and shown.endswith("::end")
    assert "".join(page_text.name_parts("/usr/lib/libexample.so.6")) == "/usr/lib/libexample.so.6"


def test_the_program_is_one_file_in_all_variants():
    """The program has another path in each variant, libraries have the same."""
    files = compare_files(documents.pair()["variants"])
    assert [file.label for file in files] == ["app → app.front", "library1.so"]
    assert files[0].is_program


def test_namesakes_are_compared():
    """A library of a build in another folder is compared with its namesake."""
    document = documents.pair()
    document["variants"][1]["files"][1]["path"] = "/build/front/library1.so"
    assert len(compare_files(document["variants"])) == 2


def test_files_of_one_variant_only():
    """A file that only one variant uses has a row of its own."""
    document = documents.pair()
    document["variants"][1]["files"][1]["path"] = "/usr/lib/other.so"
    assert [file.indexes for file in compare_files(document["variants"])] == [
        (0, 0), (1, None), (None, 1)]


def test_strips_tell_how_much_was_read():
    """Each column of a map is as high as its share of bytes that were read, and touched."""
    page = 4096
    file = {"size": COLUMNS * page, "read": "0+1 10+2", "touched": f"0+{page // 16 // 2}"}
    drawn = strip(file, file["size"], page)
    assert drawn.read == f"M0 {HEIGHT}V0H1V{HEIGHT}zM10 {HEIGHT}V0H12V{HEIGHT}z"
    assert drawn.touched == f"M0 {HEIGHT}V{HEIGHT // 2}H1V{HEIGHT}z"


def test_a_single_page_is_seen():
    """What is much smaller than a column is still drawn."""
    file = {"size": 1 << 30, "read": "77777+1", "touched": None}
    drawn = strip(file, file["size"], 4096)
    assert len(re.findall("M", drawn.read)) == 1
    assert drawn.touched is None


def test_events_without_a_file_are_not_drawn():
    """Memory of no file has no place in a picture of files."""
    document = documents.bare()
    [variant] = picture_data(document, compare_files(document["variants"]))["variants"]
    assert len(variant["kind"]) == 11
    assert min(variant["file"]) == 0
    times = [time // 1000 for time in document["variants"][0]["events"]["time_ns"][1:]]
    assert np.cumsum(variant["time"]).tolist() == times


def test_too_many_events(monkeypatch):
    """Of very many events minor faults are left out, evenly, and the page says how many."""
    monkeypatch.setattr("frontload.report.page_events.MOST_EVENTS", 300)
    document = documents.pair()
    variant, _ = picture_data(document, compare_files(document["variants"]))["variants"]
    assert variant["leftOut"] == 100
    assert (variant["kind"].count("M"), variant["kind"].count("m")) == (100, 100)


def test_the_same_report_gives_the_same_page(monkeypatch):
    """Nothing in a page depends on when or how often it was made."""
    page = render(documents.hostile())
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert render(documents.hostile()) == page


def test_a_large_report_is_a_small_page():
    """The page of a report like cc1's has at most 5 MB."""
    assert len(render(documents.large())) <= 5_000_000


def test_a_page_needs_no_script_for_its_text():
    """Verdict, figures, tables and advice are there without a script."""
    page = re.sub("<script.*?</script>", "", render(documents.pair()).decode(), flags=re.S)
    for text in ("starts from cold with", "major faults", ".data.rel.ro",
                 "-Wl,-z,pack-relative-relocs", "25 fewer major faults", "run as root"):
        assert text in page
    assert "http:" not in page and "https:" not in page


def test_markup_in_names_is_escaped():
    """No name ends an element, and bytes that are no text do not end the writing."""
    page = render(documents.hostile()).decode()
    assert page.count("</script>") == 3
    assert "<img" not in page
    assert "\u202e" not in page


def test_measured_and_predicted_times():
    """A measurement is shown with its intervals, a prediction for each of its devices."""
    page = render(documents.measured()).decode()
    assert "5.40 ms (5.10 ms to 5.70 ms)" in page
    assert re.search("takes 0.25 \\(0.24 to 0.26\\) times as long as", page)
    assert "5.40 s" in page and "20.0 ms" in page
    assert "1.00 ms (500 µs to 1.50 ms)" in page  # cold less warm
    minus = "\N{MINUS SIGN}"
    assert f"{minus}3.00 ms ({minus}3.60 ms to {minus}2.40 ms)" in page  # more than the base's
    assert "Reliable times" not in render(documents.pair()).decode()


@pytest.mark.parametrize("advice", [{"major_faults": 50, "read_bytes": -2_256_768}])
def test_gains_may_cost(advice):
    """What an advice costs is said, too."""
    document = documents.pair()
    document["variants"][0]["advice"][0]["gain"] = advice
    assert "Expected: 50 fewer major faults, 2.26 MB more to read." in render(document).decode()
