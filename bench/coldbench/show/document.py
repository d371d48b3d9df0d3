"""The JSON of the programs of bench/: its head, writing and reading.

    {"schema", "frontload": version, "host", ..., "workloads": [a workload]}
"""

import json
from collections.abc import Mapping
from pathlib import Path

from frontload import __version__
from frontload.base.errors import BadData
from frontload.base.files import parse_json, write_if_changed
from frontload.machine.host import describe_host

RACE = "frontload-race/1"
START, HELDOUT = "frontload-start/1", "frontload-heldout/1"
KERNELS = "frontload-kernels/1"
DISTRIBUTION, GAINS = "frontload-distribution/1", "frontload-gains/1"


def head(schema: str, **more) -> dict:
    return {"schema": schema, "frontload": __version__, "host": describe_host(), **more}


def write(file: Path, document: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_if_changed(file, (json.dumps(document, indent=1) + "\n").encode())


def read_rows(file: Path, **schemas: str) -> dict[str, dict]:
    """The rows of such a document by their package; none if there is no file."""
    return {row["package"]: row for row in read(file, **schemas)["rows"]} if file.exists() else {}


def write_rows(file: Path, head: dict, rows: Mapping[str, dict]) -> dict:
    """A document with a line for each row."""
    lines = ",\n".join(json.dumps(rows[name]) for name in sorted(rows))
    text = json.dumps({**head, "rows": []})[:-len("]}")] + f"\n{lines}\n]}}\n"
    write_if_changed(file, text.encode())
    return json.loads(text)


def read(file: Path, **schemas: str) -> dict:
    """A document of one of these programs of bench/, each with its schema."""
    document = parse_json(file.read_bytes(), file)
    if not isinstance(document, dict) or document.get("schema") not in schemas.values():
        expected = " or ".join(f"bench/{name} (schema {schema})"
                               for name, schema in schemas.items())
        raise BadData(file, f"not a result of {expected}")
    return document
