"""The command that linked a program: a compiler driver (or a linker) and its arguments.

launcher  a program that runs the words after it: ccache, env, `cmake -E env`, frontload-cc. We drop
          it (links are not cached, and we replace frontload-cc), but keep the settings of env
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path

from frontload.auto import shell_words
from frontload.base import response_files
from frontload.base.errors import Failure

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_CACHES = {"ccache", "sccache", "distcc", "icecc", "buildcache", "gomacc", "time"}
_LINKER = re.compile(r"(?:.*-)?ld(?:\.\w+)?(?:-\d+)?|collect2|mold|lld")
_CLANG = re.compile(r"(?:.*-)?clang(?:\+\+)?(?:-[\d.]+)?")
_GCC = re.compile(r"(?:.*-)?(?:gcc|g\+\+|gfortran|gdc|gnat)(?:-[\d.]+)?")
_NO_LINK = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-###", "--version", "-dumpversion",
            "-cc1", "-r", "-Wl,-r", "--relocatable", "--help"}
_MAX_RESPONSE_FILES = 100  # nested in each other
_CLANG_WITH_LD_PATH = 12
NO_OUTPUT = "a.out"  # the output if no name is given


class Family(StrEnum):
    GCC = "gcc"
    CLANG = "clang"
    LINKER = "linker"


@dataclass(frozen=True)
class LinkCommand:
    directory: str
    arguments: tuple[str, ...]  # without launchers; response files as they were given
    source: str = ""  # where the command was found
    environment: Mapping[str, str] = field(default_factory=dict)  # variables that the command sets

    @property
    def output(self) -> str:
        return os.path.join(self.directory, output_of(self.arguments))

    def expanded(self) -> list[str]:
        """The arguments, with response files replaced by their contents."""
        return _expand(self.arguments, self.directory, _MAX_RESPONSE_FILES)


def _expand(arguments: Sequence[str], directory: str, depth: int) -> list[str]:
    found = []
    for argument in arguments:
        path = os.path.join(directory, argument[1:])
        if not argument.startswith("@") or depth == 0:
            found.append(argument)
            continue
        try:
            text = Path(path).read_text("utf-8", "surrogateescape")
        except FileNotFoundError as problem:
            raise Failure(f"{path}: the response file of the link is gone",
                          note="keep it (ninja -d keeprsp), or give the link command with --link"
                          ) from problem
        found += _expand(response_files.words(text), directory, depth - 1)
    return found


def output_of(arguments: Sequence[str]) -> str:
    """The file that a driver or linker writes with these arguments."""
    found = NO_OUTPUT
    for position, argument in enumerate(arguments):
        following = arguments[position + 1] if position + 1 < len(arguments) else ""
        if argument in ("-o", "--output"):
            found = following or found
        elif argument.startswith("--output="):
            found = argument.removeprefix("--output=")
        elif argument.startswith("-o") and not argument.startswith("-obj"):
            found = argument[2:]
    return found


def is_link(arguments: Sequence[str]) -> bool:
    """Whether this is a compiler driver or a linker, and links."""
    name = os.path.basename(arguments[0])
    if not (_LINKER.fullmatch(name) or is_driver(name)):
        return False
    return len(arguments) > 1 and not _NO_LINK.intersection(arguments[1:])


def is_driver(name: str) -> bool:
    return bool(_CLANG.fullmatch(name) or _GCC.fullmatch(name) or name in ("cc", "c++"))


def is_linker(name: str) -> bool:
    return bool(_LINKER.fullmatch(name))


def from_words(words: Sequence[str], directory: str, source: str) -> LinkCommand | None:
    """The link that a simple command does, or None."""
    words, environment = list(words), {}
    while words:
        name = os.path.basename(words[0])
        if match := _ASSIGNMENT.fullmatch(words[0]):
            environment[match[1]] = match[2]
            words = words[1:]
        elif name in _CACHES:
            words = words[1:]
        elif name == "env":
            words = _behind_env(words[1:])
        elif name == "nice":
            words = words[3:] if words[1:2] == ["-n"] else _behind_options(words[1:])
        elif name == "frontload-cc":
            words = _behind_options(words[1:])
        elif name.startswith("cmake") and words[1:3] in (["-E", "env"], ["-E", "time"]):
            words = _behind_env(words[3:])
        else:
            break
    words = words[_behind_wrapper(words):]
    if not words or not is_link(words):
        return None
    return LinkCommand(directory, tuple(words), source, environment)


def _behind_wrapper(words: Sequence[str]) -> int:
    """The position of a driver behind a wrapper's `--`; 0 if there is none."""
    return next((position for position, word in enumerate(words)
                 if position and words[position - 1] == "--" and is_driver(os.path.basename(word))),
                0)


def _behind_options(words: list[str]) -> list[str]:
    return next((words[start:] for start, word in enumerate(words) if not word.startswith("-")), [])


def _behind_env(words: list[str]) -> list[str]:
    """The command that env runs, with the assignments before it; unset variables stay set."""
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-u", "-C") else 1:]
    return words


def in_text(text: str, directory: str, source: str, evaluate: bool = True) -> list[LinkCommand]:
    """The links in a text for sh. Without `evaluate`, nothing is run, and words that only a shell
    can evaluate stay as written."""
    found = []
    for simple in shell_words.commands(text, directory):
        # Only a command that looks like a link may be evaluated.
        link = from_words(simple.texts, simple.directory, source)
        if link and evaluate:
            link = from_words(shell_words.evaluate(simple), simple.directory, source)
        if link:
            found.append(link)
    return found


def named_family(link: LinkCommand) -> Family | None:
    """The kind of program that links, by its name alone; None for cc and c++, which can be both."""
    name = os.path.basename(link.arguments[0])
    if _LINKER.fullmatch(name):
        return Family.LINKER
    if _CLANG.fullmatch(name):
        return Family.CLANG
    if _GCC.fullmatch(name):
        return Family.GCC
    return None


def family(link: LinkCommand) -> Family:
    """The kind of program that links. If its name does not tell, we ask the program for its
    version. An unknown program is a Failure with the remedy."""
    named = named_family(link)
    if named:
        return named
    program = link.arguments[0]
    version = version_of(program, link.directory)
    if "clang" in version:
        return Family.CLANG
    if "Free Software Foundation" in version or "gcc" in version.lower():
        return Family.GCC
    raise Failure(f"{program}: is neither gcc nor clang, according to its --version",
                  note="give the command of the gcc, clang or ld that it runs with --link")


def knows_ld_path(link: LinkCommand) -> bool:
    """Whether this clang is new enough for --ld-path."""
    match = re.search(r"clang version (\d+)", version_of(link.arguments[0], link.directory))
    return match is not None and int(match[1]) >= _CLANG_WITH_LD_PATH


@cache
def version_of(program: str, directory: str) -> str:
    """A compiler's output for --version; empty if it cannot be run."""
    try:
        return subprocess.run([program, "--version"], cwd=directory, capture_output=True,
                              encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL,
                              timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
