"""The JSON of bench/run, bench/race and bench/readahead: its head, writing and reading.

    {"schema", "frontload": version, "host", ..., "workloads": [a workload]}

A workload of bench/run and of bench/race has the same form where both measure the same; of_starts()
makes that part. Its variants are those of judge/figures.py.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from frontload import __version__
from frontload.base.errors import BadData
from frontload.base.files import parse_json, write_if_changed
from frontload.machine.host import describe_host
from frontload.measure import doubts

from coldbench.judge import figures
from coldbench.judge.verdicts import Verdict
from coldbench.measure.starts import Starts
from coldbench.variants.work_folder import WorkFolder

RUN, RACE, READAHEAD = "frontload-bench/2", "frontload-race/1", "frontload-readahead/1"
STEADY = "frontload-steady/3"
START, HELDOUT = "frontload-start/1", "frontload-heldout/1"
SCALE = "frontload-scale/1"


def head(schema: str, **more) -> dict:
    return {"schema": schema, "frontload": __version__, "host": describe_host(), **more}


def of_starts(work: WorkFolder, starts: Starts, variants: list[dict],
              predictions: Mapping[str, dict]) -> dict:
    """A workload by its starts and their predictions (see judge/replay.py)."""
    workload = work.workload
    base = workload.variants[0]
    return {
        "name": workload.name,
        "title": workload.title or workload.name,
        "command": list(work.command(base, work.binary(base), "OUTPUT")),
        "place": figures.place(starts),
        "missing": starts.missing,
        "warnings": [warning for measured in starts.measurements.values()
                     for warning in doubts.warnings(measured)],
        "variants": [variant | {"prediction": predictions[variant["name"]]}
                     for variant in variants],
        "outputs_are_identical": starts.outputs_are_identical(),
    }


def required(verdicts: Iterable[Verdict]) -> list[dict]:
    """Verdicts of bench/run: whether the requirements hold."""
    return [{"text": verdict.text, "holds": verdict.holds} for verdict in verdicts]


def compared(verdicts: Iterable[Verdict]) -> list[dict]:
    """Verdicts of bench/race: whether ours is first in a figure."""
    return [{"figure": verdict.figure, "first": verdict.holds, "text": verdict.text}
            for verdict in verdicts]


def write(file: Path, document: dict) -> None:
    write_if_changed(file, (json.dumps(document, indent=1) + "\n").encode())


def schema(file: Path) -> str | None:
    """The schema of a result."""
    document = parse_json(file.read_bytes(), file)
    return document.get("schema") if isinstance(document, dict) else None


def read(file: Path, schema: str, program: str) -> dict:
    document = parse_json(file.read_bytes(), file)
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise BadData(file, f"not a result of {program} (schema {schema})")
    return document
