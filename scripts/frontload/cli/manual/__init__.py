"""The manual: one description of every command, from which all its documentation is made.

The parsers of the verbs and the --help of the native programs are its only source. From it come man
pages (man.py), reference pages for the web site (markdown.py) and the completions of three shells
(frontload/cli/completions); `python3 -m frontload.cli.manual` writes them.
"""

from dataclasses import replace
from pathlib import Path

from frontload.cli.manual import programs, verbs
from frontload.cli.manual.page import Argument, Example, Group, Page, Section
from frontload.cli.parser import Parser

__all__ = ["Argument", "Example", "Group", "Page", "Section", "documents", "pages"]


def pages(command: Parser, bindir: Path | str | None = None) -> list[Page]:
    """The pages of the command, of each verb, and of each native program, in this order; the
    programs are those in `bindir`, else those that the command finds."""
    found = verbs.pages(command) + programs.pages(bindir)
    names = [page.name for page in found]
    return [replace(page, see_also=_see_also(page, names)) for page in found]


def documents(pages: list[Page]) -> list[tuple[Page, ...]]:
    """The pages by the file that they are written to: a verb may have the name of the program that
    does its work (frontload run, frontload-run), and is documented together with it."""
    found: dict[str, list[Page]] = {}
    for page in pages:
        found.setdefault(page.file_name, []).append(page)
    return [tuple(together) for together in found.values()]


def _see_also(page: Page, names: list[str]) -> tuple[str, ...]:
    """All others for the command itself; for others the command, and what their text mentions."""
    others = [name for name in names if name != page.name]
    if page.name == names[0]:
        return tuple(others)
    texts = [page.description, *(argument.help for argument in page.arguments()),
             *(example.commands for example in page.examples)]
    text = " ".join(" ".join(texts).split())
    return tuple(name for name in others if name == names[0] or f"{name} " in f"{text} ")
