"""The Python packages that Frontload needs, and the remedy where one is missing.

A missing package would show up late, even after work was done. So we look for them before we load
a verb. `python3 -m frontload.base.packages` imports all
packages: builds use it to test a Python.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

# For each module its name for pip, and its package in Debian.
_PACKAGES = {"elftools": ("pyelftools", "python3-pyelftools"),
             "numpy": ("numpy", "python3-numpy"),
             "scipy": ("scipy", "python3-scipy"),
             "rich": ("rich", "python3-rich"),
             "pydantic": ("pydantic", "python3-pydantic")}


def missing() -> list[str]:
    """The modules that this Python lacks; none of them is loaded."""
    return [module for module in _PACKAGES if importlib.util.find_spec(module) is None]


def explanation() -> str:
    """Which packages this Python lacks and how to get them: an error and its notes."""
    names = [_PACKAGES[module] for module in missing()]
    root = Path(__file__).resolve().parents[2]
    # An installed command finds a virtual environment there by itself (scripts/frontload.in).
    is_installed = root.name == "python" and root.parent.name == "frontload"
    venv = root.parent / "venv" if is_installed else Path("venv")
    return (f"frontload: error: {sys.executable}: has no Python "
            f"{'package' if len(names) == 1 else 'packages'} {', '.join(name for name, _ in names)}"
            f"\nfrontload: note: on Debian: apt-get install {' '.join(name for _, name in names)}\n"
            f"frontload: note: elsewhere: python3 -m venv {venv} && {venv}/bin/pip install "
            f"{' '.join(name for name, _ in _PACKAGES.values())}\n"
            "frontload: note: or set FRONTLOAD_PYTHON to a Python that has them")


if __name__ == "__main__":
    for each in _PACKAGES:
        importlib.import_module(each)
