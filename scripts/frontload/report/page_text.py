"""How the report's page writes names and figures.

Names come from anybody's files. The template escapes characters with a meaning in HTML. This module
writes out invisible ones (control characters, marks that change the direction of writing, bytes
that are not text). It cuts very long names in the middle, because the ends of paths and of
qualified names tell the most.
"""

from typing import Any

from frontload.base.errors import printable

MINUS = "\N{MINUS SIGN}"

# A longer tooltip would cover the page.
MAX_CHARACTERS = 1000

_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SECONDS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def name(text: Any) -> str:
    """A name as it can be shown, of a readable length."""
    shown = printable(str(text)) if text not in (None, "") else "?"
    if len(shown) <= MAX_CHARACTERS:
        return shown
    half = MAX_CHARACTERS // 2
    return f"{shown[:half]} … {len(shown) - 2 * half} characters … {shown[-half:]}"


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def _scaled(value: float, units: tuple, rest: str) -> str:
    for scale, unit in units:
        # A value that rounds to one of the next unit is given in that unit.
        if abs(value) >= scale * 0.9995:
            return (MINUS if value < 0 else "") + f"{_three_digits(abs(value) / scale)} {unit}"
    return f"{value:.0f} {rest}".replace("-", MINUS)


def byte_count(value: float | None) -> str:
    return "?" if value is None else _scaled(value, _BYTES, "B")


def duration(nanoseconds: float | None) -> str:
    if nanoseconds == 0:
        return "0"
    return "?" if nanoseconds is None else _scaled(nanoseconds, _SECONDS, "ns")


def number(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}".replace("-", MINUS)


def share(part: float | None, whole: float | None = 1) -> str:
    """A part in percent; never 100 if something is missing, never 0 if something is there."""
    if part is None or not whole:
        return "?"
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "< 0.1%"
    if 99.9 < percent < 100:
        return "> 99.9%"
    return f"{percent:.0f}%" if percent in (0, 100) else f"{percent:.1f}%"


def change(before: float | None, after: float | None, less: str = "less") -> str:
    """How two figures compare, in words that need no arithmetic: `14 times fewer`."""
    if before is None or after is None:
        return ""
    if before == after:
        return "the same"
    if before and abs(after - before) < 0.005 * before:
        return "about the same"
    if not after:
        return "none left"
    if not before:
        return "none before"
    ratio = before / after if after < before else after / before
    direction = less if after < before else "more"
    if ratio < 2:
        return f"{share(abs(after - before), before)} {direction}"
    times = f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"
    return f"{times} times {direction}"
