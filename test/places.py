"""Where the tests find things, and what a run of them was asked for: the only place that reads
their environment."""

import os
import signal
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The build folder: programs in bin/, libraries in lib/.
BUILD = Path(os.environ.get("FRONTLOAD_BUILD", ROOT / "build"))
# The folder of LLVM's programs: clang, ld.lld, llvm-readobj, yaml2obj.
LLVM = Path(os.environ.get("FRONTLOAD_LLVM", "/usr/lib/llvm-22/bin"))
# For the first line of scripts, which can name no path with a space, as the build's may be.
PYTHON_OF_SCRIPTS = "/usr/bin/python3"
# What tests compile is kept here, for every checkout of this user (test/compiled.py).
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "frontload-test"
# Whether the programs are built with a sanitizer, which needs shared libraries, /proc and terabytes
# of addresses.
SANITIZED = "FRONTLOAD_SANITIZED" in os.environ
# Whether everything runs (`scripts/test --all`): tests marked `slow`, each combination of a matrix
# and not only each pair, many examples of a property and not only some.
ALL = os.environ.get("FRONTLOAD_TEST") == "all"



def prepare_environment() -> None:
    """Sets what programs that tests start need. Python's bytecode is kept, but not beside the
    sources: a test starts `frontload` hundreds of times. A shell starts background commands with
    SIGINT and SIGQUIT ignored, nohup with SIGHUP, and programs inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ["PYTHONPATH"] = str(ROOT / "scripts")
    os.environ["PYTHONPYCACHEPREFIX"] = str(CACHE / "python")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # numpy is used without linear algebra: threads of BLAS would only wait, spinning.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # Links to the cargo, rustc and go that scripts/setup chose, where those in PATH do not run.
    os.environ["PATH"] = f"{ROOT / 'build/toolchain/bin'}:{os.environ['PATH']}"
