"""The Python packages that verbs need, and the remedy where one is missing.

All verbs need pyelftools. measure and report need large packages, the extras of pyproject.toml. A
missing package would show up late, even after work was done, so we look for them before we load
what uses them.
`python3 -m frontload.base.packages` imports what all verbs need: builds use it to test a Python.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

from frontload.base.errors import Failure

# For each module its name for pip, and its package in Debian.
_PACKAGES = {"elftools": ("pyelftools", "python3-pyelftools"),
             "numpy": ("numpy", "python3-numpy"),
             "scipy": ("scipy", "python3-scipy"),
             "rich": ("rich", "python3-rich"),
             "pydantic": ("pydantic", "python3-pydantic")}
BASE = ""
_MODULES = {BASE: ("elftools",), "measure": ("numpy", "scipy", "rich"),
            "report": ("numpy", "pydantic")}


def missing(extra: str = BASE) -> list[str]:
    """The modules of an extra that this Python lacks; none of them is loaded."""
    return [module for module in _MODULES[extra] if importlib.util.find_spec(module) is None]


def require(extra: str = BASE) -> None:
    """Refuses to go on if this Python lacks packages: names them, and how to get them."""
    names = [_PACKAGES[module] for module in missing(extra)]
    if not names:
        return
    raise Failure(
        f"{sys.executable}: has no Python {'package' if len(names) == 1 else 'packages'} "
        + ", ".join(name for name, _ in names),
        note=f"{_remedy(extra, [package for _, package in names])}; or set FRONTLOAD_PYTHON to a "
        "Python that has them")


def _remedy(extra: str, debian: list[str]) -> str:
    """What installs an extra where this Python runs: an environment of pipx, of pip or of uv, an
    unpacked installation, or a system's Python."""
    modules = dict.fromkeys((*_MODULES[BASE], *_MODULES[extra]))
    wanted = " ".join(_PACKAGES[module][0] for module in modules)
    root = Path(__file__).resolve().parents[2]
    if Path(sys.prefix, "pipx_metadata.json").exists():
        return f"pipx inject frontload {wanted}"
    if sys.prefix != sys.base_prefix:
        pip = (f"{sys.executable} -m pip install" if importlib.util.find_spec("pip") else
               f"uv pip install --python {sys.executable}")
        return f"{pip} {wanted}"
    elsewhere = f"pip install {wanted}"
    if root.name == "python" and root.parent.name == "frontload":
        # An installed command finds a virtual environment there by itself (scripts/frontload.in).
        venv = root.parent / "venv"
        elsewhere = f"python3 -m venv {venv} && {venv}/bin/{elsewhere}"
    return f"on Debian: apt-get install {' '.join(debian)}; elsewhere: {elsewhere}"


if __name__ == "__main__":
    for each in _MODULES[BASE]:
        importlib.import_module(each)
