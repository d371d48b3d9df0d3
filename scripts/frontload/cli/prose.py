"""Paragraphs of help: what is prose in them, and what is to be left as it is."""

import textwrap


def blocks(text: str) -> list[tuple[bool, str]]:
    """The paragraphs of a text; True where one is indented, which is to be left as it is."""
    found: list[tuple[bool, list[str]]] = []
    is_new = True
    for line in text.splitlines():
        if not line.strip():
            is_new = True
            continue
        is_literal = line.startswith("  ")
        if is_new or found[-1][0] != is_literal:
            found.append((is_literal, []))
        found[-1][1].append(line)
        is_new = False
    return [(is_literal, "\n".join(lines)) for is_literal, lines in found]


def fill(text: str, width: int) -> str:
    """The text with its prose in lines of that width; names and options stay whole."""
    return "\n\n".join(
        block if is_literal else textwrap.fill(" ".join(block.split()), width,
                                               break_on_hyphens=False, break_long_words=False)
        for is_literal, block in blocks(text))
