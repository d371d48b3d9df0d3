"""The columns of tables, each with its cell for a variant, and sentences about a workload.

All come from the JSON alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coldbench.judge import first, replay

ABSENT = "—"


@dataclass(frozen=True)
class Column:
    heading: str
    cell: Callable[[dict], str]  # of a variant of the document


def _median(name: str, show: Callable[[float], str]) -> Callable[[dict], str]:
    """A median of the cold starts on the plain device."""
    def cell(variant: dict) -> str:
        figure = variant["cold"].get(name)
        return ABSENT if figure is None else show(figure["median"])
    return cell


def count(value: float) -> str:
    return f"{value:.0f}"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.1f}" if value >= 1e6 else f"{value / 1e6:.2f}"


def seconds(condition: str) -> Callable[[dict], str]:
    def cell(variant: dict) -> str:
        figures = variant.get(condition)
        return f"{figures['wall_ns']['mean'] / 1e9:.3f}" if figures else ABSENT
    return cell


def _requests(variant: dict) -> str:
    return count(variant["requests"]["reads"]) if variant["requests"] else ABSENT


def _link(variant: dict) -> str:
    return f"{variant['link']['seconds']:.2f}" if variant["link"] else ABSENT


def times(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


COLUMNS = (
    Column("major faults", _median("major_faults", count)),
    Column("MB read", _median("read_bytes", megabytes)),
    Column("requests", _requests),
    Column("peak RSS MB", _median("max_rss_bytes", megabytes)),
    Column("cold s, plain", seconds("cold")),
    Column("cold s, slow", seconds("slow")),
    Column("warm s", seconds("warm")),
    Column("file MB", lambda variant: megabytes(variant["size"])),
    Column("link s", _link),
)


def _words(verdict: dict) -> str:
    if verdict["first"] is False:
        return "not first"
    return "equal" if verdict["figure"] in first.COUNTS else "too close"


def verdicts(workload: dict) -> tuple[str, list[str]]:
    """Whether ours is first, in a sentence; and the verdicts where it is not, or is too close."""
    found: Sequence[dict] = workload["verdicts"]
    if not found:
        return "Not judged: the device was shared with other files.", []
    if all(verdict["first"] for verdict in found):
        return "Frontload is first in every figure.", []
    behind = [f"{_words(verdict)}: {verdict['text']}" for verdict in found if not verdict["first"]]
    ahead = sum(bool(verdict["first"]) for verdict in found)
    return f"Frontload is first in {ahead} of {len(found)} figures.", behind


def predictions(workload: dict) -> list[str]:
    """How near the model came, in sentences."""
    return replay.sentences({variant["name"]: variant["prediction"]
                             for variant in workload["variants"] if variant["prediction"]})
