"""The rules for prose (CONTRIBUTING.md), as far as a program can judge them: words, spelling, and
the length of sentences."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from places import ROOT

PAGES = sorted(path for folder in ("*", "docs/**/*", "examples/**/*", ".github/**/*")
               for path in ROOT.glob(f"{folder}.md"))
MOST_WORDS = 18  # of a page's mean sentence
FEW = 8  # sentences, whose mean means little

# Patterns that are not in our prose, in any case of letters, and what to write.
INSTEAD = {
    r"\b(?:nobody|somebody|whoever)\b": "the actor: the linker, users",
    r"\b(?:says|tells|said|told)\b": "prints, reports, records, states",
    r"\b(?:anew|besides|hence|as ever|sooner)\b": "again, also, thus, still, faster",
    r", too(?=[.;:,)]|$)": "also, before the verb; or nothing",
    r"\bof which\b|\bthan how\b": "two sentences",
    r"\breading list": "prefetch list",
    r"\blazy (?:device|disk|file system)": "high-latency file system",
    r"\bruns of pages\b": "extents",
    r"\w*(?:ptimis|ecognis|andomis|ummaris|nitialis|pecialis|avour|ehaviour|eighbour|olour)\w*":
        "the American spelling",
    r"\b(?:licences?|artefacts?|centres?|grey|catalogues?|labelled|cancelled)\b":
        "the American spelling",
}


def prose(page: str) -> Iterator[tuple[bool, str]]:
    """The paragraphs, items, cells and headings of a page, without code and pictures; and whether
    each is made of sentences."""
    around = ""
    for token in MarkdownIt().enable("table").parse(page):
        if token.type == "inline":
            yield around == "paragraph_open", "".join(
                {"code_inline": "X", "softbreak": " ", "hardbreak": " ", "image": ""}.get(
                    part.type, part.content) for part in token.children)
        around = token.type


def sentences(page: str) -> list[str]:
    return [sentence for has_sentences, text in prose(page) if has_sentences
            for sentence in re.split(r"(?<=[.?!])[)”*]*\s+", text) if re.search(r"\w", sentence)]


def objections(page: str) -> list[str]:
    found = [f"{match[0]!r} in {text[:60]!r}: {instead}" for _, text in prose(page)
             for pattern, instead in INSTEAD.items()
             for match in re.finditer(pattern, text, re.IGNORECASE)]
    return found + [f"two semicolons in {each[:60]!r}" for each in sentences(page)
                    if each.count(";") > 1]


def mean_words(page: str) -> float:
    lengths = [len(sentence.split()) for sentence in sentences(page)]
    return sum(lengths) / len(lengths) if len(lengths) >= FEW else 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_plain(page: Path):
    assert not objections(page.read_text())
    assert mean_words(page.read_text()) <= MOST_WORDS


@pytest.mark.parametrize("page, count", [
    ("Whoever reads this, somebody says, is told. `nobody says`", 4),
    ("| a | b |\n|-|-|\n|it, too|x|", 1), ("# The colour of which?", 2), ("One; two; three.", 1),
    ("The linker prints, too few times, `nobody`.", 0)])
def test_each_pattern_is_found_in_prose_and_not_in_code(page, count):
    assert len(objections(page)) == count


def test_sentences_are_counted_without_tables():
    assert mean_words("One two `three four five` six.\nSeven (eight.) " * FEW +
                      "\n\n| a |\n|-|\n| not a sentence |\n") == 3
