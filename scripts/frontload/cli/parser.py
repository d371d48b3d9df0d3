"""The parser of the command and of each verb: argparse with help in sections, and errors that help.

A verb declares its description, examples, exit statuses, variables and files. --help prints them in
one form, and manual.py makes man pages and reference pages from them. For a mistyped word, a note
gives the nearest that exists.
"""

import argparse
import difflib
import re
import sys
import textwrap
from collections.abc import Mapping
from typing import NoReturn

from frontload.base import errors
from frontload.base.errors import EXIT_DATA, EXIT_OK, EXIT_USAGE

# For verbs that declare no others; status 1 is a verdict, which only some verbs give.
COMMON_EXIT_STATUS = {
    str(EXIT_OK): "success",
    str(EXIT_USAGE): "the command line is wrong, or a file on it cannot be read or written",
    str(EXIT_DATA): "the contents of a file are bad",
}
EXAMPLES = "examples"
_MAX_TERM_WIDTH = 20
_MIN_SIMILARITY = 0.6  # by difflib; less similar words are not suggested


class _Formatter(argparse.HelpFormatter):
    """Fills prose to the terminal's width, and leaves indented text as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return textwrap.indent("\n\n".join(
            block if block.startswith("  ") else textwrap.fill(
                " ".join(block.split()), width, break_on_hyphens=False, break_long_words=False)
            for block in re.split(r"\n(?:\s*\n)+", text.strip("\n"))), indent)

class Parser(argparse.ArgumentParser):
    """Like argparse's, with `examples` (shell text: comments explain the commands below them) and
    sections of terms. `exit_status` is added to the common statuses, or removes one by None;
    `lists` are sections with other titles."""

    def __init__(self, *args, examples: str = "",
                 exit_status: Mapping[str, str | None] | None = None,
                 environment: Mapping[str, str] | None = None,
                 files: Mapping[str, str] | None = None,
                 lists: Mapping[str, Mapping[str, str]] | None = None, **options):
        options.setdefault("formatter_class", _Formatter)
        super().__init__(*args, **options)
        self._positionals.title = "arguments"
        self.examples = examples
        self.sections: dict[str, dict[str, str]] = {title: dict(terms) for title, terms
                                                    in (lists or {}).items()}
        statuses = {**COMMON_EXIT_STATUS, **(exit_status or {})}
        self.sections["exit status"] = {status: text for status, text
                                        in sorted(statuses.items(), key=_by_number) if text}
        for title, terms in (("environment", environment), ("files", files)):
            if terms:
                self.sections[title] = dict(terms)
        self._given: list[str] = []

    def format_help(self) -> str:
        width = max(self._get_formatter()._width, 40)
        text = super().format_help()
        for title, terms in self.sections.items():
            if title == "exit status" and self.examples:
                text += f"\n{EXAMPLES}:\n{textwrap.indent(self.examples, '  ')}"
            text += f"\n{title}:\n{_format_terms(terms, width)}"
        return text

    def parse_known_args(self, args=None, namespace=None):
        self._given = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(self._given, namespace)

    def error(self, message: str) -> NoReturn:
        """Ends the command: the usage, the error, and what could have been meant."""
        self.print_usage(sys.stderr)
        near = self._nearest_options()
        note = f"did you mean {', '.join(near)}? " if near else ""
        self.exit(EXIT_USAGE, errors.folded(f"{self.prog}: error: {message}", sys.stderr) +
                  f"\n{self.prog}: note: {note}see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Like argparse, but names the nearest choice."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        near = difflib.get_close_matches(str(value), choices, 1, _MIN_SIMILARITY)
        raise argparse.ArgumentError(
            action, f"{str(value)!r} is not one of {', '.join(choices)}"
            + getattr(action.choices, "also", "") + (f"; did you mean {near[0]}?" if near else ""))

    def _nearest_options(self) -> list[str]:
        """The options nearest to given ones that do not exist."""
        existing = [flag for flag in self._option_string_actions if flag.startswith("--")]
        found = []
        for given in self._given:
            if given == "--":
                break
            flag = given.partition("=")[0]
            # An unambiguous beginning of an option is that option.
            if flag.startswith("--") and not any(each.startswith(flag) for each in existing):
                found += difflib.get_close_matches(flag, existing, 1, _MIN_SIMILARITY)
        return list(dict.fromkeys(found))


def add_loudness(parser: Parser) -> None:
    """-q and -v, for every verb."""
    parser.add_argument("-q", "--quiet", action="store_true",
                        help="show only errors and the result, no warnings and notes")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="show each program that is run")


def _by_number(item: tuple[str, object]) -> tuple[int, str]:
    number = item[0].partition("+")[0]
    return int(number) if number.isdecimal() else -1, item[0]


def _format_terms(terms: Mapping[str, str], width: int) -> str:
    column = 4 + max((len(term) for term in terms if len(term) <= _MAX_TERM_WIDTH), default=0)
    lines = []
    for term, text in terms.items():
        wrapped = textwrap.wrap(text, max(width - column, 20), break_on_hyphens=False) or [""]
        if len(term) + 4 > column:
            lines.append(f"  {term}")
        else:
            lines.append(f"  {term}".ljust(column) + wrapped.pop(0))
        lines += [" " * column + line for line in wrapped]
    return "".join(f"{line.rstrip()}\n" for line in lines)
