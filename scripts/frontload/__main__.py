"""Lets `python3 -m frontload` run the command."""

import sys

try:
    from frontload.cli import main
except ModuleNotFoundError as problem:
    if problem.name is None or problem.name.partition(".")[0] == "frontload":
        raise
    print(f"frontload: error: {sys.executable}: has no Python package {problem.name}\n"
          "frontload: note: install pyelftools, numpy, scipy and rich for it with pip, or set "
          "FRONTLOAD_PYTHON to a Python that has them", file=sys.stderr)
    sys.exit(2)

sys.exit(main())
