"""The plan of a measurement: which variants are started, from which conditions, how often.

variant  one program (or one way to call it) among those that are compared; the first is the base
round    one run of every variant; comparisons are made within rounds

Rounds come in pairs. The first of a pair runs the variants in a shuffled order (from a fixed seed),
the second in reverse: a machine that slowly speeds up or down favors no variant.
"""

import os
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from frontload.base.errors import HOW_TO_RUN, Failure
from frontload.base.ready import Ready
from frontload.measure.conditions import COLD, SELECTIVELY_COLD, WARM

RUNS = 50  # of each variant in each condition, as in the classic studies of cold starts
STDOUT = "stdout"  # an output to compare that is not a file


@dataclass(frozen=True)
class Variant:
    name: str
    command: tuple[str, ...]
    files: tuple[str, ...]  # the named files
    seen: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)  # more variables


@dataclass(frozen=True)
class Plan:
    variants: tuple[Variant, ...]
    conditions: tuple[str, ...] = (SELECTIVELY_COLD, WARM)
    runs: int = RUNS
    warmup: int = 1
    seed: int = 1
    evict_seen: bool = False  # also when selectively cold
    allow_warm: bool = False
    ignore_failure: bool = False
    compare: tuple[str, ...] = ()  # STDOUT, or files that the command writes
    ready: Ready | None = None  # the end of startup; None: when the command ends


def make_variants(command: Sequence[str], binaries: Sequence[tuple[str, str]],
                  evict: Sequence[str], name: str | None = None) -> tuple[Variant, ...]:
    """The variants of a command in which `{}` stands for each binary (also in `evict`).

    Without binaries the command is the only variant, and is its own binary.
    """
    if not binaries:
        return (Variant(name or os.path.basename(command[0]), tuple(command),
                        _files(evict or ["{}"], command[0])),)
    names = [label for label, _ in binaries]
    if len(set(names)) < len(names):
        raise Failure("--variant: two variants have the same name",
                      note="name each of them: --variant before=FILE --variant after=FILE")
    if not any("{}" in argument for argument in command):
        raise Failure("the command has no {}, so all variants would run the same program",
                      note="write {} where the variant's binary belongs: -- {} ARGUMENTS")
    # The name of an existing file means that file; PATH is only for other names.
    paths = [(label, os.path.join(".", binary) if os.path.isfile(binary) and "/" not in binary
              else binary)
             for label, binary in binaries]
    return tuple(
        Variant(label, tuple(argument.replace("{}", path) for argument in command),
                _files(evict or ["{}"], path))
        for label, path in paths)


def _files(patterns: Sequence[str], binary: str) -> tuple[str, ...]:
    found = shutil.which(binary)
    if found is None:
        raise Failure(f"{binary}: is not a program that can be run", note=HOW_TO_RUN)
    return tuple(dict.fromkeys(pattern.replace("{}", found) for pattern in patterns))


def orders(count: int, rounds: int, seed: int) -> Iterator[list[int]]:
    """The order of the variants in each round."""
    shuffler = random.Random(seed)
    order = list(range(count))
    for number in range(rounds):
        if number % 2 == 0:
            shuffler.shuffle(order)
        else:
            order.reverse()
        yield list(order)


def count_runs(plan: Plan) -> int:
    warm_ups = 1 + (COLD in plan.conditions[:-1])
    return len(plan.variants) * (plan.warmup * warm_ups + plan.runs * len(plan.conditions))
