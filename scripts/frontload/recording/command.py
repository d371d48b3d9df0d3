"""The command lines of the recorders, frontload-trace and frontload-valgrind: the prefixes of a
command that is recorded."""

import os
from collections.abc import Sequence
from pathlib import Path

from frontload.base import tools
from frontload.profile import trace


def pattern_in(folder: Path) -> str:
    """The pattern by which recorders name the traces in a folder."""
    # The command may change its folder, and % has a meaning in the pattern.
    return os.path.join(str(folder.resolve()).replace("%", "%%"), "%m.%p" + trace.SUFFIX)


def recorder(pattern: str, *, data: bool = False, blocks: bool = False,
             modules: Sequence[str] = (), until: str | None = None,
             role: str | None = None) -> list[str]:
    """The prefix that runs a command and records it. The recorder of data always records basic
    blocks."""
    options = [f"--module={name}" for name in modules]
    if until:
        options.append(f"--until={until}")
    if role:
        options.append(f"--role={role}")
    if blocks and not data:
        options.append("--blocks")
    program = "frontload-valgrind" if data else "frontload-trace"
    return [str(tools.tool(program)), f"--output={pattern}", *options, "--"]
