"""The linkers on this machine, and what each can do with a startup profile."""

import glob
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NAMES = re.compile(r"ld\.(frontload|lld|gold|bfd|mold)(?:-\d+)?")
_BFD_THAT_ORDERS = (2, 43)


@dataclass(frozen=True)
class Linker:
    path: str
    family: str  # frontload, lld, gold, bfd or mold
    version: str  # the first line that --version prints
    use: str


def find() -> list[Linker]:
    """The linkers in PATH, in LLVM's own folders and beside the frontload command, each once."""
    found = {}
    for path in _candidates():
        match = _NAMES.fullmatch(path.name)
        if match is None:
            continue
        # lld and mold take their kind from the name they are called by, so a link counts as the
        # same program only within one family.
        key = match[1], os.path.realpath(path)
        if key not in found:
            version = version_of(path)
            if version is not None:
                found[key] = Linker(str(path), match[1], version, _use(match[1], version))
    return list(found.values())


def _candidates() -> Iterator[Path]:
    folders = [os.environ.get("FRONTLOAD_BINDIR", ""),
               *os.environ.get("PATH", "").split(os.pathsep),
               *sorted(glob.glob("/usr/lib/llvm-*/bin"))]
    for folder in folders:
        yield from map(Path, sorted(glob.glob(os.path.join(glob.escape(folder), "ld.*"))))


def version_of(path: Path | str) -> str | None:
    """The first line that --version prints; None if the program cannot be run."""
    try:
        result = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.decode("utf-8", "replace").partition("\n")[0]


def _use(family: str, version: str) -> str:
    if family == "frontload":
        return "the whole front: --startup-profile=FILE"
    if family == "lld":
        return "order of symbols: --symbol-ordering-file=FILE, by frontload order --linker lld"
    if family == "gold":
        return ("order of sections: the plugin frontload-gold.so, or --section-ordering-file=FILE "
                "by frontload order --linker gold")
    if family == "bfd":
        other = " or --section-ordering-file=FILE" if bfd_orders(version) else ""
        return f"order of sections: --script=FILE{other}, by frontload order --linker bfd"
    return "none: it has no option for an order; use ld.frontload or ld.lld"


def bfd_orders(version: str) -> bool:
    """Whether a GNU ld has --section-ordering-file."""
    # A distribution may put its own version before the linker's: take the last one.
    numbers = re.findall(r"(\d+)\.(\d+)", version)
    return bool(numbers) and tuple(map(int, numbers[-1])) >= _BFD_THAT_ORDERS
