"""Pages: what everybody needs to read them, with eyes or without."""

from itertools import pairwise

import pytest
from documentation import ROOT
from pages import read_html, read_markdown
from test_links import SOURCES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_has_one_title_and_leaves_out_no_level_of_headings(path):
    levels = read_markdown(path.read_text()).headings
    assert levels[:1] == [1] and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_picture_is_described_in_words(path):
    for image in read_markdown(path.read_text()).images:
        assert len(image.get("alt") or "") > 20, image


def test_a_picture_for_each_theme_is_on_the_site(site):
    page = read_html((site / "docs/cold-starts.html").read_text())
    shown = [set(image.get("class", "").split()) for image in page.images]
    assert sum("only-dark" in classes for classes in shown) == 3
    assert sum("only-light" in classes for classes in shown) == 3
    assert all(len(image["alt"]) > 20 for image in page.images)


def test_the_first_page_of_the_site_leads_into_it(site):
    assert "docs/index.html" in read_html((site / "index.html").read_text()).links
