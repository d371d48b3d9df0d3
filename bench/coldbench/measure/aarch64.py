"""What a machine with an AArch64 processor needs, made on another one: the files of Debian's
packages in a folder, and Frontload cross-built against them. Of bench/kernels, and of
test/aarch64/run.py.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
LLVM = "22"
# What Frontload is linked with, and what records data.
PACKAGES = ("gcc", "g++", "zlib1g-dev", "libzstd-dev", f"llvm-{LLVM}-dev", f"liblld-{LLVM}-dev",
            "valgrind", "busybox-static", "coreutils", "util-linux")
# /lib is /usr/lib, as in every Debian 12. Else musl-gcc does not find its own libc.so, and links a
# program in which nothing can be opened.
_ONE_USR = "/usr/share/mmdebstrap/hooks/merged-usr"


def call(*command, **options) -> str:
    words = [os.fspath(word) for word in command]
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, **options)
    if done.returncode:
        program = Path(sys.argv[0]).name
        sys.exit(f"{program}: error: {' '.join(words)}: exit {done.returncode}\n"
                 f"{done.stdout[-3000:]}")
    return done.stdout


def _sources() -> list[str]:
    """The files that say where apt takes packages from."""
    entries = call("apt-get", "indextargets", "--format", "$(SOURCESENTRY)",
                   "Created-By: Packages")
    return sorted({entry.rpartition(":")[0] for entry in entries.splitlines()})


def make_root(folder: Path, packages: Sequence[str]) -> Path:
    """The packages' files. Nothing of them is run, so nothing is configured."""
    root, made_of = folder / "root", folder / "packages"
    wanted = " ".join([_ONE_USR, *packages])
    if not made_of.exists() or made_of.read_text() != wanted:
        made_of.unlink(missing_ok=True)
        shutil.rmtree(root, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        call("mmdebstrap", "--variant=extract", "--architectures=arm64", f"--hook-dir={_ONE_USR}",
             f"--include={','.join(packages)}", "", root, *_sources())
        for library in root.glob("usr/lib/*-linux-gnu/*.so"):  # as a linker finds it here
            if library.is_symlink() and library.readlink().is_absolute():
                target = root / library.readlink().relative_to("/")
                library.unlink()
                library.symlink_to(os.path.relpath(target, library.parent))
        made_of.write_text(wanted)
    return root


def cross_build(root: Path, build: Path, targets: Sequence[str]) -> None:
    llvm = f"/usr/lib/llvm-{LLVM}/bin"
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    call("cmake", "--fresh", "-S", ROOT, "-B", build, "-G", "Ninja",
         f"--toolchain={ROOT / 'test/cross/toolchain.cmake'}", f"-DCMAKE_SYSROOT={root}",
         "-DFRONTLOAD_CROSS_PROCESSOR=aarch64", f"-DFRONTLOAD_CROSS_CLANG={llvm}",
         "-DFRONTLOAD_VALGRIND_FILES=/usr/libexec/valgrind",  # where it is in the machine
         "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DFRONTLOAD_BUILD_TESTS=OFF",
         "-DFRONTLOAD_WERROR=ON", *(launcher if shutil.which("ccache") else []))
    call("cmake", "--build", build, "--target", *targets)
