"""What tests of one link share: a small program."""

from pathlib import Path

import pytest
from linking import TWO_FUNCTIONS, compile_text


@pytest.fixture
def program(tmp_path) -> Path:
    """The object of the smallest program that has something to order."""
    return compile_text(tmp_path, "a.c", TWO_FUNCTIONS)
