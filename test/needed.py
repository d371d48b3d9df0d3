"""Programs of others that a test cannot do without."""

import shutil

import pytest


def need(tool: str) -> str:
    """The tool's path; a test without its tool is skipped."""
    return shutil.which(tool) or pytest.skip(f"{tool} is not installed")
