"""bench/readahead: its picture, and what it refuses."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench import readahead
from coldbench.show import readahead_picture

DOCUMENT = {"workload": "small", "variants": ["plain", "front"], "rows": [
    {"read_ahead_kib": kib, "variant": name, "major_faults": faults, "read_bytes": faults * 1e5}
    for name, factor in (("plain", 700), ("front", 50))
    for kib, faults in ((0, 9 * factor), (128, factor), (1024, 0))]}


def test_the_picture_has_a_line_for_each_variant():
    """Whose name it gives; the same document gives the same bytes."""
    picture = readahead_picture.draw(DOCUMENT)
    assert picture == readahead_picture.draw(DOCUMENT)
    for text in (b"plain", b"front", b"major faults", b"MB read"):
        assert picture.count(b">" + text + b"<") == 1
    other = {**DOCUMENT, "variants": ["front"]}
    assert b">plain<" not in readahead_picture.draw(other)


@pytest.mark.parametrize("settings", ["", "16,", "a lot", "-1"])
def test_settings_are_numbers(settings, capsys):
    with pytest.raises(SystemExit) as refusal:
        readahead.parse(["cc1", f"--settings={settings}"])
    assert refusal.value.code == 2
    assert "is not a list of numbers from 0 up" in capsys.readouterr().err
