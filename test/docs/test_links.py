"""Links: a reader who follows one arrives."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from places import ROOT


@dataclass
class Page(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    path: Path
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self.feed(self.path.read_text())

    def handle_starttag(self, tag: str, attributes) -> None:
        values = dict(attributes)
        links = [values[key] for key in ("href", "src", "srcset") if values.get(key)]
        self.links += links
        self.loaded += links if tag in ("script", "img", "link") else []
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}


def missing(page: Page, pages: dict[Path, Page], root: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    lost = [f"{link}: is loaded from the network" for link in page.loaded if urlsplit(link).netloc]
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme == "mailto":
            continue
        if parts.scheme or parts.netloc:
            # Nobody is asked whether it is there: a test must not need the network.
            if not re.fullmatch(r"https://[\w-]+(\.[\w-]+)+(/\S*)?", link):
                lost.append(f"{link}: not the address of a page")
            continue
        path = page.path
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists() or not target.is_relative_to(root):
            lost.append(f"{link}: no such file")
        elif parts.fragment and target in pages and (
                unquote(parts.fragment) not in pages[target].anchors):
            lost.append(f"{link}: no such anchor")
    return lost


def test_the_site_links_to_pages_and_anchors_that_exist(site):
    """It leads into the documentation, and loads nothing from the network. A page or heading that
    Markdown links to, and is not there, fails the build of the site."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    lost = {path.relative_to(site): found for path, page in pages.items()
            if (found := missing(page, pages, site))}
    assert not lost
    assert "docs/index.html" in pages[site / "index.html"].links


def test_markdown_links_to_files_that_exist():
    """Those of the sources, too, which the site's build knows nothing of when they are gone."""
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]:
        links = re.findall(r"\]\(([^)#:\s]+)[)#]", page.read_text())
        assert not [link for link in links if not (page.parent / unquote(link)).exists()], page


def test_files_that_contributors_are_sent_to_exist():
    """By the end of their paths, as the page names them."""
    text = "".join((ROOT / name).read_text() for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"))
    named = re.findall(r"`([\w./-]+\.(?:py|cpp|c|h|md|txt|toml|cmake))`", text)
    tops = ("bench", "cmake", "docs", "instrument", "lldplugin", "scripts", "test", "tools")
    there = [f"/{path}" for top in tops for path in (ROOT / top).rglob("*")]
    there += [f"/{path}" for path in ROOT.iterdir()]
    assert not [name for name in named if not any(path.endswith(f"/{name}") for path in there)]
