"""Completions for zsh: one _arguments per verb, in a file of the name that its fpath looks for."""

import re
from collections.abc import Iterable

from frontload.cli.completions import kinds
from frontload.cli.completions.kinds import Kind
from frontload.cli.manual.page import Page

_COMMAND = """\
#compdef {name}
# zsh completion for {name}, made of its manual

_{name}() {{
  local curcontext="$curcontext" state line ret=1
  local -a verbs
  typeset -A opt_args
  verbs=(
{verbs}
  )
  _arguments -C -S \\
{options}
    '1:verb:->verb' \\
    '*:: :->rest' && ret=0
  case $state in
    verb)
      _describe -t verbs verb verbs && ret=0
      ;;
    rest)
      curcontext="${{curcontext%:*:*}}:{name}-$words[1]:"
      case $words[1] in
{cases}
      esac
      ;;
  esac
  return ret
}}

_{name} "$@"
"""
_PROGRAM = """\
#compdef {name}
# zsh completion for {name}, made of its manual

_arguments -S \\
{specs}
"""

# The command's own completions, for which the -- before it is no part of the command.
_OF_COMMAND = "{ [[ $words[1] == -- ]] && { shift words; (( CURRENT -= 1 )) }; _normal }"

# The same where something else can stand before the --, or there is none.
_OR_COMMAND = ("{{ local at=$words[(i)--]; if (( at < CURRENT )); then shift $at words; "
               "(( CURRENT -= at )); _normal; else {otherwise}; fi }}")


def of_command(command: Page, verbs: list[Page]) -> str:
    lines = [f"    {_quoted(verb.name.split()[-1] + ':' + _escaped(verb.summary))}"
             for verb in verbs]
    cases = []
    for verb in verbs:
        specs = [*_options(verb), *_places(verb)]
        cases.append(f"        {verb.name.split()[-1]})\n          _arguments -S \\\n"
                     + " \\\n".join(f"            {spec}" for spec in specs)
                     + " && ret=0\n          ;;")
    return _COMMAND.format(name=command.name, verbs="\n".join(lines), cases="\n".join(cases),
                           options="\n".join(f"    {spec} \\" for spec in _options(command)))


def of_program(page: Page) -> str:
    specs = [*_options(page), *_places(page)]
    return _PROGRAM.format(name=page.name, specs=" \\\n".join(f"  {spec}" for spec in specs))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _escaped(text: str) -> str:
    """A text in a spec, where colons and brackets mean something."""
    return re.sub(r"([\\:\[\]])", r"\\\1", " ".join(text.replace("`", "").split()))


def _options(page: Page) -> Iterable[str]:
    for option in page.options():
        others = " ".join(option.flags)
        is_end = "--help" in option.flags or "--version" in option.flags
        before = ("(- *)" if is_end else "*" if option.is_repeatable
                  else f"({others})" if len(option.flags) > 1 else "")
        for flag in option.flags:
            value = ""
            if option.value:
                kind = kinds.of(option)
                colons = "::" if option.is_value_optional else ":"
                value = f"{colons}{_escaped(option.value)}:{_action(kind)}"
                # = may stand for the space, except after one letter, where nothing need stand.
                is_long = flag.startswith("--")
                flag += "=-" if is_long and option.is_value_optional else "=" if is_long else "+"
            yield _quoted(f"{before}{flag}[{_escaped(kinds.brief(option))}]{value}")


def _places(page: Page) -> Iterable[str]:
    kind = kinds.of_places(page)
    if kind is None:
        return
    if kind.is_command:
        yield _quoted("(-)1:command: _command_names -e")
        yield _quoted("*::argument:" + _OF_COMMAND)
    elif kinds.has_command(page):
        yield _quoted("*:argument:" + _OR_COMMAND.format(otherwise=_action(kind)))
    else:
        yield _quoted(f"*:argument:{_action(kind)}")


def _action(kind: Kind | None) -> str:
    if kind is None:
        return " "
    if kind.choices:
        return f"({' '.join(kind.choices)})"
    if kind.is_folder:
        return "_files -/"
    files = f'_files -g "{kind.pattern}"' if kind.pattern else "_files"
    if kind.is_named:
        return f'{{ compset -P "*=" && {files} }}'
    return f'{{ compset -P "*="; {files} }}' if kind.is_name_optional else files
