"""The report's page before a browser sees it: its text, its size, and what it is made from."""

import re

import documents
import pytest
from frontload.report import page_text
from frontload.report.page import render
from frontload.report.page_events import picture_data
from frontload.report.page_view import COLUMNS, HEIGHT, compare_files, strip


@pytest.mark.parametrize(("shown", "text"), [
    *((page_text.byte_count(value), text) for value, text in (
        (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (999_960, "1.00 MB"),
        (72_446_872, "72.4 MB"), (207_576_480, "208 MB"),
        (-2_256_768, "\N{MINUS SIGN}2.26 MB"), (None, "?"))),
    *((page_text.change(*values, "fewer"), text) for values, text in (
        ((724, 52), "14 times fewer"), ((10, 9), "10.0% fewer"), ((52, 724), "14 times more"),
        ((5, 5), "the same"), ((1000, 1001), "about the same"), ((5, 0), "none left"),
        ((0, 5), "none before"), ((None, 5), ""))),
    *((page_text.share(*values), text) for values, text in (
        ((1, 100_000), "< 0.1%"), ((99_999, 100_000), "> 99.9%"), ((0, 7), "0%"),
        ((None, 7), "?")))])
def test_figures_as_text(shown, text):
    assert shown == text


def test_names_are_shown_as_they_are():
    """What would not be seen is written out, and a long name keeps its ends."""
    assert page_text.name("a\u202eb\nc\udce9") == "a\\u202eb\\nc\\udce9"
    shown = page_text.name(documents.LONG)
    assert len(shown) < 1100
    assert shown.startswith("ns::long") and shown.endswith("::end")


@pytest.mark.parametrize(("path", "rows"), [
    ("/usr/lib/library1.so", [(0, 0), (1, 1)]), ("/build/front/library1.so", [(0, 0), (1, 1)]),
    ("/usr/lib/other.so", [(0, 0), (1, None), (None, 1)])])
def test_files_are_compared_with_their_namesakes(path, rows):
    """Also of another folder; the program has another path in each variant."""
    document = documents.pair()
    document["variants"][1]["files"][1]["path"] = path
    files = compare_files(document["variants"])
    assert files[0].label == "app → app.front" and files[0].is_program
    assert [file.indexes for file in files] == rows


def test_strips_tell_how_much_was_read():
    """Each column of a map is as high as its share of bytes that were read, and touched."""
    page = 4096
    file = {"size": COLUMNS * page, "read": "0+1 10+2", "touched": f"0+{page // 16 // 2}",
            "front": None, "listed": None, "unasked_bytes": None}
    drawn = strip(file, file["size"], page)
    assert drawn["read"] == f"M0 {HEIGHT}V0H1V{HEIGHT}zM10 {HEIGHT}V0H12V{HEIGHT}z"
    assert drawn["touched"] == f"M0 {HEIGHT}V{HEIGHT // 2}H1V{HEIGHT}z"


def test_events_without_a_file_are_not_drawn():
    document = documents.bare()
    [variant] = picture_data(document, compare_files(document["variants"]))["variants"]
    assert len(variant["kind"]) == 11
    assert min(variant["file"]) == 0
    times = [time // 1000 for time in document["variants"][0]["events"]["time_ns"][1:]]
    assert variant["time"] == times


def test_too_many_events(monkeypatch):
    """Of very many events minor faults are left out, and the page says how many."""
    monkeypatch.setattr("frontload.report.page_events.MOST_EVENTS", 300)
    document = documents.pair()
    variant, _ = picture_data(document, compare_files(document["variants"]))["variants"]
    assert variant["leftOut"] == 200
    assert (variant["kind"].count("M"), variant["kind"].count("m")) == (100, 0)


def test_a_large_report_is_a_small_page():
    assert len(render(documents.large())) <= 5_000_000


def test_a_page_needs_no_script_for_its_text():
    """Verdict, figures, tables and advice are there without a script."""
    document = documents.pair()
    document["variants"][1]["advice"][0]["gain"] = {"major_faults": 50, "read_bytes": -2_256_768}
    page = re.sub("<script.*?</script>", "", render(document).decode(), flags=re.S)
    for text in ("starts from cold with", "major faults", ".data.rel.ro",
                 "-Wl,-z,pack-relative-relocs", "25 fewer major faults", "run as root",
                 "50 fewer major faults, 2.26 MB more to read."):
        assert text in page
    assert "http:" not in page and "https:" not in page


def test_markup_in_names_is_escaped():
    """No name ends an element, and bytes that are no text do not end the writing."""
    page = render(documents.hostile()).decode()
    assert render(documents.hostile()).decode() == page
    assert page.count("</script>") == 3
    assert "<img" not in page
    assert "\u202e" not in page
