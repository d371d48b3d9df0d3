"""Finds a text in the sources and puts another one in its place, wherever the text is by now: the
words count, and not the file, the indentation or where lines end."""

import re
import subprocess
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SOURCES = (".c", ".cpp", ".h", ".py", ".cmake", ".in")
_ROOMS = ("instrument", "lldplugin", "tools", "scripts", "cmake")


def words(text: str) -> str:
    return " ".join(text.split())


class Sources:
    """The tracked sources of a checkout, but for tests, documentation and examples."""

    def __init__(self, root: Path):
        self.root = root

    @cached_property
    def texts(self) -> dict[str, str]:
        listed = subprocess.run(["git", "ls-files", *_ROOMS], cwd=self.root, text=True, check=True,
                                capture_output=True).stdout.splitlines()
        return {name: (self.root / name).read_text() for name in sorted(listed)
                if name.endswith(_SOURCES) or Path(name).name == "CMakeLists.txt"}

    def places(self, old: str) -> list[tuple[str, int, int]]:
        """Where a text is: the file, and from where to where in it."""
        pattern = re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, old.split())) + r"(?!\w)"
                             if re.match(r"\w", old) and re.search(r"\w$", old) else
                             r"\s+".join(map(re.escape, old.split())))
        first = max(old.split(), key=len)
        return [(name, *found.span()) for name, text in self.texts.items() if first in text
                for found in pattern.finditer(text)]
