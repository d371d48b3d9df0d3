"""Forms of arguments that several verbs take: types for argparse."""

import argparse
import math
from collections.abc import Callable

from frontload.base.quantities import parse_bytes


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


def positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not (value > 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def bandwidth(least: int = 0) -> Callable[[str], int | float]:
    """A number of bytes per second, from `least` up; N[k|M|G]."""
    def bandwidth(text: str) -> int | float:
        try:
            value = parse_bytes(text)
        except ValueError:
            value = 0
        if value < least or not value:
            limit = f"of bytes from {least // 1_000_000}M up" if least else "above 0"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number {limit}")
        return value
    return bandwidth
