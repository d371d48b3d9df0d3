"""What several tests of coldbench, the Python of bench/, need."""

import json
from pathlib import Path

from places import ROOT

BENCH = ROOT / "bench"


def write_files(folder: Path, **texts: str) -> Path:
    """Makes a folder with files: write_files(f, program_c="text") makes f/program.c."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def read_json(path: Path, schema: str):
    document = json.loads(path.read_text())
    assert document["schema"] == schema
    return document
