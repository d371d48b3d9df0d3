"""Links by gold with the plugin, and what comes out of them."""

import json
import os
import subprocess
from functools import cached_property
from pathlib import Path

from abilities import needs
from linking import Image, write_profile
from places import BUILD

PLUGIN = BUILD / "lib" / "frontload-gold.so"
# Of all tests that link by gold (Debian: binutils; the plugin needs binutils-dev).
NEEDS_GOLD = needs("program:ld.gold", "built:lib/frontload-gold.so")
CONSTANTS = ".rodata.startup"


def plugin_flags(profile: Path | None = None, *options: str) -> list[str]:
    """What a compiler driver is given to load the plugin."""
    if profile:
        options = (f"profile={profile}", *options)
    return [f"-Wl,--plugin={PLUGIN}", *(f"-Wl,--plugin-opt={option}" for option in options)]


def drive(output: Path, *arguments, driver="gcc", linker: str = "gold", code: int = 0,
          **options) -> subprocess.CompletedProcess:
    """Links through a compiler driver; expects exit code `code`."""
    command = [os.fspath(a) for a in (driver, f"-fuse-ld={linker}", "-o", output, *arguments)]
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == code, f"{command}\n{result.stdout}{result.stderr}"
    return result


class Linked:
    """A program that was linked with the plugin, and its report."""

    def __init__(self, path: Path, report: Path):
        self.path, self.image, self._report = path, Image(path), report

    @cached_property
    def report(self) -> dict:
        return json.loads(self._report.read_text())


def link_gold(folder: Path, *arguments, entries=("main",), options=(), **more) -> Linked:
    """Links `out` with the plugin and these entries of a profile."""
    path, report = folder / "out", folder / "report"
    drive(path, *arguments, *plugin_flags(write_profile(folder, *entries), f"report={report}",
                                          *options), **more)
    return Linked(path, report)


def gold(*arguments, plugin=(), code: int = 0) -> subprocess.CompletedProcess:
    """Runs gold itself, with the plugin if it is given options: compiler drivers remove the output
    of a link that fails."""
    if plugin:
        arguments += (f"--plugin={PLUGIN}", *(f"--plugin-opt={option}" for option in plugin))
    result = subprocess.run([os.fspath(a) for a in ("ld.gold", *arguments)], capture_output=True,
                            text=True)
    assert result.returncode == code, result.stderr
    return result


def last_in_section(image: Image, *names: str) -> bool:
    """Whether functions lie one behind the other in this order, at the end of their section."""
    (section,) = image.sections_of(*names)
    behind = sorted((s.address, name) for name, s in image.symbols.items()
                    if s.section == section and s.address >= image.symbols[names[0]].address)
    return [name for _, name in behind if image.symbols[name].size] == list(names)
