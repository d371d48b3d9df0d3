"""check_frontload_supported, which is to be asked as check_ipo_supported is."""

import pytest
from projects import HEADER

# A link that a front cannot be combined with; nothing else of the project is linked.
BAD_LINK = ("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
            "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--shuffle-sections=*=1")
ASK = "check_frontload_supported(RESULT result OUTPUT output{})\n" \
      'message(STATUS "answer: [${{result}}] [${{output}}]")\n'


def asking(project, text: str, languages: str = "C", **options):
    return project(**options).write(text, HEADER.replace("LANGUAGES C", f"LANGUAGES {languages}"))


@pytest.mark.parametrize("compiler, languages", [("gcc", "C CXX"), ("clang", "C")])
def test_supported(project, compiler, languages):
    """What can be linked is; languages that are not enabled or not known, and other compilers, are
    named."""
    said = asking(project, f"""
{ASK.format("")}{ASK.format(" LANGUAGES Swift")}{ASK.format(" LANGUAGES OBJC")}
set(CMAKE_C_COMPILER_ID MSVC)
{ASK.format(" LANGUAGES C")}""", languages, compiler=compiler).configure()
    assert "answer: [TRUE] []" in said
    assert "answer: [FALSE] [Frontload does not know the language Swift]" in said
    assert "answer: [FALSE] [the language OBJC is not enabled]" in said
    assert "is MSVC, and Frontload knows gcc and clang" in said


def test_the_flags_of_the_project_count(project):
    """The answer is no, with what the tools said; who does not ask for it gets an error."""
    p = asking(project, ASK.format("") + "check_frontload_supported()\n")
    said = p.configure(*BAD_LINK, code=1)
    assert "answer: [FALSE]" in said and "cannot be combined with" in said
    assert "Frontload cannot link programs of this build" in said and "-DFRONTLOAD=off" in said


@pytest.mark.parametrize("text, code, answer", [
    (ASK.format(""), 0, "answer: [FALSE] [no language that Frontload knows is enabled"),
    ("check_frontload_supported(RESULT)", 1, "RESULT <variable>"),
    ("check_frontload_supported(result)", 1, "RESULT <variable>")])
def test_what_cannot_be_asked(project, text, code, answer):
    assert answer in asking(project, text, "NONE").configure(code=code)
