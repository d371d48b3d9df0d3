"""What the packaging tests share: this build, configured for other installations.

What is built does not depend on where it will be installed. So a second build folder, configured
for another prefix or another folder of libraries, gets the programs of the one that is tested, and
only installing and packing is done in it. These folders and packages are made once for all
processes that run these tests, of which there is one at a time (test/properties.cmake).
"""

import functools
import os
import shutil
import sys
from pathlib import Path

import pytest
from compiled import kept
from trees import BUILD, MULTIARCH, ROOT, checked, first_steps, packed

LARGE = 1_000_000
# All that an installation and a package are made from.
BUILT = [BUILD / part for part in ("bin", "lib", "share")]
CONFIGURED = [*(ROOT / part for part in ("CMakeLists.txt", "README.md", "LICENSE", "cmake",
                                         "instrument", "lldplugin", "scripts")), *BUILT]


def _share(made: Path, other: Path) -> None:
    """The files of the folder `made` in `other`, too, but for those that it has."""
    for path in made.rglob("*"):
        copy = other / path.relative_to(made)
        if path.is_dir() and not path.is_symlink():
            copy.mkdir(parents=True, exist_ok=True)
        elif not os.path.lexists(copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, copy, follow_symlinks=False)
            except OSError:  # another file system
                shutil.copy2(path, copy, follow_symlinks=False)


@pytest.fixture(scope="session")
def light() -> Path:
    """What is built, without the debug information of the large files, which takes longer to copy
    than all else. Small ones keep it, to be stripped by those whose task it is."""
    def make(folder: Path) -> None:
        for part in BUILT:
            _share(part, folder / part.name)
        for path in folder.rglob("*"):
            if not path.is_symlink() and path.is_file() and path.stat().st_size > LARGE:
                path.unlink()
                path = path.relative_to(folder)
                checked("strip", "--strip-debug", BUILD / path, "-o", folder / path)

    return kept(make, "light", *BUILT)


@pytest.fixture(scope="session")
def configured(light):
    """configured(*options): a build folder configured with them, in which all is built."""
    def configured(*options: str) -> Path:
        def make(folder: Path) -> None:
            checked("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DFRONTLOAD_GOLD=ON",
                    "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DFRONTLOAD_BUILD_TESTS=OFF",
                    f"-DFRONTLOAD_PYTHON={sys.executable}",
                    "-DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON", *options)
            _share(light, folder)

        return kept(make, "configured", sys.executable, *options, *CONFIGURED)

    return functools.cache(configured)


@pytest.fixture(scope="session")
def installed(configured, tmp_path_factory):
    """installed(*options): a prefix as `cmake --install` makes it of configured(*options)."""
    prefixes = {}

    def installed(*options: str) -> Path:
        if options not in prefixes:
            prefixes[options] = tmp_path_factory.mktemp("installed") / "prefix"
            checked("cmake", "--install", configured(*options), "--prefix", prefixes[options])
        return prefixes[options]

    return installed


@pytest.fixture(scope="session")
def debs(configured) -> dict[str, Path]:
    """The Debian packages, by name."""
    def make(folder: Path) -> None:
        made = configured("-DCMAKE_INSTALL_PREFIX=/usr")
        packed(made)
        for path in (made / "packages").glob("*.deb"):
            path.rename(folder / path.name)

    folder = kept(make, "packages", sys.executable, *CONFIGURED)
    return {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}


@pytest.fixture(scope="session")
def unpacked(debs, tmp_path_factory) -> Path:
    """A folder with what all Debian packages have."""
    folder = tmp_path_factory.mktemp("unpacked")
    for path in debs.values():
        checked("dpkg-deb", "--extract", path, folder)
    return folder


@pytest.fixture(scope="session")
def worked(unpacked, tmp_path_factory) -> tuple[str, Path]:
    """What the first steps with the unpacked packages said, and the folder they worked in."""
    folder = tmp_path_factory.mktemp("worked")
    return first_steps(unpacked / "usr" / "bin", unpacked / "usr" / "lib" / MULTIARCH,
                       folder), folder
