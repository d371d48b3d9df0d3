"""Pages as man pages: roff with the macros of man(7), of which groff and mandoc know the same.

There are tools that make man pages from a parser (argparse-manpage) or from a --help (help2man).
Each knows only one of these and no examples, and neither makes the other pages from the same
source. We need only a handful of macros.
"""

import os
import re
import textwrap
import time

from frontload import __version__
from frontload.cli.manual.page import Group, Page, Section
from frontload.cli.prose import blocks

# What roff would take for something else. Quotes and accents are the plain ones, for copying.
_ESCAPES = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha",
                          "~": r"\(ti", '"': r"\(dq", "…": "...", "→": r"\(->"})
_WIDTH = 79  # of the source, which some read
_CODE = re.compile(r"`([^`]+)`")


def render(page: Page, *others: Page) -> str:
    """A man page; with the others, if they have the same name, at its end."""
    lines = [f".TH {_quoted(page.file_name.upper())} 1 \"{_date()}\" "
             f"{_quoted(f'Frontload {__version__}')} {_quoted('Frontload Manual')}",
             # Option names and commands are neither hyphenated nor stretched.
             ".nr HY 0", ".nh", ".ad l",
             ".SH NAME", _inline(f"{page.file_name} - {page.summary}"),
             ".SH SYNOPSIS", *_synopsis(page), ".SH DESCRIPTION", *_prose(page.description),
             *_details(page, ".SH")]
    for other in others:
        lines += [f".SH {_quoted(f'THE PROGRAM {other.name}')}", *_synopsis(other), ".PP",
                  *_prose(other.description), *_details(other, ".SS")]
    names = [f"\\fB{_text(name)}\\fP(1)" for name in dict.fromkeys(
        name.replace(" ", "-") for name in page.see_also) if name != page.file_name]
    if names:
        lines += [".SH SEE ALSO", ",\n".join(names)]
    return "\n".join(lines) + "\n"


def _details(page: Page, heading: str) -> list[str]:
    """Options, examples, and the sections, of which the lists of other things come first."""
    lines: list[str] = []
    for group in page.groups:
        lines += _group(group, heading)
    titles = [section.title for section in page.sections]
    lists = titles.index("exit status") if "exit status" in titles else 0
    for section in page.sections[:lists]:
        lines += _section(section, heading)
    lines += _examples(page, heading)
    for section in page.sections[lists:]:
        lines += _section(section, heading)
    return lines


def _date() -> str:
    """That of the source, if a packager tells it; never that of the build."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return time.strftime("%Y-%m-%d", time.gmtime(int(epoch))) if epoch.isdecimal() else ""


def _quoted(text: str) -> str:
    return f'"{_text(text)}"'


def _text(text: str) -> str:
    """Text as roff takes it, on one line."""
    escaped = " ".join(text.split()).translate(_ESCAPES)
    return rf"\&{escaped}" if escaped.startswith((".", r"\(aq")) else escaped


def _inline(text: str) -> str:
    """The same, with what stands between backquotes in bold."""
    parts = _CODE.split(" ".join(text.split()))
    text = "".join(rf"\fB{part.translate(_ESCAPES)}\fP" if position % 2
                   else part.translate(_ESCAPES) for position, part in enumerate(parts))
    return "\n".join(map(_guarded, textwrap.wrap(text, _WIDTH, break_on_hyphens=False,
                                                 break_long_words=False)))


def _guarded(line: str) -> str:
    """A line that is not taken for a request."""
    return rf"\&{line}" if line.startswith((".", "'")) else line


def _synopsis(page: Page) -> list[str]:
    lines: list[str] = []
    for usage in page.synopsis:
        rest = usage.removeprefix(page.name)
        lines += [".br"] * bool(lines)
        lines.append(rf"\fB{_text(page.name)}\fP {_text(rest)}" if rest != usage else _text(usage))
    return lines


def _literal(text: str) -> list[str]:
    lines = [_guarded(line.translate(_ESCAPES)) for line in text.splitlines()]
    return [".RS 4", ".EX", *lines, ".EE", ".RE"]


def _prose(text: str) -> list[str]:
    lines: list[str] = []
    for is_literal, block in blocks(text):
        if is_literal:
            indent = min(len(line) - len(line.lstrip()) for line in block.splitlines())
            lines += [".PP", *_literal("\n".join(line[indent:] for line in block.splitlines()))]
        else:
            lines += [".PP"] * bool(lines) + [_inline(block)]
    return lines


def _group(group: Group, heading: str) -> list[str]:
    lines = [f"{heading} {_quoted(group.title.upper())}"]
    if group.text:
        lines.append(_inline(group.text))
    for argument in group.arguments:
        forms = ", ".join(rf"\fB{_text(form)}\fP" for form in argument.shown())
        lines += [".TP", forms, _inline(argument.help) or r"\&"]
    return lines


def _section(section: Section, heading: str) -> list[str]:
    lines = [f"{heading} {_quoted(section.title.upper())}"]
    for term, text in section.terms:
        lines += [".TP", rf"\fB{_text(term)}\fP", _inline(text) or r"\&"]
    return lines


def _examples(page: Page, heading: str) -> list[str]:
    lines = [f"{heading} EXAMPLES"] if page.examples else []
    for position, example in enumerate(page.examples):
        if example.text:
            text = example.text[:1].upper() + example.text[1:]
            lines += [".PP"] * bool(position) + [_inline(text + ":")]
        lines += [".PP"] * bool(example.text or position) + _literal(example.commands)
    return lines
