"""Sphinx's configuration of the site: what becomes a page, how it looks, and what is an error.

The sources are the repository itself, so that one Markdown file with one set of links serves the
site and the page that a code-hosting service makes of it. `scripts/docs` builds it.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(ROOT / "scripts"))

from frontload import __version__  # noqa: E402

project = "Frontload"
version = release = __version__
language = "en"
extensions = ["myst_parser", "plain_markdown"]

# Sphinx looks through every folder that is not excluded: of the repository only a few have pages.
PAGES = (*(path.name for path in ROOT.glob("*.md")), "docs", "examples")
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "examples/**/README.md"]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.name not in PAGES] + ["docs/site"]

# The anchors that code-hosting services make of headings: links to them are checked.
myst_heading_anchors = 4
nitpicky = True
# Blocks that name no language are the output of programs.
highlight_language = "none"
# Code with … in it is colored as far as that can be.
suppress_warnings = ["misc.highlighting_failure"]
# Options begin with two hyphens, which are not to become a dash.
smartquotes = False

html_theme = "furo"
html_title = f"Frontload {__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "first.html"}
templates_path = ["templates"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
# Summaries are fetched, which browsers do not allow a page that is a file.
html_show_search_summary = False
html_domain_indices = False
html_theme_options = {"navigation_with_keys": False}
