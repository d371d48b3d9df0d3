"""The processors that the tests of this folder compile for."""

import sys

import crossed
import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "test" / "runtime"))


@pytest.fixture(params=crossed.ALL, ids=str)
def cross(request) -> crossed.Cross:
    return request.param.need()
