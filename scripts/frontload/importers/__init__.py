"""Importers: order files and traces that people already have, one module per kind of format.

interface.py defines importers. This module registers them, and recognizes formats.
"""

from frontload.base import files
from frontload.base.errors import EXIT_DATA, Failure
from frontload.importers import order_files, perf, temporal, uftrace
from frontload.importers.interface import Importer

_LISTS = order_files.LLD, order_files.GOLD  # any word can be a name
FORMATS = {importer.name: importer for importer in (
    *_LISTS, perf.PERF, uftrace.UFTRACE, temporal.TEMPORAL)}
_HEAD = 1 << 16


def choose(path: str, given: str | None) -> Importer:
    """The importer for a file: of the given format, unless the file is plainly of another one;
    without a given format, of the only one that fits."""
    with files.open_input(path, note="give an order file or a trace") as stream:
        files.must_be_file(path)
        head = stream.read(_HEAD)
    if not head:
        raise Failure(f"{path}: is empty", code=EXIT_DATA, note="make it again")
    if len(head) == _HEAD:
        head = head[:head.rfind(b"\n") + 1] or head
    found = [importer for importer in FORMATS.values() if importer.recognizes(head)]
    if given is None:
        if len(found) != 1:
            raise Failure(f"{path}: {_what(found)}", code=EXIT_DATA,
                          note=f"if it is one of {', '.join(FORMATS)}, say which with --format")
        return found[0]
    importer = FORMATS[given]
    others = [other for other in found if other not in _LISTS]
    if others and importer not in found:
        raise Failure(f"{path}: not in the format {given}: {_what(others)}", code=EXIT_DATA,
                      note=f"--format {others[0].name}")
    return importer


def _what(found: list[Importer]) -> str:
    if not found:
        return "its beginning fits no known format"
    return "looks like " + " or ".join(importer.name for importer in found)
