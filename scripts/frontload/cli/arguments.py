"""Forms of arguments that several verbs take: types for argparse, and options that are the same in
all verbs.

`--json FILE` writes JSON to FILE, and the tables as always; `--json -` writes it to stdout, in
place of the tables. Who forgets the FILE must not lose the word that follows: a FILE that exists
and holds something other than JSON is refused.
"""

import argparse
import math
import os
import re
from collections.abc import Callable

from frontload.base.files import STDOUT
from frontload.base.quantities import parse_bytes
from frontload.profile.generations import MOST as MOST_GENERATIONS
from frontload.profile.generations import NO_LABEL, is_label
from frontload.profile.role import NO_ROLE, is_role

DEFAULT_MIN_MATCH = 80.0
_LOOK_AT = 4096  # bytes of a file that tell whether it is JSON


def count(least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number from `least` up, or to `most`."""
    def count(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            limit = "up" if most is None else f"to {most}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} {limit}")
        return int(text)
    return count


def named(form: str) -> Callable[[str], tuple[str, str]]:
    """A name and a value that belongs to it; `form` is what both are called: NAME=BINARY."""
    def named(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {form}")
        return name, value
    return named


def weighted(text: str) -> tuple[str, int]:
    """WEIGHT,PATH: an input that counts so many times."""
    weight, _, path = text.partition(",")
    # The bound keeps sums of runs readable for those who read a profile.
    if not re.fullmatch("[1-9][0-9]{0,8}", weight) or not path:
        raise argparse.ArgumentTypeError(f"{text!r} is not WEIGHT,PATH with a whole number from 1 "
                                         "to 999999999")
    return path, int(weight)


def role(text: str) -> str:
    """The role of a process."""
    if not is_role(text):
        raise argparse.ArgumentTypeError(f"{text!r} is {NO_ROLE}")
    return text


def generation(text: str) -> str:
    """The label of a generation of runs."""
    if not is_label(text):
        raise argparse.ArgumentTypeError(f"{text!r} is {NO_LABEL}")
    return text


def number_of_generations(text: str) -> int:
    """How many generations a profile keeps."""
    if not re.fullmatch("[1-9][0-9]?", text) or int(text) > MOST_GENERATIONS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_GENERATIONS}")
    return int(text)


def seconds(text: str) -> float:
    """A time above 0."""
    return _above_0(text, "a number of seconds")


def positive(text: str) -> float:
    return _above_0(text, "a number")


def _above_0(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (value > 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what} above 0")
    return value


def bandwidth(least: int = 0) -> Callable[[str], int | float]:
    """A number of bytes per second, from `least` up; N[k|M|G]."""
    def bandwidth(text: str) -> int | float:
        try:
            value = parse_bytes(text)
        except ValueError:
            value = 0
        if value < least or not value:
            limit = f"from {least // 1_000_000}M up" if least else "above 0"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes {limit}")
        return value
    return bandwidth


def percentage(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 100")
    return value


def program_argument(text: str) -> str:
    """A program by its name or its path; a path stands for the name, wherever the program was."""
    if not os.path.basename(text):
        raise argparse.ArgumentTypeError(f"{text!r} is a folder, not the name or path of a program")
    return text


def file_only(text: str) -> str:
    """A file that is no text, or a folder: nothing that could go to stdout."""
    if text == STDOUT:
        raise argparse.ArgumentTypeError("cannot be written to stdout: give a path")
    return text


def command(args: argparse.Namespace) -> list[str]:
    """The COMMAND of a verb that takes all words from there on; its usage error if there is
    none."""
    words = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not words:
        args.usage_error("a COMMAND is needed, after --")
    return words


def add_min_match(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--min-match", metavar="PERCENT", type=percentage,
                        default=DEFAULT_MIN_MATCH,
                        help="fail if less than this share of the profile's names is found "
                        "(default %(default)g; 0 never fails)")


def add_json(parser: argparse._ActionsContainer, what: str = "the result as JSON", *,
             instead_of: str = "the tables", not_over: str | None = None) -> None:
    """Adds `--json FILE`, by the rule above. `not_over` is the schema of JSON that must not be
    overwritten, because the verb reads it."""
    parser.add_argument(
        "--json", metavar="FILE", type=_json_file(not_over),
        help=f"write {what} to FILE; - is stdout" + (f", instead of {instead_of}" if instead_of
                                                     else ""))


def _json_file(not_over: str | None) -> Callable[[str], str]:
    def json_file(text: str) -> str:
        if not text:
            raise argparse.ArgumentTypeError("'' is not a file; - is stdout")
        if text == STDOUT:
            return text
        if os.path.isdir(text):
            raise argparse.ArgumentTypeError(f"{text!r} is a folder, not a FILE to write; --json - "
                                             "writes to stdout")
        if not _can_become_json(text):
            raise argparse.ArgumentTypeError(f"{text!r} exists and is not JSON, so it is left as "
                                             "it is; --json - writes to stdout")
        if not_over and os.path.isfile(text) and not_over.encode() in _start(text):
            raise argparse.ArgumentTypeError(f"{text!r} is {not_over}, which this verb reads, so "
                                             "it is left as it is; --json - writes to stdout")
        return text
    return json_file


def _can_become_json(path: str) -> bool:
    """Whether JSON can be written there without harm: nothing is there, or JSON, or a device."""
    if not os.path.isfile(path):
        return not os.path.isdir(path)
    return _start(path).lstrip()[:1] in (b"", b"{", b"[")


def _start(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_LOOK_AT)
    except OSError:
        return b""  # writing it will say what is wrong
