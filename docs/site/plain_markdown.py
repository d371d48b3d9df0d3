"""Makes a site of Markdown that is written for any reader of Markdown.

A code-hosting service shows the same files, so they hold none of Sphinx's own directives. What the
site needs besides is found in what they say:

    navigation     the lists of links in docs/index.md, each below its heading, and in the index.md
                   of another folder
    pictures       <picture> with a source for dark themes: the site's own switch has to work, too
    other files    a link to a folder is one to its README.md; where there is none the site has
                   nothing to show, and the link's text remains
"""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_HEADING = re.compile(r"## (.+)")
_ENTRY = re.compile(r"(?P<indent> *)[*-] \[(?P<title>[^]]+)\]\((?P<path>[^)#]+\.md)\)")
_PROSE = 24  # characters
_FIGURE = re.compile(r"[\d\u2014].{,29}")


class Branch(NamedTuple):
    """Pages that stand below another page, or below a heading of the first one."""

    page: str  # of the page that they stand below
    caption: str
    entries: list[tuple[str, str]]  # title and page

    def directive(self) -> str:
        """What Sphinx makes navigation of; nothing is shown in its place."""
        options = [":hidden:", *([f":caption: {self.caption}"] if self.caption else [])]
        return "\n".join(["```{toctree}", *options, "",
                          *(f"{title} </{page}>" for title, page in self.entries), "```", ""])


def branches(markdown: str, page: str) -> list[Branch]:
    """The navigation that the lists of a page stand for.

    Links at the beginning of a list's items are pages, in order; those of a list within a list
    stand below the page above them. A page is only in its first place.
    """
    outer, inner = Branch(page, "", []), None
    found, seen = [outer], set()
    for line in markdown.splitlines():
        if heading := _HEADING.fullmatch(line):
            outer, inner = Branch(page, heading[1], []), None
            found.append(outer)
        elif entry := _ENTRY.match(line):
            target = os.path.normpath(os.path.join(os.path.dirname(page), entry["path"]))
            each = entry["title"], target.removesuffix(".md")
            if target in seen:
                continue
            seen.add(target)
            if not entry["indent"]:
                outer.entries.append(each)
                inner = None
            elif inner is None:
                inner = Branch(outer.entries[-1][1], outer.entries[-1][0], [each])
                found.append(inner)
            else:
                inner.entries.append(each)
    return [branch for branch in found if branch.entries]


def _add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    if page.startswith("examples/"):
        # The pages of how-to lead there: in the navigation they would only be in the way.
        source[0] = f"---\norphan: true\n---\n{source[0]}"
    first = app.config.root_doc
    found = branches(Path(app.srcdir, first + ".md").read_text(encoding="utf-8"), first)
    if page != first and page.endswith("/index"):
        found += branches(source[0], page)
    for branch in found:
        if branch.page == page:
            source[0] += "\n" + branch.directive()


class _Picture(HTMLParser):
    """The two images of a <picture>."""

    def __init__(self, html: str):
        super().__init__()
        self.dark, self.light, self.alt = None, None, ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes) -> None:
        values = dict(attributes)
        if tag == "source" and "dark" in (values.get("media") or ""):
            self.dark = values.get("srcset")
        elif tag == "img":
            self.light, self.alt = values.get("src"), values.get("alt") or ""


class Pictures(SphinxTransform):
    """A <picture> becomes an image for light themes and one for dark ones (Furo shows either)."""

    default_priority = 400

    def apply(self) -> None:
        for raw in list(self.document.findall(nodes.raw)):
            picture = _Picture(raw.astext()) if "<picture" in raw.astext() else None
            if picture and picture.light and picture.dark:
                raw.replace_self([
                    nodes.image(uri=uri, alt=picture.alt, classes=[shown])
                    for uri, shown in ((picture.light, "only-light"), (picture.dark, "only-dark"))])


class Figures(SphinxTransform):
    """Cells of tables that hold a figure or three are not broken into lines; prose has room."""

    default_priority = 400

    def apply(self) -> None:
        for cell in self.document.findall(nodes.entry):
            if _FIGURE.fullmatch(cell.astext()):
                cell["classes"].append("figure")
            elif len(cell.astext()) > _PROSE:
                cell["classes"].append("prose")


class Folders(SphinxTransform):
    """A link to a folder leads to the page in it, or nowhere."""

    default_priority = 400

    def apply(self) -> None:
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link.get("reftype") != "myst" or link.get("refdomain") == "doc":
                continue
            _, path = self.env.relfn2path(link["reftarget"].split("#")[0], self.env.docname)
            if not os.path.isdir(path) or link["reftarget"].startswith("#"):
                continue
            page = self.env.path2doc(str(Path(path, "README.md")))
            if page in self.env.found_docs:
                link["refdomain"], link["reftarget"], link["reftargetid"] = "doc", page, None
            else:
                link.replace_self(link.children)


def setup(app: Sphinx) -> dict:
    app.connect("source-read", _add_navigation)
    app.add_transform(Pictures)
    app.add_transform(Figures)
    app.add_transform(Folders)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
