"""The pages of the command `frontload` and of its verbs, from their parsers.

argparse has no public way to look into a parser. Every tool of this kind uses its groups, actions
and formatter, which have been the same for as long as argparse exists.
"""

import argparse
from dataclasses import replace

from frontload.cli.manual.page import Argument, Group, Page, Section, examples_of
from frontload.cli.parser import Parser

_COMMAND = "frontload"
_ENDLESS = 100_000  # columns: nothing is wrapped


def pages(parser: Parser) -> list[Page]:
    """The page of a command, and those of its verbs."""
    found = [_page(parser, parser.description or "")]
    for action in _subparsers(parser):
        summaries = {each.dest: each.help for each in action._choices_actions}
        found += [_page(verb, summaries[name]) for name, verb in action.choices.items()
                  if name in summaries]
    return found


def _page(parser: Parser, summary: str) -> Page:
    # What a verb has verbs of its own for is on its page, too (frontload cargo record).
    inner = {} if parser.prog == _COMMAND else {
        name: below for action in _subparsers(parser) for name, below in action.choices.items()}
    synopsis = [usage for below in inner.values() for usage in _synopsis(below)]
    groups = [group for each in parser._action_groups if (group := _group(each, parser))]
    shared: dict[Group, list[str]] = {}  # which of them has the same group as another
    for name, below in inner.items():
        for each in below._action_groups:
            if group := _group(each, below, with_help=False):
                shared.setdefault(group, []).append(name)
    groups += [replace(group, title=f"{', '.join(names)}: {group.title}")
               for group, names in shared.items()]
    return Page(
        name=parser.prog, summary=_expand(summary, parser).rstrip("."),
        synopsis=tuple(synopsis) or _synopsis(parser),
        description=_expand(parser.description or "", parser).strip(), groups=tuple(groups),
        sections=tuple(Section(title, tuple(terms.items()))
                       for title, terms in parser.sections.items()),
        examples=examples_of(parser.examples))


def _subparsers(parser: argparse.ArgumentParser) -> list:
    return [action for action in parser._actions
            if isinstance(action, argparse._SubParsersAction)]


def _formatter(parser: argparse.ArgumentParser) -> argparse.HelpFormatter:
    formatter = parser.formatter_class(prog=parser.prog, width=_ENDLESS)
    if hasattr(formatter, "_set_color"):
        formatter._set_color(False)  # Python 3.14 has colours, by what stdout happens to be
    return formatter


def _expand(text: str, parser: argparse.ArgumentParser) -> str:
    return text.replace("%(prog)s", parser.prog)


def _synopsis(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    formatter = _formatter(parser)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    return tuple(line.strip() for line in formatter.format_help().splitlines() if line.strip())


def _group(group, parser: argparse.ArgumentParser, with_help: bool = True) -> Group | None:
    formatter = _formatter(parser)
    arguments: list[Argument] = []
    for action in group._group_actions:
        if action.help == argparse.SUPPRESS or (
                isinstance(action, argparse._HelpAction) and not with_help):
            continue
        if isinstance(action, argparse._SubParsersAction):
            arguments += [Argument((), each.dest, each.help or "", (each.dest,))
                          for each in action._choices_actions]
            continue
        arguments.append(_argument(action, formatter))
    if not arguments:
        return None
    return Group(group.title or "", _expand(group.description or "", parser), tuple(arguments))


def _argument(action: argparse.Action, formatter: argparse.HelpFormatter) -> Argument:
    choices = tuple(str(choice) for choice in action.choices or ())
    value = ""
    if action.nargs != 0:
        value = (action.metavar or (f"{{{','.join(choices)}}}" if choices else
                                    action.dest.upper() if action.option_strings else action.dest))
        if action.nargs in (argparse.ONE_OR_MORE, argparse.ZERO_OR_MORE, argparse.REMAINDER):
            value += "..."
    return Argument(
        flags=tuple(action.option_strings), value=value,
        help=formatter._expand_help(action) if action.help else "", choices=choices,
        is_value_optional=action.nargs == argparse.OPTIONAL,
        is_repeatable=isinstance(action, argparse._AppendAction)
        or action.nargs in (argparse.ONE_OR_MORE, argparse.ZERO_OR_MORE, argparse.REMAINDER))
