"""check_frontload_supported, which is to be asked as check_ipo_supported is."""

import pytest
from projects import COMPILERS


def ask(project, call: str, *arguments: str, languages: str = "C", code: int = 0, **options) -> str:
    p = project(**options).write(f"""
check_frontload_supported({call})
message(STATUS "answer: [${{result}}] [${{output}}]")
""", header=f"""
cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES {languages})
find_package(Frontload REQUIRED CONFIG)
""")
    return p.configure(*arguments, code=code)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_supported(project, compiler):
    assert "answer: [TRUE] []" in ask(project, "RESULT result OUTPUT output", languages="C CXX",
                                      compiler=compiler)


def test_the_flags_of_the_project_count(project):
    """What cannot be linked is no front's fault, but the answer is no, with what the tools said."""
    said = ask(project, "RESULT result OUTPUT output",
               "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
               "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--shuffle-sections=*=1")
    assert "answer: [FALSE]" in said and "cannot be combined with" in said


def test_unsupported_stops_without_result(project):
    """Who does not ask for the answer gets an error with a remedy."""
    said = ask(project, "", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
               "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--shuffle-sections=*=1", code=1)
    assert "Frontload cannot link programs of this build" in said and "-DFRONTLOAD=off" in said


@pytest.mark.parametrize("call, why", [
    ("LANGUAGES Swift", "Frontload does not know the language Swift"),
    ("LANGUAGES CXX", "the language CXX is not enabled"),
])
def test_languages(project, call, why):
    assert f"answer: [FALSE] [{why}]" in ask(project, f"RESULT result OUTPUT output {call}")


def test_no_language(project):
    assert "answer: [FALSE] [no language that Frontload knows is enabled" in ask(
        project, "RESULT result OUTPUT output", languages="NONE")


def test_other_compilers(project):
    assert "is MSVC, and Frontload knows gcc and clang" in ask(
        project, "RESULT result OUTPUT output)\nset(CMAKE_C_COMPILER_ID MSVC)\n"
        "check_frontload_supported(RESULT result OUTPUT output")


def test_bad_call(project):
    assert "RESULT <variable>" in ask(project, "RESULT", code=1)
    assert "RESULT <variable>" in ask(project, "result", code=1)
