"""Completions for fish: one `complete` for each option and place."""

from collections.abc import Iterable

from frontload.cli.completions import kinds
from frontload.cli.completions.kinds import Kind
from frontload.cli.manual.page import Page

_HEAD = "# fish completion for {name}, made of its manual\n"
# Of these each file has those that it uses. Which verb the line has, if any:
_VERB = """
function {prefix}_verb
    for word in (commandline -opc)[2..-1]
        switch $word
            case '-*'
            case '*'
                test "$word" = "$argv[1]"
                return
        end
    end
    test -z "$argv[1]"
end
"""
# What completes the command that stands after --, or where the verb (if there is one, `skip` is 1)
# has its first argument that is no option; the others are the options that have a value.
_COMMAND = """
function {prefix}_command --argument-names skip
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words[1..-2])
    if test -z "$at"
        __fish_complete_subcommand --fcs-skip=(math 1 + $skip) $argv[2..-1]
        return
    end
    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-2]) $words[-1])
end
"""
# NAME=FILE, or with an argument also FILE alone.
_NAMED = """
function {prefix}_named
    set -l parts (string split -m 1 = -- (commandline -ct))
    if set -q parts[2]
        printf '%s\\n' $parts[1]=(__fish_complete_path $parts[2])
    else if test -n "$argv[1]"
        __fish_complete_path $parts[1]
    end
end
"""


def of_command(command: Page, verbs: list[Page]) -> str:
    prefix = _prefix(command.name)
    lines = list(_arguments(command, command.name, f"{prefix}_verb ''", 0, prefix,
                            has_places=False))
    no_verb = _quoted(f"{prefix}_verb ''")
    for verb in verbs:
        lines.append(f"complete -c {command.name} -n {no_verb} -a {verb.name.split()[-1]}"
                     f" -d {_quoted(verb.summary)}\n")
    for verb in verbs:
        lines += _arguments(verb, command.name, f"{prefix}_verb {verb.name.split()[-1]}", 1, prefix)
    return _script(command.name, prefix, lines)


def of_program(page: Page) -> str:
    prefix = _prefix(page.name)
    return _script(page.name, prefix, list(_arguments(page, page.name, "", 0, prefix)))


def _script(name: str, prefix: str, lines: list[str]) -> str:
    body = f"\ncomplete -c {name} -f\n" + "".join(lines)
    functions = [text.format(prefix=prefix) for function, text in
                 (("verb", _VERB), ("command", _COMMAND), ("named", _NAMED))
                 if f"{prefix}_{function}" in body]
    return _HEAD.format(name=name) + "".join(functions) + body


def _prefix(name: str) -> str:
    return "__" + name.replace("-", "_").replace(".", "_")


def _quoted(text: str) -> str:
    return "'" + " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'") + "'"


def _arguments(page: Page, name: str, condition: str, skip: int, prefix: str,
               has_places: bool = True) -> Iterable[str]:
    start = f"complete -c {name}" + (f" -n {_quoted(condition)}" if condition else "")
    for option in page.options():
        flags = " ".join(_flag(flag) for flag in option.flags)
        value = ""
        if option.value and not option.is_value_optional:
            value = " -x" + _offer(kinds.of(option), prefix)
        yield f"{start} {flags}{value} -d {_quoted(kinds.brief(option))}\n"
    kind = kinds.of_places(page)
    if not has_places:
        return
    if kinds.has_command(page):
        valued = " ".join(flag for option in page.options() for flag in option.flags
                          if option.value and not option.is_value_optional)
        where = condition
        if kind is None or not kind.is_command:
            where += "; and contains -- -- (commandline -opc)"
        where = f" -n {_quoted(where)}" if where else ""
        yield (f"complete -c {name}{where} -a "
               f"{_quoted(f'({prefix}_command {skip} {valued})')}\n")
    if kind and not kind.is_command:
        yield f"{start}{_offer(kind, prefix)}\n"


def _flag(flag: str) -> str:
    if flag.startswith("--"):
        return f"-l {flag[2:]}"
    return f"-s {flag[1:]}" if len(flag) == 2 else f"-o {flag[1:]}"


def _offer(kind: Kind | None, prefix: str) -> str:
    if kind is None:
        return ""
    if kind.choices:
        return f" -a {_quoted(' '.join(kind.choices))}"
    if kind.is_folder:
        return " -a '(__fish_complete_directories)'"
    if kind.is_named or kind.is_name_optional:
        return f" -a '({prefix}_named{' optional' * kind.is_name_optional})'"
    if kind.pattern:
        # -k keeps the order: such files first, then the others.
        return f" -k -a '(__fish_complete_suffix .{kind.suffix})'"
    return " -a '(__fish_complete_path)'"
