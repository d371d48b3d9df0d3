"""How much a verb prints: --quiet leaves out warnings and notes, --verbose shows its programs.

Python's audit events report every child, so this one place can show all programs that run.
"""

import os
import shlex
import sys

from frontload.base import errors
from frontload.base.errors import printable

# The audit events of a child's start, and the position of the command in their arguments.
_STARTS = {"subprocess.Popen": 1, "os.exec": 1}

_is_verbose = False
_is_listening = False


def choose(*, quiet: bool, verbose: bool) -> None:
    """Sets the loudness for the rest of this command."""
    global _is_verbose, _is_listening
    errors.be_quiet(quiet)
    _is_verbose = verbose
    if verbose and not _is_listening:  # a hook stays until Python ends
        _is_listening = True
        sys.addaudithook(_listen)


def _listen(event: str, arguments: tuple) -> None:
    if not _is_verbose or event not in _STARTS:
        return
    command = arguments[_STARTS[event]]
    words = [command] if isinstance(command, (str, bytes, os.PathLike)) else command
    shown = shlex.join(os.fsdecode(word) for word in words)
    print(f"frontload: run: {printable(shown)}", file=sys.stderr)
