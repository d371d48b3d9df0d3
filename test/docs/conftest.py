"""The site, built once for all tests of it."""

import importlib.util
from pathlib import Path

import pytest
from documentation import ROOT, SITE, build_site


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "site"
    result = build_site(ROOT, out)
    assert result.returncode == 0, result.stderr
    return out


@pytest.fixture(scope="session")
def reference():
    """The module that writes the pages of docs/reference."""
    found = importlib.util.spec_from_file_location("written_pages", SITE / "written_pages.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
