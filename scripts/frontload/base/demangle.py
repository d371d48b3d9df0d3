"""Demangles symbols with LLVM's or binutils' c++filt, if there is one.

Otherwise, and for other languages than C++ and Rust, the symbol itself is shown.
"""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.tools import find_tool, llvm_tool

_SECONDS = 60


def demangled(names: Iterable[bytes]) -> dict[bytes, str]:
    """The shown form of each symbol."""
    names = list(dict.fromkeys(names))
    shown = {name: name.decode("utf-8", "backslashreplace") for name in names}
    # c++filt reads one symbol a line. _Z (C++) or _R (Rust) begins a mangled one.
    mangled = [name for name in names if name.startswith((b"_Z", b"_R")) and name.isascii()
               and name.split() == [name] and b"\0" not in name]
    program = _program()
    if not mangled or program is None:
        return shown
    try:
        result = subprocess.run([program], input=b"\n".join(mangled) + b"\n", capture_output=True,
                                timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return shown
    lines = result.stdout.decode("utf-8", "backslashreplace").split("\n")[:-1]
    if len(lines) == len(mangled):
        shown |= dict(zip(mangled, lines, strict=True))
    return shown


def _program() -> Path | None:
    try:
        return llvm_tool("llvm-cxxfilt")
    except Failure:
        return find_tool("c++filt")
