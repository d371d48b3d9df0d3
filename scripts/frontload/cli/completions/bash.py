"""Completions for bash, by the functions of bash-completion, which loads such files when needed.

Its names are those of version 2.11 (Debian 12); later versions have them too.
"""

import shlex
from collections.abc import Iterable

from frontload.cli.completions import kinds
from frontload.cli.completions.kinds import Kind
from frontload.cli.manual.page import Argument, Page

# `place` is where the first word stands that is no option: a command begins there, or after --.
_HEAD = """\
# bash completion for {name}, made of its manual
{function}()
{{
    declare -F _init_completion >/dev/null || return 1
    local cur prev words cword split verb= place= i
    _init_completion -s || return
    for ((i = 1; i < cword; i++)); do
        case $verb:${{words[i]}} in
"""
_SCANNED = """\
            *:--)
                place=$((i + 1))
                break
                ;;
            *:-*) ;;
"""
_SCANNED_VERB = """\
            :*)
                verb=${words[i]}
                ;;
"""
_BODY = """\
            *)
                place=$i
                break
                ;;
        esac
    done
    case ${{place:+$verb:${{words[place - 1]}}}} in
        {commands})
            # That counts readline's words, of which --option=value is three.
            local at=0 rest
            for ((i = 0; i < place; i++)); do
                rest=${{words[i]}}
                while [[ $rest ]] && ((at < COMP_CWORD)); do
                    rest=${{rest#"${{COMP_WORDS[at]}}"}}
                    ((at++))
                done
            done
            _command_offset $at
            return
            ;;
    esac
    case $verb:$prev in
"""
_TAIL = """\
    esac
    [[ ${{COMPREPLY-}} == *= ]] && compopt -o nospace
    return 0
}} &&
    complete -F {function} {name}
"""
_END = "\n            return"


def of_command(command: Page, verbs: list[Page]) -> str:
    by_verb = [(verb.name.split()[-1], verb) for verb in verbs]
    return _script(command.name, [("", command), *by_verb])


def of_program(page: Page) -> str:
    return _script(page.name, [("", page)])


def _script(name: str, parts: list[tuple[str, Page]]) -> str:
    function = "_" + name.replace("-", "_").replace(".", "_")
    has_verbs = len(parts) > 1
    places = {verb: kinds.of_places(page) for verb, page in parts}
    valued = [f"{verb}:{flag}" for verb, page in parts for option in page.options()
              if option.value and not option.is_value_optional for flag in option.flags]
    lines = [_HEAD.format(name=name, function=function)]
    if valued:
        lines.append(_case("|".join(valued), "((i++))", "            ", body="    "))
    lines.append(_SCANNED + _SCANNED_VERB * has_verbs)
    commands = [f"{verb}:" + ("*" if (kind := places[verb]) and kind.is_command else "--")
                for verb, page in parts if kinds.has_command(page)]
    lines.append(_BODY.format(commands="|".join(commands) or "-"))
    by_offer: dict[str, list[str]] = {}
    for verb, page in parts:
        for option in page.options():
            if option.value:
                by_offer.setdefault(_of_option(option), []).extend(
                    f"{verb}:{flag}" for flag in option.flags)
    lines += [_case("|".join(patterns), offer) for offer, patterns in by_offer.items()]
    lines.append("    esac\n    $split && return\n    case $verb:$cur in\n")
    for verb, page in parts:
        lines.append(_case(f"{verb}:-*", _words(_flags(page.options()))))
        if has_verbs and not verb:
            lines.append(_case(":*", _words(each for each, _ in parts if each)))
        elif kind := places[verb]:
            lines.append(_case(f"{verb}:*", _offer(kind)))
    return "".join(lines) + _TAIL.format(name=name, function=function)


def _case(pattern: str, commands: str, indent: str = "        ", body: str = "    ") -> str:
    return f"{indent}{pattern})\n{indent}{body}{commands}\n{indent}{body};;\n"


def _flags(options: Iterable[Argument]) -> Iterable[str]:
    for option in options:
        for flag in option.flags:
            is_joined = (option.is_joined and option.value and not option.is_value_optional
                         and flag.startswith("--"))
            yield f"{flag}=" if is_joined else flag


def _words(words: Iterable[str]) -> str:
    return f"COMPREPLY=($(compgen -W {shlex.quote(' '.join(words))} -- \"$cur\"))"


def _of_option(option: Argument) -> str:
    kind = kinds.of(option)
    if option.is_value_optional:
        # What comes after it may be something else.
        return f"if $split; then {_offer(kind) if kind else ':'}; return; fi"
    return _offer(kind) + _END if kind else "return"


def _offer(kind: Kind) -> str:
    if kind.choices:
        return _words(kind.choices)
    if kind.is_command:
        return "_command_offset $COMP_CWORD"
    if kind.is_folder:
        return "_filedir -d"
    files = f"_filedir {shlex.quote(kind.suffix)}" if kind.pattern else "_filedir"
    if kind.is_named:
        return f"[[ $cur == *=* ]] && {{ cur=${{cur#*=}}; {files}; }}"
    return f"cur=${{cur#*=}}; {files}" if kind.is_name_optional else files
