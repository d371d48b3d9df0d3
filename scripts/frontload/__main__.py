"""Lets `python3 -m frontload` run the command, and says what a Python lacks for it."""

import importlib.util
import sys
from pathlib import Path

# What all verbs need: the module, its package for pip and Debian's.
_NEEDED = (("elftools", "pyelftools", "python3-pyelftools"), ("numpy", "numpy", "python3-numpy"),
           ("scipy", "scipy", "python3-scipy"), ("rich", "rich", "python3-rich"),
           ("pydantic", "pydantic", "python3-pydantic"))


def _say_what_is_missing() -> None:
    missing = [names for names in _NEEDED if importlib.util.find_spec(names[0]) is None]
    packages = [package for _, package, _ in missing]
    folder = Path(__file__).resolve().parents[1]
    # An installed command finds a virtual environment there by itself (scripts/frontload.in).
    installed = folder.name == "python" and folder.parent.name == "frontload"
    venv = folder.parent / "venv" if installed else Path("venv")
    print(f"frontload: error: {sys.executable}: has no Python "
          f"{'package' if len(packages) == 1 else 'packages'} {', '.join(packages)}\n"
          f"frontload: note: on Debian: apt-get install {' '.join(name for *_, name in missing)}\n"
          f"frontload: note: elsewhere: python3 -m venv {venv} && {venv}/bin/pip install "
          f"{' '.join(package for _, package, _ in _NEEDED)}\n"
          "frontload: note: or set FRONTLOAD_PYTHON to a Python that has them", file=sys.stderr)


try:
    from frontload.cli.main import main
except ModuleNotFoundError as problem:
    if problem.name is None or problem.name.partition(".")[0] not in dict.fromkeys(
            module for module, *_ in _NEEDED):
        raise
    _say_what_is_missing()
    sys.exit(2)

sys.exit(main())
