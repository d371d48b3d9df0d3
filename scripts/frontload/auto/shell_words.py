"""Reads the command lines that build systems write down: what a shell would run, word by word.

Builds write a link as text for sh: `: && c++ -O2 a.o -o app && cd sub && cmake -E copy ...`. This
module splits such a text into simple commands, each with the folder it would run in. A word whose
value only a shell can tell (`$x`, backquotes, patterns) is *live*; `evaluate` asks a shell.
"""

import os
import subprocess
from dataclasses import dataclass, field

from frontload.base.errors import Failure

_OPERATORS = "&|;()\n"
_REDIRECTIONS = "<>"
_LIVE = "$`"
_PATTERNS = "*?["
_TIMEOUT_SECONDS = 60  # of a command substitution, such as pkg-config


@dataclass
class Word:
    text: str  # without the quotes
    raw: str  # as it was written
    live: bool = False


@dataclass(frozen=True)
class Simple:
    """A simple command, and the folder it would run in."""

    directory: str
    words: list[Word] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]

    @property
    def live(self) -> bool:
        return any(word.live for word in self.words)


def commands(text: str, directory: str) -> list[Simple]:
    """The simple commands in a text for sh, in order. `cd` is obeyed; redirections are left out,
    and so is everything in a quote that does not end."""
    found = []
    here = directory
    for words in _Reader(text).commands():
        if words[0].text == "cd" and len(words) == 2 and not words[1].live:
            here = os.path.normpath(os.path.join(here, words[1].text))
        elif words[0].text != ":":
            found.append(Simple(here, words))
    return found


def evaluate(command: Simple) -> list[str]:
    """The command's words as a shell evaluates them; runs command substitutions."""
    if not command.live:
        return command.texts
    script = "printf '%s\\0' " + " ".join(word.raw for word in command.words)
    try:
        result = subprocess.run(["sh", "-c", script], cwd=command.directory, capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=_TIMEOUT_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as problem:
        raise Failure(f"sh: cannot tell the words of: {script.partition(' ')[2]}: {problem}",
                      note="give the link command with --link, without variables") from problem
    return [os.fsdecode(word) for word in result.stdout.split(b"\0")[:-1]]


class _Reader:
    def __init__(self, text: str):
        self._text = text.replace("\\\n", "")
        self._at = 0

    def commands(self) -> list[list[Word]]:
        found: list[list[Word]] = []
        words: list[Word] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in _OPERATORS:
                found.append(words)
                words = []
                self._at += 1
            elif character in _REDIRECTIONS:
                if words and words[-1].raw.isdigit() and self._text[self._at - 1].isdigit():
                    words.pop()  # of the descriptor
                self._redirection()
            elif character == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif character.isspace():
                self._at += 1
            else:
                word = self._word()
                if word:
                    words.append(word)
        found.append(words)
        return [words for words in found if words]

    def _redirection(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in "<>&| \t":
            self._at += 1
        self._word()

    def _word(self) -> Word | None:
        """The word that begins here; None if a quote in it does not end."""
        start, text, live, quote = self._at, [], False, ""
        while self._at < len(self._text):
            character = self._text[self._at]
            if quote:
                if character == quote:
                    quote = ""
                elif character == "\\" and quote == '"' and self._next() in '$`"\\':
                    self._at += 1
                    text.append(self._text[self._at])
                else:
                    live = live or (quote == '"' and character in _LIVE)
                    text.append(character)
            elif character in "'\"":
                quote = character
            elif character == "\\":
                self._at += 1
                text.append(self._text[self._at:self._at + 1])
            elif character.isspace() or character in _OPERATORS + _REDIRECTIONS:
                break
            else:
                live = live or character in _LIVE + _PATTERNS or (character == "~" and not text)
                text.append(character)
                if character == "$" and self._next() == "(":
                    self._substitution(text)
                elif character == "`":
                    self._until_backquote(text)
            self._at += 1
        return None if quote else Word("".join(text), self._text[start:self._at], live)

    def _next(self) -> str:
        return self._text[self._at + 1:self._at + 2]

    def _substitution(self, text: list[str]) -> None:
        """Goes to the end of `$(...)`."""
        depth = 0
        while self._at + 1 < len(self._text):
            self._at += 1
            character = self._text[self._at]
            text.append(character)
            depth += (character == "(") - (character == ")")
            if not depth:
                return

    def _until_backquote(self, text: list[str]) -> None:
        end = self._text.find("`", self._at + 1)
        end = len(self._text) - 1 if end < 0 else end
        text.append(self._text[self._at + 1:end + 1])
        self._at = end
