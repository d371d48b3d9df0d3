"""What cmake --install installs, and that it works wherever it is moved to."""

import os
import platform
import re
import shutil
import subprocess
import sys

import pytest
from trees import (
    BUILD,
    LLVM,
    MULTIARCH,
    ROOT,
    checked,
    clean_environment,
    files_of,
    first_steps,
    required,
)

LIBRARIES = {"libfrontload-prefetch.so", "libfrontload-prefetch.so.1", "libfrontload-prefetch.a",
             "libfrontload-rt.so", "libfrontload-rt.a", "libfrontload-sample.a",
             "pkgconfig/frontload.pc", "pkgconfig/frontload-prefetch.pc"}
VALGRIND = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()] + "-linux"
PRIVATE = {"frontload-gold.so", "libfrontload-lld.so", "libfrontload-sample.so",
           "gcc/ld.lld", "valgrind/default.supp", f"valgrind/frontload-{VALGRIND}",
           f"valgrind/vgpreload_core-{VALGRIND}.so"}
LAYOUTS = {
    "lib": (),
    "lib64": ("-DCMAKE_INSTALL_LIBDIR=lib64",),
    f"lib/{MULTIARCH}": ("-DCMAKE_INSTALL_PREFIX=/usr",),
}


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
        "include/frontload.h", "include/frontload_prefetch.h", "include/frontload_sample.h",
        "share/doc/frontload/README.md", "share/doc/frontload/LICENSE"}


@pytest.mark.parametrize("libdir", LAYOUTS)
def test_an_installation_has_exactly_this(installed, libdir):
    """Nothing is left out, and nothing else comes with it, whatever folder libraries are in."""
    generated = re.compile(r"share/(man|bash-completion|zsh|fish)/|.*/cmake/Frontload/")
    found = {name for name in files_of(installed(*LAYOUTS[libdir])) if not generated.match(name)}
    assert found == expected(libdir)


def test_the_manifest_names_all_that_is_installed(configured, tmp_path):
    """What CMake lists as installed, links included, is what is there: it can be uninstalled."""
    folder = configured()
    checked("cmake", "--install", folder, "--prefix", tmp_path / "prefix")
    listed = (folder / "install_manifest.txt").read_text().splitlines()
    for name in listed:
        (tmp_path / name).unlink()
    assert files_of(tmp_path / "prefix") == set()


def test_a_moved_prefix_works(installed, tmp_path):
    """Recording, linking with gcc, prefetching, checking and measuring work from a prefix that was
    moved to a folder with spaces and letters of other alphabets, with its libraries in lib64."""
    moved = tmp_path / "ein Präfix 上"
    shutil.copytree(installed(*LAYOUTS["lib64"]), moved, symlinks=True)
    assert "everything works" in first_steps(moved / "bin", moved / "lib64", tmp_path / "work")


def test_an_installation_finds_its_interposer(installed, worked, tmp_path):
    """Another lld is given what ld.frontload preloads into it, wherever the libraries are."""
    prefix, (_, work) = installed(*LAYOUTS["lib64"]), worked
    checked("g++", *work.glob("*.o"), "-o", tmp_path / "other", "-fuse-ld=lld",
            f"-B{prefix}/lib/frontload/gcc", f"-Wl,--startup-profile={work}/app.startup",
            f"-Wl,--lld={LLVM / 'ld.lld'}")
    assert ".text.front" in checked("readelf", "--sections", "--wide", tmp_path / "other")


def test_installed_programs_do_not_look_into_the_build(installed):
    """No program has a folder of this build or of LLVM as a search path, and no text names it."""
    prefix = installed(*LAYOUTS[f"lib/{MULTIARCH}"])
    for name in files_of(prefix):
        path = prefix / name
        # A link to files of another package may lead nowhere.
        contents = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        if contents.startswith(b"\x7fELF"):
            assert "RUNPATH" not in checked("readelf", "--dynamic", prefix / name), name
        elif not contents.startswith(b"!<arch>"):
            assert str(BUILD).encode() not in contents, name


def test_components(configured, tmp_path):
    """Where a program with a front runs, one file is enough: the library, or frontload-run."""
    folder = configured()

    def component(name):
        checked("cmake", "--install", folder, "--prefix", tmp_path / name, "--component", name)
        return files_of(tmp_path / name)

    assert component("runtime") == {"lib/libfrontload-prefetch.so.1"}
    assert {name for name in component("run") if "/man/" not in name} == {"bin/frontload-run"}
    assert {name.partition("/")[0] for name in component("development")} == {"include", "lib"}
    assert "bin/ld.frontload" in component("tools")


def test_the_package_of_a_distribution_uses_its_python(installed):
    """In /usr the command does not depend on what a user has first in PATH."""
    launcher = (installed(*LAYOUTS[f"lib/{MULTIARCH}"]) / "bin" / "frontload").read_text()
    assert '"/usr/bin/python3"' in launcher and sys.executable not in launcher
    assert f'"{sys.executable}"' in (installed() / "bin" / "frontload").read_text()


def run_with(prefix, python: str | None, *arguments) -> subprocess.CompletedProcess:
    environment = clean_environment()
    if python is None:
        del environment["FRONTLOAD_PYTHON"]
    else:
        environment["FRONTLOAD_PYTHON"] = python
    return subprocess.run([prefix / "bin" / "frontload", *arguments], env=environment, text=True,
                          capture_output=True, timeout=60, check=False)


@pytest.fixture
def bare(tmp_path) -> str:
    """A Python without any packages."""
    checked(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare")
    return str(tmp_path / "bare" / "bin" / "python")


def test_all_missing_python_packages_are_named(installed, bare):
    """One message names all packages that a Python lacks, by Debian's names and by pip's, and where
    the command finds a virtual environment."""
    result = run_with(installed(), bare, "info")
    assert result.returncode == 2 and "Traceback" not in result.stderr
    for name in required():
        assert f"python3-{name}" in result.stderr
        assert re.search(rf"has no Python packages .*{name}", result.stderr)
    assert f"python3 -m venv {installed()}/lib/frontload/venv" in result.stderr


def test_a_virtual_environment_beside_the_package_is_used(installed, tmp_path, bare):
    """What the message tells to make is what the command then runs in, wherever it is moved."""
    moved = tmp_path / "moved"
    shutil.copytree(installed(), moved, symlinks=True)
    checked(bare, "-m", "venv", "--without-pip", moved / "lib" / "frontload" / "venv")
    result = run_with(moved, None, "info")
    assert f"{moved}/lib/frontload/venv/bin/python: has no" in result.stderr


def test_an_old_python_is_told(installed, tmp_path):
    """A Python that is too old is named with its version."""
    old = tmp_path / "python"
    old.write_text(f"""#!{sys.executable}
import sys
sys.version_info = (3, 9, 2, "final", 0)
code, sys.argv = sys.argv[2], ["-c", *sys.argv[3:]]
exec(code)
""")
    old.chmod(0o755)
    result = run_with(installed(), str(old), "info")
    assert result.returncode == 1
    assert "is Python 3.9, but 3.11 or newer is needed" in result.stderr
    assert "Traceback" not in result.stderr
