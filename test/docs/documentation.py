"""Where the documentation is, and how its site is built."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SITE = ROOT / "docs/site"  # what the site is made with


def build_site(root: Path, out: Path) -> subprocess.CompletedProcess:
    """Runs the generator as scripts/docs does, but for the pages that are written anew."""
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "--fresh-env", "--nitpicky", "--fail-on-warning",
         "--keep-going", "-c", root / "docs/site", "-d", f"{out}.cache", root, out],
        capture_output=True, text=True, timeout=300)
