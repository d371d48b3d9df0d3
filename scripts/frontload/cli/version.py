"""The text of --version: Frontload's version, and that of the LLVM whose lld is in ld.frontload."""

import argparse
import re

from frontload import __version__
from frontload.base import tools
from frontload.machine import linkers


def describe() -> str:
    linker = tools.find_tool("ld.frontload")
    said = linkers.version_of(linker) if linker else None
    if said is None:
        return f"frontload {__version__} (without ld.frontload, which was not found)"
    found = re.search(r"LLD (\S+)", said)
    return f"frontload {__version__} (LLVM {found[1] if found else said})"


class Version(argparse.Action):
    """An argparse option that shows the version and ends the command."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        print(describe())
        parser.exit()
