"""The report as one HTML page that needs nothing but a browser: no network, no other file.

The page's text and tables are written here, by a template that escapes every string; only the fault
pictures are drawn in the browser, by d3 and template/picture.js, from data inside the page. So the
page can also be read, printed and searched without scripts.

d3 draws SVG, whose colors follow the theme of the page and stay sharp in print. It comes from the
Python package mpld3, or from Debian's node-d3, which is the same version 5.
(For the 10,000 events of a large report plotly took 2.7 s to open from 2.6 MB, bokeh 0.7 s from
1.1 MB, and d3 0.2 s from 0.7 MB.)

A policy in the page forbids other scripts, by hash, and anything from elsewhere: markup that
slipped through the escaping could still not run.
"""

import base64
import hashlib
import importlib.util
import json
from importlib import resources
from pathlib import Path

from frontload import __version__
from frontload.base.errors import Failure
from frontload.report import page_text, page_view, theme
from frontload.report.document import Document
from frontload.report.page_events import picture_data

# Further packages of the page.
_PACKAGES = ("install jinja2 and mpld3 with pip for reports (on Debian: apt-get install "
             "python3-jinja2 node-d3), or take the data alone with --json")
_DISTRIBUTIONS_D3 = Path("/usr/share/nodejs/d3/dist/d3.min.js")

# Joined in this order, they are the page's script.
_SCRIPTS = ("picture.js", "pointing.js", "page.js")


def render(document: Document) -> bytes:
    """The page of a report's document (schema frontload-report/1)."""
    try:
        import jinja2
        from markupsafe import Markup
    except ModuleNotFoundError as problem:
        raise Failure("frontload report: the Python package jinja2 is missing",
                      note=_PACKAGES) from problem
    folder = resources.files("frontload.report") / "template"
    files = page_view.compare_files(document["variants"])
    library = _d3()
    script = "".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True)
    environment.filters.update(
        shown=page_text.name, bytes=page_text.byte_count, number=page_text.number,
        duration=page_text.duration, share=page_text.share, gain=page_view.gain)
    variants = document["variants"]
    maps = page_view.file_maps(document, files)
    page = environment.get_template("page.html").render(
        document=document, variants=variants, version=__version__,
        verdict=page_view.verdict(variants), figures=page_view.figures(variants),
        maps=maps, some_unknown=any(
            row["read"] and row["touched"] is None for entry in maps for row in entry["rows"]),
        some_asked=any(row["strip"] and row["strip"]["asked"]
                       for entry in maps for row in entry["rows"]),
        byte_rows=page_view.byte_rows(document, files),
        touches_known=any(variant["summary"]["touched_bytes"] is not None for variant in variants),
        phases=page_view.phases(variants), missing=page_view.missing(variants),
        machine=page_view.machine(document),
        style=Markup(theme.style() + (folder / "style.css").read_text("utf-8")),
        library=Markup(library), script=Markup(script),
        policy=_policy(library, script), data=Markup(json.dumps(picture_data(
            document, files), separators=(",", ":")).replace("<", r"\u003c")))
    return page.encode("utf-8", "backslashreplace")


def _d3() -> str:
    """The text of d3; finding the package does not import it, with all of matplotlib."""
    package = importlib.util.find_spec("mpld3")
    if package is not None and package.submodule_search_locations:
        folder = Path(package.submodule_search_locations[0]) / "js"
        return (folder / "d3.v5.min.js").read_text("utf-8")
    if _DISTRIBUTIONS_D3.is_file():
        return _DISTRIBUTIONS_D3.read_text("utf-8")
    raise Failure("frontload report: d3 is missing, which draws the page's pictures",
                  note=_PACKAGES)


def _policy(*scripts: str) -> str:
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}"
