"""What cmake --install installs, and that it works wherever it is moved to."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import BUILD, LLVM, PYTHON_OF_SCRIPTS, ROOT
from trees import OPTIONS, PROGRAMS, checked, clean_environment, files_of, required

LIBRARIES = {"libfrontload-prefetch.so", "libfrontload-prefetch.so.1", "libfrontload-prefetch.a",
             "libfrontload-rt.so", "libfrontload-rt.a",
             "pkgconfig/frontload.pc", "pkgconfig/frontload-prefetch.pc"}
VALGRIND = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()] + "-linux"
PRIVATE = {"frontload-gold.so", "note.o", "gcc/ld.lld", "valgrind/default.supp",
           f"valgrind/frontload-{VALGRIND}", f"valgrind/vgpreload_core-{VALGRIND}.so"}


def expected(libdir: str) -> set[str]:
    """All that an installation has, but for what is generated from the programs' help."""
    programs = {path.name for path in (BUILD / "bin").iterdir()}
    sources = {f"python/frontload/{path.relative_to(ROOT / 'scripts' / 'frontload')}"
               for path in (ROOT / "scripts" / "frontload").rglob("*")
               if path.suffix == ".py" or path.parent.name == "template"}
    links = set() if libdir == "lib" else {"libfrontload-prefetch.so", "libfrontload-prefetch.a"}
    return {
        *(f"bin/{name}" for name in programs if not name.endswith("_test")),
        *(f"{libdir}/{name}" for name in LIBRARIES),
        *(f"lib/frontload/{name}" for name in PRIVATE | sources | links),
        "include/frontload.h", "include/frontload_prefetch.h",
        "share/doc/frontload/README.md", "share/doc/frontload/LICENSE"}


@pytest.mark.parametrize("libdir", OPTIONS)
def test_an_installation_has_exactly_this(installation, libdir):
    """Nothing else, whatever folder libraries are in; it is what CMake lists as installed."""
    made = installation(libdir)
    assert made.manifest == files_of(made.prefix)
    generated = re.compile(r"share/(man|bash-completion|zsh|fish)/|.*/cmake/Frontload/")
    assert {name for name in made.manifest if not generated.match(name)} == expected(libdir)
    # In /usr the command does not depend on what a user has first in PATH.
    python = sys.executable if libdir == "lib" else "/usr/bin/python3"
    assert f'"{python}"' in (made.prefix / "bin/frontload").read_text()


def has_front(program: Path) -> bool:
    return ".note.frontload" in checked("readelf", "--sections", "--wide", program)


def test_a_moved_prefix_works(worked):
    """Recording, linking with gcc, prefetching, checking and measuring."""
    assert "everything works" in (worked / "said").read_text()


def test_installed_programs_do_not_look_into_the_build(installed):
    """No program has a folder of this build or of LLVM as a search path, and no text names it."""
    for name in installed.manifest:
        path = installed.prefix / name
        # A link to files of another package may lead nowhere.
        contents = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        if contents.startswith(b"\x7fELF"):
            assert "RUNPATH" not in checked("readelf", "--dynamic", path), name
        elif not contents.startswith(b"!<arch>"):
            assert str(BUILD).encode() not in contents, name


def run_with(prefix: Path, python: str, code: int) -> str:
    """What `frontload info` says on stderr, run with this Python or, with "", the one it finds."""
    environment = clean_environment(FRONTLOAD_PYTHON=python)
    result = subprocess.run([prefix / "bin/frontload", "info"], env=environment, text=True,
                            capture_output=True)
    assert result.returncode == code and "Traceback" not in result.stderr
    return result.stderr


def test_missing_python_packages(installed, tmp_path):
    """They are named, with what installs them. A venv beside the command is used."""
    moved = tmp_path / "moved"
    shutil.copytree(installed.prefix / "bin", moved / "bin", symlinks=True)
    shutil.copytree(installed.prefix / "lib/frontload/python", moved / "lib/frontload/python")
    bare = tmp_path / "bare"
    checked(sys.executable, "-m", "venv", "--without-pip", bare)
    said = run_with(moved, f"{bare}/bin/python", 2)
    for name in required():
        assert re.search(rf"has no Python package .*{name}", said)
        assert re.search(rf"uv pip install --python {bare}/bin/python .*{name}", said)
    venv = moved / "lib/frontload/venv"
    shutil.copytree(bare, venv, symlinks=True)
    assert f"{venv}/bin/python: has no" in run_with(moved, "", 2)


def test_an_old_python_is_told(installed, tmp_path):
    """A Python that is too old is named with its version."""
    old = tmp_path / "python"
    old.write_text(f"""#!{PYTHON_OF_SCRIPTS}
import sys
sys.version_info = (3, 9, 2, "final", 0)
code, sys.argv = sys.argv[2], ["-c", *sys.argv[3:]]
exec(code)
""")
    old.chmod(0o755)
    assert "is Python 3.9, but 3.10 or newer is needed" in run_with(installed.prefix, str(old), 1)


def asked(made, *question: str) -> str:
    """What pkg-config says of an installation."""
    return checked("pkg-config", *question, env=os.environ | {
        "PKG_CONFIG_PATH": str(made.libraries / "pkgconfig")}).strip()


@pytest.mark.parametrize("libdir", OPTIONS)
def test_what_pkg_config_says_is_valid_and_there(installation, libdir):
    """The files are valid, and each path they name exists where the prefix is now."""
    made = installation(libdir)
    for package in ("frontload", "frontload-prefetch"):
        asked(made, "--validate", package)
    for name in ("linker", "gccdir", "gold_plugin", "prefetch_library", "libdir", "bindir"):
        path = Path(re.sub(r"\\(.)", r"\1", asked(made, f"--variable={name}", "frontload")))
        assert path.exists() and made.prefix.samefile(Path(*path.parts[:len(made.prefix.parts)]))


def test_the_flags_of_pkg_config_are_for_clang_too(installed, worked, tmp_path):
    """The first steps are taken with gcc."""
    flags = asked(installed, "--cflags", "--libs", "frontload")
    checked("sh", "-c", f'"{LLVM}/clang++" "{PROGRAMS}"/*.cpp {flags} -o program '
            f'"-Wl,--startup-profile={worked}/app.startup"', cwd=tmp_path)
    assert has_front(tmp_path / "program")


def test_a_program_that_calls_the_prefetcher_is_built(installed, tmp_path):
    """frontload-prefetch has the header and the library of <frontload_prefetch.h>."""
    (tmp_path / "caller.c").write_text("""#include <frontload_prefetch.h>
int main(int count, char **arguments) { return count && frontload_prefetch(arguments[0]) > 0; }
""")
    flags = asked(installed, "--cflags", "--libs", "frontload-prefetch")
    checked("sh", "-c", f'gcc caller.c {flags} "-Wl,-rpath,{installed.libraries}" -o caller && '
            "./caller", cwd=tmp_path)
