"""The linkers on this machine, and what each can do with a startup profile."""

import glob
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from frontload.base.tools import own_folders

# GNU ld and gold for another target have its name before theirs.
_NAMES = re.compile(r"(?:ld\.(?P<elf>frontload|lld|mold)|(?P<other>lld-link|ld64\.lld))(?:-\d+)?"
                    r"|(?:[^.]+-)?ld\.(?P<gnu>gold|bfd)")
_PATTERNS = ("ld.*", "*-ld.*", "lld-link*", "ld64.lld*")
_BFD_THAT_ORDERS = (2, 43)
_USES = {
    "frontload": "the whole front: --startup-profile=FILE",
    "lld": "order of symbols: --symbol-ordering-file=FILE",
    "gold": "order of sections: the plugin frontload-gold.so; or --section-ordering-file=FILE",
    "bfd": "order of sections: --script=FILE",
    "lld-link": "order of symbols: /order:@FILE",
    "ld64.lld": "order of symbols: -order_file FILE",
    "mold": "a note, by frontload finish; mold has no option for an order",
}


@dataclass(frozen=True)
class Linker:
    path: str
    family: str  # frontload, lld, gold, bfd, mold, lld-link or ld64.lld
    version: str  # the first line that --version prints
    use: str


def find() -> list[Linker]:
    """The linkers in PATH, in LLVM's own folders and beside the frontload command, each once."""
    found = {}
    for path in _candidates():
        match = _NAMES.fullmatch(path.name)
        if match is None:
            continue
        family = match["elf"] or match["other"] or match["gnu"]
        # lld and mold choose their kind by their name, so a link is the same program only within
        # one family.
        key = family, os.path.realpath(path)
        if key not in found:
            version = version_of(path)
            if version is not None:
                found[key] = Linker(str(path), family, version, _use(family, version))
    return list(found.values())


def _candidates() -> Iterator[Path]:
    folders = [*own_folders(),
               *os.environ.get("PATH", "").split(os.pathsep),
               *sorted(glob.glob("/usr/lib/llvm-*/bin"))]
    for folder in folders:
        for pattern in _PATTERNS:
            yield from map(Path, sorted(glob.glob(os.path.join(glob.escape(folder), pattern))))


def version_of(path: Path | str) -> str | None:
    """The first line that --version prints; None if the program cannot be run."""
    try:
        result = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.decode("utf-8", "replace").partition("\n")[0]


def _use(family: str, version: str) -> str:
    use = _USES[family]
    if family == "bfd" and bfd_orders(version):
        use += " or --section-ordering-file=FILE"
    if use.startswith("order of"):
        use += f", by frontload order --linker {family}"
    return use


def bfd_orders(version: str) -> bool:
    """Whether a GNU ld has --section-ordering-file."""
    # A distribution may put its own version before the linker's: take the last one.
    numbers = re.findall(r"(\d+)\.(\d+)", version)
    return bool(numbers) and tuple(map(int, numbers[-1])) >= _BFD_THAT_ORDERS
