"""What can stand for an argument: told by its name, which is the same in all verbs and programs."""

import re
from dataclasses import dataclass, replace

from frontload.cli.manual.page import Argument, Page

_PROFILES, _TRACES, _MAPS = "*.startup", "*.fltrace", "*.map"
# Of FILE alone the option tells more.
_BY_OPTION = {"--profile": _PROFILES, "--startup-profile": _PROFILES, "--map": _MAPS}
_BY_NAME = {"PROFILE": _PROFILES, "OLD": _PROFILES, "NEW": _PROFILES, "TRACE": _TRACES,
            "FAULTS.json": "*.json"}
_FOLDER = "DIR"
_FILES = ("FILE", "PATH", "BINARY", "INPUT", "PATTERN", "PROGRAM", "OBJECT")
_LEAST_HELP = 15  # characters: less is the name of a choice, which is explained next
_COMMANDS = ("COMMAND", "COMPILER")


@dataclass(frozen=True)
class Kind:
    choices: tuple[str, ...] = ()
    pattern: str = ""  # of files; folders come along
    is_folder: bool = False
    is_file: bool = False
    is_command: bool = False  # it, and its arguments
    is_named: bool = False  # NAME= stands before it,
    is_name_optional: bool = False  # or may do so

    @property
    def suffix(self) -> str:
        """Of the pattern: what comes after the dot."""
        return self.pattern.removeprefix("*.")


def of(argument: Argument) -> Kind | None:
    """What can be offered for an argument's value, if anything can."""
    if not argument.value:
        return None
    if argument.choices:
        return Kind(choices=argument.choices)
    kind = _of_name(argument.value)
    for flag in argument.flags:
        if flag in _BY_OPTION and kind == Kind(is_file=True):
            return replace(kind, pattern=_BY_OPTION[flag])
    return kind


def brief(argument: Argument) -> str:
    """Its help up to where details begin."""
    text = " ".join(argument.help.replace("`", "").split())
    first = re.split(r"[;:.] | \(", text, maxsplit=1)[0]
    return first if len(first) >= _LEAST_HELP else text


def of_places(page: Page) -> Kind | None:
    """What can be offered where no option is; several kinds of file are any file."""
    found = {kind for argument in page.arguments() if not argument.flags
             if (kind := of(argument))}
    if not any(not argument.flags for argument in page.arguments()):
        # A native program says it in its synopsis alone.
        words = re.sub(r"\[[^\]]*\]", "", " ".join(page.synopsis)).split()[1:]
        found = {kind for word in words if not word.startswith("-") and (kind := _of_name(word))}
    verbs = tuple(argument.value for argument in page.arguments()
                  if not argument.flags and argument.choices == (argument.value,))
    if verbs:
        return Kind(choices=verbs)
    if len(found) > 1 and not any(kind.is_command for kind in found):
        return Kind(is_file=True)
    return max(found, key=lambda kind: kind.is_command, default=None)


def has_command(page: Page) -> bool:
    """Whether a command can stand after --."""
    return any(name in _COMMANDS for argument in page.arguments() if not argument.flags
               for name in _alternatives(argument.value)) or _is_command(of_places(page))


def _is_command(kind: Kind | None) -> bool:
    return kind is not None and kind.is_command


def _alternatives(value: str) -> list[str]:
    return re.split(r"\s*\|\s*", value.removesuffix("..."))


def _of_name(value: str) -> Kind | None:
    for name in _alternatives(value):
        bare = re.sub(r"^\[?NAME=\]?", "", name)
        named = {"is_named": name.startswith("NAME="),
                 "is_name_optional": name.startswith("[NAME=]")}
        if bare == _FOLDER:
            return Kind(is_folder=True)
        if bare in _COMMANDS:
            return Kind(is_command=True)
        if bare in _BY_NAME:
            return Kind(is_file=True, pattern=_BY_NAME[bare], **named)
        if match := re.fullmatch(r"[A-Z]+\.([a-z]+)", bare):
            return Kind(is_file=True, pattern=f"*.{match[1]}", **named)
        if bare.upper() in _FILES:
            return Kind(is_file=True, **named)
    return None
