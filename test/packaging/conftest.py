"""What the packaging tests share: this build, configured for other installations.

What is built does not depend on where it will be installed. So a second build folder, configured
for another prefix or another folder of libraries, gets the programs of the one that is tested, and
only installing and packing is done in it.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest
from trees import BUILD, MULTIARCH, ROOT, checked, first_steps, packed

LARGE = 1_000_000


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
def light(tmp_path_factory) -> Path:
    """What is built, without the debug information of the large files, which takes longer to copy
    than all else. Small ones keep it, to be stripped by those whose task it is."""
    folder = tmp_path_factory.mktemp("light")
    for part in ("bin", "lib", "share"):
        _share(BUILD / part, folder / part)
    for path in folder.rglob("*"):
        if not path.is_symlink() and path.is_file() and path.stat().st_size > LARGE:
            path.unlink()
            path = path.relative_to(folder)
            checked("strip", "--strip-debug", BUILD / path, "-o", folder / path)
    return folder


@pytest.fixture(scope="session")
def configured(light, tmp_path_factory):
    """configured(*options): a build folder configured with them, in which all is built."""
    folders = {}

    def configured(*options: str) -> Path:
        if options not in folders:
            folder = tmp_path_factory.mktemp("build")
            checked("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DFRONTLOAD_GOLD=ON",
                    "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DFRONTLOAD_BUILD_TESTS=OFF",
                    f"-DFRONTLOAD_PYTHON={sys.executable}",
                    "-DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON", *options)
            _share(light, folder)
            folders[options] = folder
        return folders[options]

    return configured


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
    folder = configured("-DCMAKE_INSTALL_PREFIX=/usr")
    packed(folder)
    return {path.name.partition("_")[0]: path for path in (folder / "packages").glob("*.deb")}


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
