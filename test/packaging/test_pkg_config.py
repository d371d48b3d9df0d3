"""What builds that ask pkg-config are told."""

import os
import shutil
from pathlib import Path

import pytest
from test_install_tree import LAYOUTS
from trees import LLVM, PROGRAMS, checked


@pytest.fixture(params=LAYOUTS)
def libraries(request, installed, tmp_path) -> Path:
    """The libraries' folder of a prefix that was moved."""
    moved = tmp_path / "a prefix"
    shutil.copytree(installed(*LAYOUTS[request.param]), moved, symlinks=True)
    return moved / request.param


def asked(libraries: Path, *question: str) -> str:
    return checked("pkg-config", *question,
                   env=os.environ | {"PKG_CONFIG_PATH": str(libraries / "pkgconfig")}).strip()


def test_what_it_says_is_valid_and_there(libraries):
    """The files are valid, and each path they name exists where the prefix is now."""
    for package in ("frontload", "frontload-prefetch"):
        asked(libraries, "--validate", package)
    for name in ("linker", "gccdir", "gold_plugin", "prefetch_library", "libdir", "bindir"):
        path = asked(libraries, f"--variable={name}", "frontload").replace("\\ ", " ")
        assert Path(path).exists() and "/a prefix/" in path, path


@pytest.mark.parametrize("libraries", ["lib64"], indirect=True)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_its_flags_link_with_both_compilers(libraries, worked, tmp_path, compiler):
    """--cflags and --libs are for gcc and clang alike."""
    program = shutil.which(compiler) or LLVM / compiler
    flags = asked(libraries, "--cflags", "--libs", "frontload")
    checked("sh", "-c", f'"{program}" {PROGRAMS}/*.cpp {flags} -o program '
            f"-Wl,--startup-profile={worked[1]}/app.startup", cwd=tmp_path)
    assert ".text.front" in checked("readelf", "--sections", "--wide", tmp_path / "program")


def test_a_program_that_calls_the_prefetcher_is_built(installed, tmp_path):
    """frontload-prefetch has the header and the library of <frontload_prefetch.h>."""
    libraries = installed(*LAYOUTS["lib64"]) / "lib64"
    (tmp_path / "caller.c").write_text("""#include <frontload_prefetch.h>
int main(int count, char **arguments) { return count && frontload_prefetch(arguments[0]) > 0; }
""")
    flags = asked(libraries, "--cflags", "--libs", "frontload-prefetch")
    checked("sh", "-c", f"gcc caller.c {flags} -Wl,-rpath,{libraries} -o caller && ./caller",
            cwd=tmp_path)
