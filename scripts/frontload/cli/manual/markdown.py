"""Pages as Markdown, for the reference of the web site: plain CommonMark, links between pages."""

import re

from frontload.cli.manual.page import Group, Page, Section
from frontload.cli.prose import blocks

_SPECIAL = re.compile(r"([\\*_\[\]<>|#])")
_CODE = re.compile(r"(`[^`]+`)")


def render(page: Page, *others: Page) -> str:
    """A page; with the others, if they are written to the same file, at its end."""
    lines = [f"# {page.name}", "", _text(_sentence(page.summary)), "", *_body(page, "##")]
    for other in others:
        lines += [f"## The program {other.name}", "", *_body(other, "###")]
    links = dict.fromkeys(f"[{name}]({name.replace(' ', '-')}.md)" for name in page.see_also
                          if name.replace(" ", "-") != page.file_name)
    if links:
        lines += ["## See also", "", ", ".join(links), ""]
    return "\n".join(lines)


def _body(page: Page, heading: str) -> list[str]:
    lines = ["```text", *page.synopsis, "```", ""]
    for is_literal, block in blocks(page.description):
        lines += ["```text", *_unindented(block), "```", ""] if is_literal else [_text(block), ""]
    for group in page.groups:
        lines += _group(group, heading)
    if page.examples:
        lines += [f"{heading} Examples", ""]
    for example in page.examples:
        if example.text:
            lines += [_text(_sentence(example.text, ":")), ""]
        lines += ["```sh", *example.commands.splitlines(), "```", ""]
    for section in page.sections:
        lines += _section(section, heading)
    return lines


def render_index(pages: list[Page]) -> str:
    """A page with a line for each other one."""
    lines = ["# Commands", ""]
    for page in pages:
        lines.append(f"- [{page.name}]({page.file_name}.md): {_text(page.summary)}")
    return "\n".join([*lines, ""])


def _sentence(text: str, end: str = ".") -> str:
    return text[:1].upper() + text[1:].rstrip(".:") + end


def _text(text: str) -> str:
    """Text of which Markdown makes nothing else; what stands between backquotes stays code."""
    return "".join(part if position % 2 else _SPECIAL.sub(r"\\\1", part)
                   for position, part in enumerate(_CODE.split(" ".join(text.split()))))


def _unindented(block: str) -> list[str]:
    lines = block.splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    return [line[indent:] for line in lines]


def _group(group: Group, heading: str) -> list[str]:
    lines = [f"{heading} {group.title[:1].upper()}{group.title[1:]}", ""]
    if group.text:
        lines += [_text(group.text), ""]
    for argument in group.arguments:
        forms = ", ".join(f"`{form}`" for form in argument.shown())
        lines.append(f"- {forms}: {_text(argument.help)}" if argument.help else f"- {forms}")
    return [*lines, ""]


def _section(section: Section, heading: str) -> list[str]:
    lines = [f"{heading} {section.title[:1].upper()}{section.title[1:]}", ""]
    lines += [f"- `{term}`: {_text(text)}" for term, text in section.terms]
    return [*lines, ""]
