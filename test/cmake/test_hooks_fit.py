"""CMake tries whether lld has the functions that ld.frontload hooks, and whether they do what it
relies on."""

import shutil
import subprocess
from pathlib import Path

import pytest
from places import LLVM, ROOT

LLD = ROOT / "lldplugin" / "lld"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES C CXX)
find_package(LLVM REQUIRED CONFIG HINTS "{llvm}")
find_package(LLD REQUIRED CONFIG HINTS "{llvm}/lib/cmake/lld")
include("{lld}/CheckHooks.cmake")
set(folder "${{CMAKE_CURRENT_SOURCE_DIR}}/rooms/lld")
frontload_read_hooks(hooks "${{folder}}")
frontload_check_hooks("${{folder}}" ${{hooks}})
"""
PROCESS = "LinkerScript22processSectionCommandsEv"


@pytest.fixture
def configure(tmp_path):
    """configure(old, new): configures with a lld_symbols.h in which `new` stands for `old`."""

    def configure(old: str = "", new: str = "") -> subprocess.CompletedProcess:
        folder = tmp_path / "rooms" / "lld"
        if not folder.exists():
            folder.mkdir(parents=True)
            for room in LLD.parent.iterdir():
                if room != LLD:
                    (folder.parent / room.name).symlink_to(room)
            for name in ("hook_probe.cpp", "rest_order.h"):
                shutil.copy(LLD / name, folder)
        symbols = (LLD / "lld_symbols.h").read_text()
        assert old in symbols
        (folder / "lld_symbols.h").write_text(symbols.replace(old, new, 1) if old else symbols)
        (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(llvm=LLVM.parent, lld=LLD))
        return subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build"],
                              capture_output=True, text=True, timeout=600)

    return configure


def told(result: subprocess.CompletedProcess) -> str:
    """What CMake said, without the breaks of its lines."""
    assert result.returncode != 0
    return " ".join(result.stderr.split())


def cache_of(folder: Path) -> str:
    return (folder / "build" / "CMakeCache.txt").read_text()


def test_a_function_that_is_not_there(configure):
    """It is named."""
    text = told(configure("11getPriority", "13getImportance"))
    assert "cannot hook into lld 22" in text and "does not link" in text
    assert "getImportance" in text
    assert "docs/lld-hooks.md" in text


def test_a_function_that_does_something_else(configure):
    """It is said what this lld does not do. Here sections are matched outside of the function that
    is taken for the one that does it."""
    text = told(configure(PROCESS, "LinkerScript17addOrphanSectionsEv"))
    assert "does not do what it relies on" in text
    assert "StringMatcher::match: is not asked for one of our patterns after the other" in text


def test_it_is_tried_once(configure, tmp_path):
    """What has been found to fit is not tried again until something has changed."""
    tries = [configure().stdout.count("Check that lld") for _ in range(2)]
    assert tries == [1, 0]
    cache = cache_of(tmp_path)
    assert "FRONTLOAD_HOOKS_FIT" in cache and "frontload_hooks_build" not in cache
