"""Where the tests find things, and what a run of them was asked for: the only place that reads
their environment."""

import os
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The build folder: programs in bin/, libraries in lib/.
BUILD = Path(os.environ.get("FRONTLOAD_BUILD", ROOT / "build"))
# The folder of LLVM's programs: clang, ld.lld, llvm-readobj, yaml2obj.
LLVM = Path(os.environ.get("FRONTLOAD_LLVM", "/usr/lib/llvm-22/bin"))
# Whether the programs are built with a sanitizer, which needs shared libraries, /proc and terabytes
# of addresses.
SANITIZED = "FRONTLOAD_SANITIZED" in os.environ
# Whether the matrix tries each with each, and not only each pair.
WHOLE_MATRIX = os.environ.get("FRONTLOAD_MATRIX") == "whole"
# Whether 64 threads make 100,000 first touches each, and not only 5,000.
WHOLE_STORM = os.environ.get("FRONTLOAD_STORM") == "whole"
