"""CMake tries whether lld has the functions that ld.frontload hooks, and whether they do what it
relies on."""

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
# Stand for the probe: what it hooks is not there, or does something else.
UNKNOWN = 'extern "C" void ZgetImportance(); int main() { ZgetImportance(); }\n'
FAILING = '#include <cstdio>\nint main() { std::puts("match: is not asked"); return 1; }\n'


@pytest.fixture
def configure(tmp_path, run):
    """configure(*options, code, probe, old, new): what CMake says, in one line, of another probe,
    or of a lld_symbols.h in which `new` stands for `old`."""

    def configure(*options: str, code: int, probe: str | None = None, old="", new="") -> str:
        folder = tmp_path / "rooms" / "lld"
        folder.mkdir(parents=True)
        for room in LLD.parent.iterdir():
            if room != LLD:
                (folder.parent / room.name).symlink_to(room)
        for name in ("hook_probe.cpp", "rest_order.h", "lld_symbols.h"):
            text = (LLD / name).read_text()
            (folder / name).write_text(text.replace(old, new, 1) if "symbols" in name else text)
        if probe:
            (folder / "hook_probe.cpp").write_text(probe)
        (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(llvm=LLVM.parent, lld=LLD))
        result = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", *options, code=code)
        return " ".join((result.stdout + result.stderr).split())

    return configure


@pytest.mark.parametrize("probe, problem, what", [
    (UNKNOWN, "does not link", "ZgetImportance"),
    (FAILING, "does not do what it relies on", "match: is not asked (exit status 1)")])
def test_a_lld_that_does_not_fit(configure, probe, problem, what):
    """What it lacks, or does not do, is named."""
    text = configure(code=1, probe=probe)
    assert "cannot hook into lld 22" in text and "docs/lld-hooks.md" in text
    assert problem in text and what in text


@pytest.mark.slow
def test_a_function_that_does_something_else(configure):
    """Sections are matched outside of the function that is taken for the one that does it."""
    text = configure(code=1, old="LinkerScript22processSectionCommandsEv",
                     new="LinkerScript17addOrphanSectionsEv")
    assert "StringMatcher::match: is not asked for one of our patterns after the other" in text


def test_it_is_tried_once(configure):
    """What has been found to fit is not tried again until something has changed."""
    assert "Check that lld" not in configure(known_hooks(), code=0)
