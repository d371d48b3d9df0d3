"""The processors that the tests of this folder compile for."""

import sys

import abilities
import crossed
import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "test" / "runtime"))


@pytest.fixture(params=crossed.CHOSEN, ids=str)
def cross(request) -> crossed.Cross:
    cross = request.param
    abilities.need(f"program:{cross.emulator[0]}", f"program:{cross.processor}-linux-gnu-gcc")
    return cross
