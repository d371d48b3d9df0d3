"""Links by gold with the plugin, and what comes out of them."""

import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from linking import COMPILERS, Image
from places import BUILD

PLUGIN = BUILD / "lib" / "frontload-gold.so"
GOLD = shutil.which("ld.gold")
CONSTANTS = ".rodata.startup"
LARGEST_OUTPUT = 64 << 20


def needs_gold():
    """The mark of all tests that link by gold."""
    if not PLUGIN.exists():
        return pytest.mark.skip(f"{PLUGIN} is not built: that needs binutils-dev")
    return pytest.mark.skipif(GOLD is None, reason="needs ld.gold (Debian: binutils)")


def plugin_flags(profile: Path | None = None, *options: str, plugin: Path = PLUGIN) -> list[str]:
    """What a compiler driver is given to load the plugin."""
    if profile:
        options = (f"profile={profile}", *options)
    return [f"-Wl,--plugin={plugin}", *(f"-Wl,--plugin-opt={option}" for option in options)]


def drive(output: Path, *arguments, driver="gcc", linker: str = "gold", code: int = 0,
          **options) -> subprocess.CompletedProcess:
    """Links through a compiler driver; expects exit code `code`."""
    command = [os.fspath(a) for a in (driver, f"-fuse-ld={linker}", "-o", output, *arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert result.returncode == code, f"{command}\n{result.stdout}{result.stderr}"
    return result


def link_gold(output: Path, *arguments, profile: Path, options=(), **more) -> Image:
    """Links with the plugin; returns what came out."""
    drive(output, *arguments, *plugin_flags(profile, *options), **more)
    return Image(output)


def _limit_output() -> None:
    """A damaged object may ask for an output of any size, and gold takes all room of the disk for
    it: other tests had none left."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_OUTPUT, LARGEST_OUTPUT))


def gold(*arguments, code: int | None = None) -> subprocess.CompletedProcess:
    """Runs gold itself: compiler drivers remove the output of a link that fails."""
    result = subprocess.run([os.fspath(a) for a in (GOLD, *arguments)], capture_output=True,
                            text=True, errors="replace", timeout=120, preexec_fn=_limit_output)
    assert code is None or result.returncode == code, result.stderr
    return result


def cplusplus(compiler: str) -> str | Path:
    return COMPILERS[compiler][1]


def last_in_section(image: Image, *names: str) -> bool:
    """Whether functions lie one behind the other in this order, at the end of their section."""
    (section,) = {image.section_of(name) for name in names}
    behind = sorted((s.address, name) for name, s in image.symbols.items()
                    if s.section == section and s.address >= image.symbols[names[0]].address)
    return [name for _, name in behind if image.symbols[name].size] == list(names)
