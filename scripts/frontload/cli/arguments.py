"""Argument types and options that several verbs share.

`--json FILE` writes JSON to FILE, and the tables as always; `--json -` writes JSON to stdout
instead of the tables. If a user forgets the FILE, the next word must not be overwritten: an
existing FILE that does not hold JSON is refused.
"""

import argparse
import math
import os
import re
from collections.abc import Callable

from frontload.base.files import STDOUT
from frontload.profile.generations import NO_LABEL, is_label
from frontload.profile.role import NO_ROLE, is_role

DEFAULT_MIN_MATCH = 80.0
_LOOK_AT = 4096  # bytes of a file, to tell whether it is JSON
_BYTES = re.compile(r"((\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?)([kMG]?)", re.ASCII)
_MAX_LENGTH = 30  # characters: more than any number of bytes needs


def count(least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number from `least` up, or to `most`."""
    def count(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            limit = "up" if most is None else f"to {most}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} {limit}")
        return int(text)
    return count


def named(form: str) -> Callable[[str], tuple[str, str]]:
    """A name and its value; `form` describes both: NAME=BINARY."""
    def named(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {form}")
        return name, value
    return named


def weighted(text: str) -> tuple[str, int]:
    """WEIGHT,PATH: an input, and how many times it counts."""
    weight, _, path = text.partition(",")
    # The limit keeps sums of runs in profiles readable.
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


def parse_bytes(text: str) -> int | float:
    """The number of bytes in a text such as 4096, 80M or 1.5G (powers of 1000, as for disks);
    ValueError if it is not a number above 0."""
    found = _BYTES.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if found is None:
        raise ValueError(f"{text!r} is not a number of bytes")
    number, digits, unit = found.groups()
    value = (int(digits) if number == digits else float(number)) * 1000 ** " kMG".index(unit or " ")
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{text!r} is not a number of bytes above 0")
    return int(value) if value == int(value) else value


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
    """A program by its name or its path; a path stands for its name, wherever the program was."""
    if not os.path.basename(text):
        raise argparse.ArgumentTypeError(f"{text!r} is a folder, not the name or path of a program")
    return text


def file_only(text: str) -> str:
    """A binary file or a folder, which cannot go to stdout."""
    if text == STDOUT:
        raise argparse.ArgumentTypeError("cannot be written to stdout: give a path")
    return text


def command(args: argparse.Namespace) -> list[str]:
    """The COMMAND of a verb: all words from there on; a usage error if there is none."""
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
    """Adds `--json FILE`, by the rule above. `not_over`: the schema of the verb's input, which must
    not be overwritten."""
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
        # A device can be written, too.
        if os.path.isfile(text) and _start(text).lstrip()[:1] not in (b"", b"{", b"["):
            raise argparse.ArgumentTypeError(f"{text!r} exists and is not JSON, so it is left as "
                                             "it is; --json - writes to stdout")
        if not_over and os.path.isfile(text) and not_over.encode() in _start(text):
            raise argparse.ArgumentTypeError(f"{text!r} is {not_over}, which this verb reads, so "
                                             "it is left as it is; --json - writes to stdout")
        return text
    return json_file


def _start(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_LOOK_AT)
    except OSError:
        return b""  # writing will report the error
