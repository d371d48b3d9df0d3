"""What the packaging tests share: this build, configured for two other installations. Their build
folders get its programs, and only installing and packing is done in them. All of that is made once
and kept (test/compiled.py). Tests only look at it, or change copies."""

import os
import shutil
import sys
from pathlib import Path

import abilities
import pytest
from compiled import kept
from places import BUILD, ROOT
from trees import HERE, MULTIARCH, OPTIONS, PROGRAMS, Installation, checked, clean_environment

LARGE = 1_000_000
# All that an installation and a package are made from.
BUILT = [BUILD / part for part in ("bin", "lib", "share")]
DEBIAN = ROOT / "packaging/debian"
CONFIGURED = [*(ROOT / part for part in ("CMakeLists.txt", "README.md", "LICENSE", "cmake",
                                         "instrument", "lldplugin", "scripts")), *BUILT]


def _share(made: Path, other: Path) -> None:
    """The files of `made` in `other`, unless it has them; large ones without debug information."""
    for path in made.rglob("*"):
        copy = other / path.relative_to(made)
        if path.is_dir() and not path.is_symlink():
            copy.mkdir(parents=True, exist_ok=True)
        elif not os.path.lexists(copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_symlink() and path.stat().st_size > LARGE:
                checked("strip", "--strip-debug", path, "-o", copy)
            else:
                shutil.copy2(path, copy, follow_symlinks=False)


@pytest.fixture(scope="session")
def installation():
    """installation(libdir): what `cmake --install` makes, moved to a folder of an odd name."""
    def installation(libdir: str) -> Installation:
        def make(folder: Path) -> None:
            build, prefix = folder / "build", folder / "prefix"
            checked("cmake", "-S", ROOT, "-B", build, "-G", "Ninja",
                    "-DFRONTLOAD_GOLD=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                    "-DFRONTLOAD_BUILD_TESTS=OFF", "-DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON",
                    f"-DFRONTLOAD_PYTHON={sys.executable}", *OPTIONS[libdir])
            for part in BUILT:
                _share(part, build / part.name)
            checked("cmake", "--install", build, "--prefix", prefix)
            listed = (build / "install_manifest.txt").read_text().splitlines()
            (folder / "manifest").write_text("\n".join(os.path.relpath(name, prefix)
                                                       for name in listed))
            prefix.rename(folder / "ein Präfix 上")

        folder = kept(make, "installation", sys.executable, libdir, *CONFIGURED, HERE / __file__)
        return Installation(folder / "build", folder / "ein Präfix 上", libdir,
                            set((folder / "manifest").read_text().splitlines()))

    return installation


@pytest.fixture(scope="session")
def installed(installation) -> Installation:
    """That in which libraries have a folder of their own."""
    return installation(f"lib/{MULTIARCH}")


@pytest.fixture(scope="session")
def packages(installation) -> Path:
    """A folder with the Debian packages, by the rules of the source package but of this build, and
    in again/, some of them packed at another time."""
    abilities.need("program:dh", "program:dh_python3", "program:dpkg-deb")

    def make(folder: Path) -> None:
        environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000",
                                    "DEB_RULES_REQUIRES_ROOT": "no",
                                    "DPKG_DEB_COMPRESSOR_TYPE": "none"}
        for source, *some in (("source",),
                              ("again/source", "-plibfrontload-dev", "-pfrontload-run")):
            checked(DEBIAN / "unfold", folder / source, env=environment)
            checked("debian/rules", "binary", f"build={installation('lib').build}",
                    cwd=folder / source, env=environment | {"DH_OPTIONS": " ".join(some)})
            shutil.rmtree(folder / source)

    return kept(make, "packages", sys.executable, *CONFIGURED, DEBIAN, HERE / __file__)


@pytest.fixture(scope="session")
def worked(installed) -> Path:
    """The folder in which the first steps with the moved prefix worked; `said`: their words."""
    abilities.need("ptrace")

    def make(folder: Path) -> None:
        said = checked("sh", HERE / "first-steps", installed.prefix / "bin", PROGRAMS, folder,
                       env=clean_environment(PKG_CONFIG_PATH=f"{installed.libraries}/pkgconfig",
                                             LIBRARIES=str(installed.libraries)))
        (folder / "said").write_text(said)

    return kept(make, "first-steps", installed.prefix, HERE / "first-steps", PROGRAMS)


@pytest.fixture(scope="session")
def link_options(installed, worked) -> list[str]:
    """Of gcc, for a link with a front of what the first steps have compiled."""
    return [f"-B{installed.prefix}/lib/frontload/gcc", "-fuse-ld=lld",
            f"-Wl,--startup-profile={worked}/app.startup"]
