"""The comparison: its figures are those of the race."""

import importlib.util
import sys

import pytest
from documentation import ROOT, SITE

RACE = """\
# The race

## cc1

|  | major faults | MB read | slow s, by requests |
| --- | --- | --- | --- |
| lld | 724 | 72.4 | 5.479 |
| lld, the whole file by `MADV_WILLNEED` | 0 | 207.6 | 2.613 |
| gcc PGO, `-freorder-functions` (1) | — | — | — |
| **ld.frontload** | 52 | 10.2 | 0.616 |
| **ld.frontload**, run by **frontload-run** | 1 | 10.4 | 0.142 |

(1) is not built so
"""


@pytest.fixture(scope="module")
def figures():
    found = importlib.util.spec_from_file_location("race_figures", SITE / "race_figures.py")
    module = sys.modules[found.name] = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_row_is_one_technique(figures):
    costs = figures.read(RACE)["cc1"]
    assert list(costs) == ["lld, as it is", "gcc PGO", "a front"]
    assert costs["lld, as it is"].text() == "724, 72.4 MB, 5.48 s"
    assert costs["gcc PGO"].text() == "—"


def test_the_page_of_the_race_has_every_technique_for_some_program(figures):
    race = figures.read((ROOT / "docs/race.md").read_text())
    for technique in figures.TECHNIQUES.values():
        assert any(technique in race[program] and race[program][technique].is_known
                   for program in figures.PROGRAMS), technique


def test_the_same_race_gives_the_same_picture(figures):
    race = figures.read((ROOT / "docs/race.md").read_text())
    light, again = (figures.draw(race, figures.THEMES["light"]) for _ in range(2))
    assert light == again
    assert light != figures.draw(race, figures.THEMES["dark"])
