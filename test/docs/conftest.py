"""The site, built once for all tests of it, as scripts/docs does but for the pages that are written
anew."""

import sys
from pathlib import Path

import pytest
from compiled import kept
from linking import check_run
from places import ROOT

SOURCES = [*ROOT.glob("*.md"), *(ROOT / part for part in (
    "docs", "examples", "scripts/frontload/__init__.py"))]


@pytest.fixture(scope="session")
def site() -> Path:
    """What is missing, a link or a page that the navigation leaves out, fails the build."""
    def make(folder: Path) -> None:
        check_run(sys.executable, "-m", "sphinx", "-q", "--fresh-env", "--nitpicky",
                  "--fail-on-warning", "--keep-going", "-c", ROOT / "docs/site", "-d",
                  folder / "cache", ROOT, folder / "site")

    # Which generator, theme and extensions these are, pyproject.toml says.
    return kept(make, "site", ROOT / "pyproject.toml", *SOURCES) / "site"
