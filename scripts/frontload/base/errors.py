"""How Frontload reports errors, and the exit codes.

A diagnostic is one line on stderr, `frontload: error: <path or thing>: <what is wrong>`, and where
it helps a second one, `frontload: note: <what to do>`. Verbs raise `Failure`; cli/main.py prints.
"""

import math
import os
import re
import signal
import sys
import textwrap
from collections.abc import Callable
from typing import TextIO

EXIT_OK = 0
EXIT_VERDICT = 1  # the work was done and the answer is no
EXIT_USAGE = 2  # the command line is wrong, or a file it names cannot be read or written
EXIT_DATA = 65  # a file's contents are bad (EX_DATAERR of sysexits.h)
EXIT_SOFTWARE = 70  # a defect of Frontload itself (EX_SOFTWARE of sysexits.h)
# The remedy if a command cannot be run.
HOW_TO_RUN = "give its path, or put its folder in PATH; a file must be executable (chmod +x)"

_QUOTED_LINES = 12  # the last ones say what went wrong

# Set by --quiet: warnings and notes are left out, except a note that belongs to an error.
_is_quiet = False
_last_kind = ""


class Failure(Exception):
    """Ends the command with `message` (and a `note` with the remedy) and an exit code."""

    def __init__(self, message: str, *, code: int = EXIT_USAGE, note: str | None = None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.note = note

    def __reduce__(self) -> tuple[object, ...]:  # pickled to come from another process
        return _failure, (self.message, self.code, self.note)


def _failure(message: str, code: int, note: str | None) -> Failure:
    return Failure(message, code=code, note=note)


class BadData(Failure):
    """A file's contents are bad, at byte `offset` or in line `line`."""

    def __init__(self, path: os.PathLike[str] | str, what: str, *, offset: int | None = None,
                 line: int | None = None, note: str | None = None):
        where = os.fspath(path)
        if line is not None:
            where += f":{line}"
        if offset is not None:
            what += f" (at byte {offset})"
        super().__init__(f"{where}: {what}", code=EXIT_DATA, note=note)


class Interrupted(BaseException):
    """A signal asked us to end; like KeyboardInterrupt, but for SIGTERM and SIGHUP too."""

    def __init__(self, number: int):
        super().__init__(signal.strsignal(number))
        self.exit_status = 128 + number


def printable(text: str) -> str:
    """`text` with everything that could steer a terminal escaped; names come from foreign files."""
    if text.isprintable():  # nearly always
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode()
                   for c in text)


class Command(str):
    """An indented line for a shell, where a backslash may continue it."""


def nearby(text: str) -> str:
    """`printable`, with paths below the current folder as seen from there."""
    try:
        here = re.escape(printable(os.getcwd()))
    except OSError:  # it is gone
        here = ""
    return re.sub(rf"(?<![^\s'\"])(?:{here}/)(?=\w)", "", printable(text)) if here.strip("/") else \
        printable(text)


def folded(line: str, stream: TextIO) -> str:
    """`printable`, and for a terminal broken between words, so that paths stay whole. An indented
    line that is no command is a file's, and stays as it is."""
    text = printable(line)
    is_command = isinstance(line, Command)
    if not stream.isatty() or (text.startswith(" ") and not is_command):
        return text
    width = os.get_terminal_size(stream.fileno()).columns or 80
    if not is_command:
        return textwrap.fill(nearby(line), width, subsequent_indent="  ", break_long_words=False,
                             break_on_hyphens=False)
    lines = [""]
    for word in re.findall(r"\s*(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+", text):
        if lines[-1].strip() and len(lines[-1] + word) + 2 > width:
            lines[-1] += " \\"
            lines.append(f"       {word.lstrip()}")
        else:
            lines[-1] += word
    return "\n".join(lines)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def percent(part: float, whole: float) -> str:
    """Rounded down, so that a value below a limit is never shown as reaching it."""
    return f"{math.floor(10000 * part / whole) / 100:.2f}%"


def be_quiet(quiet: bool) -> None:
    """Decides whether warnings and notes are left out, until the next call."""
    global _is_quiet, _last_kind
    _is_quiet, _last_kind = quiet, ""


def is_quiet() -> bool:
    return _is_quiet


def _say(kind: str, message: str) -> None:
    global _last_kind
    belongs_to_error = kind == "note" and _last_kind == "error"
    if kind == "error" or belongs_to_error or not _is_quiet:
        print(folded(f"frontload: {kind}: {message}", sys.stderr), file=sys.stderr)
    if not belongs_to_error:  # an error may have several notes
        _last_kind = kind


def quote(text: str) -> None:
    """Prints another program's own error output; only the last lines if it is long."""
    for line in text.strip().splitlines()[-_QUOTED_LINES:]:
        print(f"  {printable(line)}", file=sys.stderr)


def error(message: str) -> None:
    _say("error", message)


def warning(message: str) -> None:
    _say("warning", message)


def note(message: str) -> None:
    _say("note", message)


class Diagnostics:
    """Warnings and notes, in their order. Functions below the verbs return them, and verbs show
    them; `at_once` is for verbs of long steps, and shows each message when it comes."""

    def __init__(self, at_once: bool = False) -> None:
        self._messages: list[tuple[str, str]] = []
        self._at_once = at_once
        self.begin: Callable[..., Callable[[str], None]] | None = None  # of console.steps

    def _add(self, *messages: tuple[str, str]) -> None:
        self._messages += messages
        if self._at_once:
            self.show()

    def warning(self, message: str) -> None:
        self._add(("warning", message))

    def note(self, message: str) -> None:
        self._add(("note", message))

    def step(self, message: str, total: int | None = None) -> Callable[[str], None]:
        """What is done next, in `total` parts: a line of console.steps, or else a note. Returns a
        function to be called before each part."""
        if self.begin:
            return self.begin(message, total)
        self.note(message)
        return lambda doing: None

    def quote(self, text: str) -> None:
        """Another program's own error output, as with `quote`."""
        self._add(("quote", text))

    def extend(self, other: "Diagnostics") -> None:
        self._add(*other._messages)

    def show(self) -> None:
        """Prints what has not been shown yet."""
        for kind, message in self._messages:
            if kind == "quote":
                quote(message)
            else:
                _say(kind, message)
        self._messages.clear()
