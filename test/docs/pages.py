"""What the tests look for in pages, of Markdown and of HTML: links, anchors, images, headings."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass
class Page:
    """What a page refers to, and what can be referred to in it."""

    links: list[str] = field(default_factory=list)  # of href, src and srcset
    anchors: set[str] = field(default_factory=set)
    images: list[dict] = field(default_factory=list)  # their attributes
    headings: list[int] = field(default_factory=list)  # their levels, in order


class _Reader(HTMLParser):
    def __init__(self, page: Page):
        super().__init__()
        self.page = page

    def handle_starttag(self, tag: str, attributes) -> None:
        values = dict(attributes)
        self.page.links += [values[key] for key in ("href", "src", "srcset") if values.get(key)]
        self.page.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "img":
            self.page.images.append(values)
        if re.fullmatch("h[1-6]", tag):
            self.page.headings.append(int(tag[1]))


def read_html(text: str) -> Page:
    page = Page()
    _Reader(page).feed(text)
    return page


def tokens(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(markdown)


def _slug(heading: str) -> str:
    """The anchor that code-hosting services make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def read_markdown(text: str) -> Page:
    """A page as a code-hosting service shows it."""
    page = Page()
    reader = _Reader(page)
    previous = None
    for token in tokens(text):
        if token.type == "html_block":
            reader.feed(token.content)
        for part in token.children or ():
            if part.type == "html_inline":
                reader.feed(part.content)
            elif part.type == "link_open":
                page.links.append(part.attrs["href"])
            elif part.type == "image":
                page.links.append(part.attrs["src"])
                page.images.append({"src": part.attrs["src"], "alt": part.content})
        if token.type == "inline" and previous.type == "heading_open":
            page.headings.append(int(previous.tag[1]))
            shown = "".join(part.content for part in token.children)
            slug, number = _slug(shown), 0
            while (unique := f"{slug}-{number}" if number else slug) in page.anchors:
                number += 1
            page.anchors.add(unique)
        previous = token
    return page
