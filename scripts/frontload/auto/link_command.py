"""The command that linked a program: a compiler driver (or a linker) and its arguments.

Builds write it as text for sh: `: && ccache c++ a.o -o app && cd sub && cmake -E copy ...`. This
splits such a text into simple commands, each with the folder it would run in. It runs nothing:
words that only a shell can evaluate (`$x`, backquotes, patterns) stay as written.

launcher  a program that runs the words after it: ccache, env, `cmake -E env`, frontload-cc. We drop
          it (links are not cached, and we replace frontload-cc), but keep the settings of env
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
NO_OUTPUT = "a.out"  # the output if no name is given
# A text for sh: a word of quoted, escaped, substituted and plain parts, or what ends a word.
_SHELL = re.compile(r"""
    (?P<redirection>\d*[<>][<>&|]*\ *)
  | (?P<comment>\#[^\n]*)
  | (?P<word>(?:'[^']*' | "(?:\\.|[^"\\])*" | \\. | \$\([^()]*\) | `[^`]*` | [^\s&|;()<>'"`\\])+)
  | (?P<end>[&|;()\n]+)
  | .""", re.VERBOSE | re.DOTALL)
_QUOTED = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)""", re.DOTALL)


@dataclass(frozen=True)
class LinkCommand:
    directory: str
    arguments: tuple[str, ...]  # without launchers; response files as they were given
    source: str = ""  # where the command was found
    environment: Mapping[str, str] = field(default_factory=dict)  # variables that the command sets
    builds: str = ""  # the program, if the build moves it from the output of the link
    is_asked: bool = False  # make was asked afterwards, without the variables that it was given

    @property
    def is_by_linker(self) -> bool:
        """Whether this runs a linker, not a compiler driver."""
        return is_linker(os.path.basename(self.arguments[0]))

    @property
    def output(self) -> str:
        return self.builds or os.path.join(self.directory, output_of(self.arguments))

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


def in_text(text: str, directory: str, source: str) -> list[LinkCommand]:
    """The links in a text for sh."""
    return [link for folder, words in simple_commands(text, directory)
            if (link := from_words(words, folder, source))]


def simple_commands(text: str, directory: str) -> Iterator[tuple[str, list[str]]]:
    """The words of each simple command in a text for sh, and its folder: `cd` is obeyed."""
    for words in _words_of_commands(text):
        if words[0] == "cd" and len(words) == 2:
            directory = os.path.normpath(os.path.join(directory, words[1]))
        else:
            yield directory, words


def _words_of_commands(text: str) -> Iterator[list[str]]:
    """The words of each simple command, without redirections."""
    words: list[str] = []
    skips = False  # the next word, which belongs to a redirection
    for token in _SHELL.finditer(text.replace("\\\n", "")):
        if token.lastgroup == "word":
            if not skips:
                words.append(_QUOTED.sub(_unquoted, token[0]))
            skips = False
        elif token.lastgroup == "redirection":
            skips = True
        elif token.lastgroup == "end" and words:
            yield words
            words = []
    if words:
        yield words


def _unquoted(part: re.Match) -> str:
    single, double, escaped = part.groups()
    if double is not None:
        return re.sub(r'\\([$`"\\])', r"\1", double)
    return single if single is not None else escaped


def compiler(link: LinkCommand) -> str:
    """gcc or clang, by the name of the program that links; empty for cc, which can be both."""
    name = os.path.basename(link.arguments[0])
    return "clang" if _CLANG.fullmatch(name) else "gcc" if _GCC.fullmatch(name) else ""
