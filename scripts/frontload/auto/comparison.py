"""Whether two builds of a program behave alike: the same stdout, and the same ending."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontload.auto.workload import Workload
from frontload.base.processes import Result


@dataclass(frozen=True)
class Comparison:
    workload: str
    same: bool | None  # None: two runs of the program itself differ
    detail: str


def compare(workloads: Sequence[Workload], before: str, after: str, plain: str | None = None, *,
            below: Sequence[str] = (), after_by: Sequence[str] = ()) -> list[Comparison]:
    """Compares `after` with `before`. `plain`, linked by ld.frontload without a profile, tells
    whether the front makes the difference. `below`: the command that runs them; `after_by`: the
    command that runs `after` below that one, such as `env` with variables."""
    return [_compare(workload, before, after, plain, below, after_by) for workload in workloads]


def _compare(workload: Workload, before: str, after: str, plain: str | None,
             below: Sequence[str], after_by: Sequence[str]) -> Comparison:
    def run(binary: str) -> Result:
        # All in the same way: a program may print how it was called.
        return workload.run(binary, [*below, *(after_by if binary == after else after_by[:1])])

    expected, found = run(before), run(after)
    if _does(found, after) == _does(expected, before):
        return Comparison(str(workload), True, f"{len(expected.stdout)} characters on stdout, "
                          f"{_ending(expected.status)}")
    if _does(run(before), before) != _does(expected, before):
        return Comparison(str(workload), None, "two runs of the program itself differ")
    detail = _difference(expected, found)
    if plain and _does(run(plain), plain) != _does(expected, before):
        detail += "; the same happens without a front, so the change of linker causes it"
    return Comparison(str(workload), False, detail)


def _does(result: Result, binary: str) -> tuple[int, str]:
    """Status and stdout, without the program's path, which it may print."""
    return result.status, result.stdout.replace(binary, "{}")


def _difference(expected: Result, found: Result) -> str:
    if expected.status != found.status:
        return f"{_ending(found.status)}, not {_ending(expected.status)}"
    lines = zip([*expected.stdout.splitlines(), ""], [*found.stdout.splitlines(), ""], strict=False)
    number = next((number for number, (one, other) in enumerate(lines, 1) if one != other), 0)
    return f"stdout differs from line {number} on"


def _ending(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {-status}"
