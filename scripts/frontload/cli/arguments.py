"""Forms of arguments that several verbs take: types for argparse."""

import argparse
from collections.abc import Callable


def count(least: int) -> Callable[[str], int]:
    """A whole number from `least` up."""
    def count(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} up")
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
