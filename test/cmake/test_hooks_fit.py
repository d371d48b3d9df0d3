"""CMake tries whether lld has the functions that ld.frontload hooks, and whether they do what it
relies on."""

import shutil

import pytest
from places import LLVM, ROOT
from projects import known_hooks

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


# Stands for the probe where it does not matter what lld does.
PROBE = 'extern "C" void ZgetImportance(); int main() { ZgetImportance(); }\n'


@pytest.fixture
def configure(tmp_path, run):
    """configure(*options, code, old, new, probe): what CMake says, in one line, of a lld_symbols.h
    in which `new` stands for `old`, and perhaps of another probe."""

    def configure(*options: str, code: int, old="", new="", probe: str | None = None) -> str:
        folder = tmp_path / "rooms" / "lld"
        folder.mkdir(parents=True)
        for room in LLD.parent.iterdir():
            if room != LLD:
                (folder.parent / room.name).symlink_to(room)
        for name in ("hook_probe.cpp", "rest_order.h"):
            shutil.copy(LLD / name, folder)
        if probe:
            (folder / "hook_probe.cpp").write_text(probe)
        symbols = (LLD / "lld_symbols.h").read_text()
        assert old in symbols
        (folder / "lld_symbols.h").write_text(symbols.replace(old, new, 1))
        (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(llvm=LLVM.parent, lld=LLD))
        result = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", *options, code=code)
        return " ".join((result.stdout + result.stderr).split())

    return configure


def test_a_function_that_is_not_there(configure):
    """It is named."""
    text = configure(code=1, probe=PROBE)
    assert "cannot hook into lld 22" in text and "does not link" in text
    assert "ZgetImportance" in text
    assert "docs/lld-hooks.md" in text


def test_a_function_that_does_something_else(configure):
    """It is said what this lld does not do. Here sections are matched outside of the function that
    is taken for the one that does it."""
    text = configure(code=1, old=PROCESS, new="LinkerScript17addOrphanSectionsEv")
    assert "does not do what it relies on" in text
    assert "StringMatcher::match: is not asked for one of our patterns after the other" in text


def test_it_is_tried_once(configure):
    """What has been found to fit is not tried again until something has changed."""
    assert "Check that lld" not in configure(known_hooks(), code=0)
