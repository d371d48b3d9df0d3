"""The parser of the command and of each verb: argparse with help in sections, and errors that help.

A verb says its prose, its examples, and what is to be known of exit statuses, variables and files;
--help shows them in one form, and the manual (manual/) makes man pages and reference pages of the
very same. What is mistyped gets the nearest that exists as a note.
"""

import argparse
import difflib
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import NoReturn

from frontload.base import errors
from frontload.base.errors import EXIT_DATA, EXIT_OK, EXIT_USAGE
from frontload.cli import prose

# What holds for every verb that says nothing else; 1 is a verdict, which only some verbs give.
COMMON_EXIT_STATUS = {
    str(EXIT_OK): "done",
    str(EXIT_USAGE): "the command line is wrong, or a file that it names cannot be read or written",
    str(EXIT_DATA): "what a file contains is bad",
}
EXAMPLES = "examples"
_WIDEST_TERM = 20
_NEAR = 0.6  # of difflib's similarity: what is less is not what was meant


class _Formatter(argparse.HelpFormatter):
    """Fills prose to the terminal's width, and leaves what is indented as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return textwrap.indent(prose.fill(text, width), indent)


class Parser(argparse.ArgumentParser):
    """Takes, besides what argparse does, `examples` (shell text: comments that say what the
    commands below them do) and sections of terms. `exit_status` is added to the common ones, where
    None takes one away; `lists` are sections with other titles."""

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
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Ends the command: the usage, what is wrong, and what could have been meant."""
        self.print_usage(sys.stderr)
        near = self._nearest_options()
        note = f"did you mean {', '.join(near)}? " if near else ""
        self.exit(EXIT_USAGE, f"{self.prog}: error: {errors.printable(message)}\n"
                              f"{self.prog}: note: {note}see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """As argparse does, and names the nearest choice."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        near = difflib.get_close_matches(str(value), choices, 1, _NEAR)
        raise argparse.ArgumentError(
            action, f"{str(value)!r} is none of {', '.join(choices)}"
            + (f"; did you mean {near[0]}?" if near else ""))

    def _nearest_options(self) -> list[str]:
        """The options that those could have meant which are given and do not exist."""
        existing = [flag for flag in self._option_string_actions if flag.startswith("--")]
        found = []
        for given in self._given:
            if given == "--":
                break
            flag = given.partition("=")[0]
            # An unambiguous beginning of an option is that option.
            if flag.startswith("--") and not any(each.startswith(flag) for each in existing):
                found += difflib.get_close_matches(flag, existing, 1, _NEAR)
        return list(dict.fromkeys(found))


def verbs_below(parser: Parser) -> Iterator[Parser]:
    """The parser of a verb, and those of verbs that it has itself."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from verbs_below(below)


def parse(parser: Parser, argv: list[str] | None) -> argparse.Namespace:
    """Like parse_args, but what a verb does not know is that verb's error: it knows its options."""
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        of_verb: Parser = getattr(args, "parser", parser)
        of_verb.error(f"{'argument' if len(unknown) == 1 else 'arguments'} that "
                      f"{'is' if len(unknown) == 1 else 'are'} unknown here: {' '.join(unknown)}")
    return args


def _by_number(item: tuple[str, object]) -> tuple[int, str]:
    number = item[0].partition("+")[0]
    return int(number) if number.isdecimal() else -1, item[0]


def _format_terms(terms: Mapping[str, str], width: int) -> str:
    column = 4 + max((len(term) for term in terms if len(term) <= _WIDEST_TERM), default=0)
    lines = []
    for term, text in terms.items():
        wrapped = textwrap.wrap(text, max(width - column, 20), break_on_hyphens=False) or [""]
        if len(term) + 4 > column:
            lines.append(f"  {term}")
        else:
            lines.append(f"  {term}".ljust(column) + wrapped.pop(0))
        lines += [" " * column + line for line in wrapped]
    return "".join(f"{line.rstrip()}\n" for line in lines)
