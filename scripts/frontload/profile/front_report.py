"""The report of a link, which ld.frontload writes with --front-report: the part that check uses.

The linker leaves names out of the front on purpose if faulting them in costs less than reading them
with it, such as a function that shares a section of 100 KB. Only the linker knows which these are.
"""

import os

from frontload.base import files
from frontload.base.errors import BadData

SCHEMA = "frontload-front-report/"
_NOTE = "write it with -Wl,--front-report=FILE in the link of the same file"


def left_out(path: os.PathLike[str] | str) -> frozenset[str]:
    """The names that the link left out on purpose. BadData if this is no such report."""
    with files.open_input(path, note=_NOTE) as stream:
        value = files.parse_json(stream.read(), path, _NOTE)
    if not isinstance(value, dict) or not str(value.get("schema")).startswith(SCHEMA):
        raise BadData(path, "not the report of a link", note=_NOTE)
    names = value.get("names")
    found = names.get("left_out") if isinstance(names, dict) else None
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise BadData(path, "names.left_out: is not a list of texts", note=_NOTE)
    return frozenset(found)
