"""Links: a reader who follows one arrives, on the site and where the Markdown itself is shown."""

import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from documentation import ROOT, SITE, build_site
from pages import Page, read_html, read_markdown

SOURCES = sorted({ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"),
                  *ROOT.glob("examples/**/README.md")})


def missing(page: Path, read: Page, root: Path, others) -> list[str]:
    """The links of a page that lead nowhere; `others` reads a page that is linked to."""
    lost = []
    for link in read.links:
        parts = urlsplit(link)
        if parts.scheme == "mailto":
            continue
        if parts.scheme or parts.netloc:
            # Nobody is asked whether it is there: a test must not need the network.
            if not re.fullmatch(r"https://[\w-]+(\.[\w-]+)+(/\S*)?", link):
                lost.append(f"{link}: not the address of a page")
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.exists() or not target.is_relative_to(root):
            lost.append(f"{link}: no such file")
        elif parts.fragment and target.suffix in (".md", ".html") and (
                unquote(parts.fragment) not in others(target).anchors):
            lost.append(f"{link}: no such anchor")
    return lost


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_markdown_page_links_to_files_and_anchors_that_exist(path):
    page = read_markdown(path.read_text())
    assert not missing(path, page, ROOT, lambda other: read_markdown(other.read_text()))


def test_the_site_links_to_pages_and_anchors_that_exist(site):
    read = {path: read_html(path.read_text()) for path in site.rglob("*.html")}
    assert len(read) > len(SOURCES)
    lost = {path.relative_to(site): found for path, page in read.items()
            if (found := missing(path, page, site, lambda other: read[other]))}
    assert not lost


def test_the_site_needs_no_network(site):
    for path in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)[^>]*?(?:src|href)="(https?:[^"]*)"',
                            path.read_text())
        assert not loaded, path


@pytest.fixture
def small_site(tmp_path):
    """Builds a site of a first page, which has `text`, and one other page."""
    shutil.copytree(SITE, tmp_path / "docs/site",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scripts/frontload").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/frontload/__init__.py", tmp_path / "scripts/frontload")

    def small_site(text: str):
        (tmp_path / "docs/other.md").write_text("# Other\n\n## A part\n")
        (tmp_path / "docs/index.md").write_text(
            f"# First\n\n{text}\n\n## All\n\n* [Other](other.md)\n")
        return build_site(tmp_path, tmp_path / "build")

    return small_site


def test_a_site_whose_links_lead_somewhere_is_built(small_site):
    result = small_site("[a](other.md#a-part) [b](site) [c](../scripts/frontload/__init__.py)")
    assert result.returncode == 0, result.stderr


def test_each_broken_link_fails_the_build_of_the_site(small_site):
    broken = ("[a](nowhere.md)", "[a](other.md#no-such-part)", "[a](#nothing)",
              "[a](../no/folder)", "![a](no-picture.svg)")
    result = small_site("\n\n".join(broken))
    assert result.returncode
    for number, link in enumerate(broken):
        assert f"docs/index.md:{3 + 2 * number}: WARNING" in result.stderr, link


def test_a_page_that_the_navigation_leaves_out_fails_the_build_of_the_site(small_site, tmp_path):
    (tmp_path / "docs/forgotten.md").write_text("# Forgotten\n")
    result = small_site("")
    assert result.returncode
    assert "docs/forgotten.md" in result.stderr
