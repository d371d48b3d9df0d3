"""The site, built once for all tests of it."""

import importlib.util
from pathlib import Path

import pytest
import sphinx
from compiled import kept
from documentation import ROOT, SITE, build_site

SOURCES = [ROOT / part for part in ("README.md", "CONTRIBUTING.md", "docs", "examples",
                                    "scripts/frontload/__init__.py")]


@pytest.fixture(scope="session")
def site() -> Path:
    def make(folder: Path) -> None:
        result = build_site(ROOT, folder / "site")
        assert result.returncode == 0, result.stderr

    # Themes and extensions are installed beside the generator.
    installed = Path(sphinx.__file__).parents[1].stat().st_mtime_ns
    return kept(make, "site", sphinx.__version__, installed, *SOURCES) / "site"


@pytest.fixture(scope="session")
def reference():
    """The module that writes the pages of docs/reference."""
    found = importlib.util.spec_from_file_location("written_pages", SITE / "written_pages.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
