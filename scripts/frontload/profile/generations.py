"""The generations of a startup profile: the runs of one build, or of one day, under its label.

A profile that each build renews is made of runs of many builds. Names that only old builds touch
have to fade, and to be forgotten in the end, or the front fills with code that no start needs. So a
run of each generation counts twice as often as one of the generation before, and only the newest
generations are kept.

This module defines labels, their order, and the weights of runs. format.py defines their form in a
profile.

A *label* is a version, a build number or a date, such as 2.10, 1234 or 2026-11-24. Labels compare
as version numbers do in Debian: numbers by their value, so 2.10 is newer than 2.9; a part behind
`~` comes before its end, so 2.0~rc1 is older than 2.0; letters come before other characters. Runs
without a label are of the oldest generation.

Leaving out the oldest generations commutes with merging: a generation that a part leaves out has as
many newer ones in the part, and so in the whole. So parts may leave out generations, as long as
they keep as many as the whole does.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

KEPT = 8  # generations, by default
MAX_GENERATIONS = 16  # a run of the newest then weighs 2^15 of the oldest
NO_LABEL = ("not a label: 1 to 64 letters, digits and characters of `._+~-`, of which the first is "
            "a letter or digit")
_LABEL = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+~-]{0,63}")
_UNLABELLED = b"-"  # in the file
_PARTS = re.compile(rb"([^0-9]*)([0-9]*)")
_COUNT = re.compile(rb"0|[1-9][0-9]{0,18}")
_END, _TILDE, _BEHIND_LETTERS = 0, -1, 256
_COLD_PARTS_UNKNOWN = b"cold-parts-unknown"


class Generation(NamedTuple):
    """How many runs it has; the label is empty if none was given."""

    label: bytes
    runs: int
    data_runs: int = 0
    knows_cold_parts: bool = True


def is_label(text: str) -> bool:
    return bool(_LABEL.fullmatch(text))


def age(label: bytes) -> tuple[bool, tuple[tuple[int, ...] | int, ...], bytes]:
    """The sort key of labels, from the oldest to the newest. Different labels are never equal: 2.1
    and 2.01 have the same numbers, and their bytes decide."""
    def order(byte: int) -> int:
        if byte == ord("~"):
            return _TILDE
        return byte if chr(byte).isalpha() else byte + _BEHIND_LETTERS

    parts = tuple(key for text, digits in _PARTS.findall(label)
                  for key in ((*map(order, text), _END), int(digits or b"0")))
    return bool(label), parts, label


def weighed(counts: Sequence[int]) -> int:
    """The weighted sum of runs by generation, newest first."""
    return sum(count << place for place, count in enumerate(reversed(counts)))


def united(parts: Iterable[Generation]) -> tuple[Generation, ...]:
    """The generations of several sets of runs, newest first; each label once."""
    found: dict[bytes, Generation] = {}
    for each in parts:
        mine = found.get(each.label, Generation(each.label, 0))
        found[each.label] = Generation(
            each.label, mine.runs + each.runs, mine.data_runs + each.data_runs,
            mine.knows_cold_parts and each.knows_cold_parts)
    return tuple(sorted((each for each in found.values() if each.runs),
                        key=lambda each: age(each.label), reverse=True))


def times(generations: Iterable[Generation], weight: int) -> list[Generation]:
    """The same with `weight` times as many runs."""
    return [each._replace(runs=weight * each.runs, data_runs=weight * each.data_runs)
            for each in generations]


def to_bytes(generations: Iterable[Generation]) -> bytes:
    return b" ".join(b"%s:%d:%d" % (each.label or _UNLABELLED, each.runs, each.data_runs)
                     + (b"" if each.knows_cold_parts else b":" + _COLD_PARTS_UNKNOWN)
                     for each in generations)


def parse(text: bytes) -> tuple[Generation, ...]:
    """Undoes to_bytes; raises ValueError for anything else."""
    words = text.split(b" ", MAX_GENERATIONS)
    if len(words) > MAX_GENERATIONS:
        raise ValueError(f"more than {MAX_GENERATIONS} generations")
    found = tuple(map(_parse_one, words))
    labels = [each.label for each in found]
    if labels != sorted(set(labels), key=age, reverse=True):
        raise ValueError("the generations are not in their order, from the newest to the oldest")
    if not labels[0]:
        raise ValueError("no generation has a label")
    return found


def _parse_one(word: bytes) -> Generation:
    label, *counts = word.split(b":", 4)
    cold = counts[2:]
    if not all(map(_COUNT.fullmatch, counts[:2])) or len(counts) < 2 or \
            cold not in ([], [_COLD_PARTS_UNKNOWN]):
        raise ValueError(f"`{word.decode('utf-8')}` is not a generation, LABEL:runs:data-runs")
    if label != _UNLABELLED and not is_label(label.decode("utf-8")):
        raise ValueError(f"`{label.decode('utf-8')}` is {NO_LABEL}")
    runs, data_runs = map(int, counts[:2])
    if not data_runs <= runs or not runs:
        raise ValueError(f"{data_runs} of {runs} runs have data")
    return Generation(b"" if label == _UNLABELLED else label, runs, data_runs, not cold)
