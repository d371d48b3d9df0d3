"""What frontload_target, check_frontload_supported and FRONTLOAD must not be told."""

import pytest
from projects import HEADER, NO_LANGUAGE

USAGE = "TRAIN COMMAND <command>"


def test_modes(project):
    """Programs that show the cache offer the modes; another one is refused."""
    p = project().write("""
get_property(choices CACHE FRONTLOAD PROPERTY STRINGS)
message(STATUS "choices: ${choices}, default: ${FRONTLOAD}")
""", NO_LANGUAGE)
    assert "choices: off;record;use;renew, default: use" in p.configure()
    for mode in ("ON", "Use", "", "of"):
        said = p.configure(f"-DFRONTLOAD={mode}", code=1)
        assert f'FRONTLOAD is "{mode}", which is not a mode' in said
        assert "-DFRONTLOAD=record, -DFRONTLOAD=use or -DFRONTLOAD=renew" in said


@pytest.mark.parametrize("call, problem, remedy", [
    ("app TRAIN", "TRAIN has no COMMAND", USAGE),
    ("app COMMAND app", "COMMAND needs TRAIN before it", USAGE),
    ("app TRAIN WORKLOAD w COMMAND app", "WORKLOAD needs a COMMAND before it", USAGE),
    ("app TRAIN COMMAND app WORKLOAD ../up", 'WORKLOAD is "../up"', "names a folder"),
    ("app TRAIN COMMAND app WEIGHT 2", "a COMMAND has a WEIGHT but no WORKLOAD",
     "WORKLOAD <name> WEIGHT 2"),
    ("app TRAIN COMMAND app WORKLOAD w WEIGHT 0", 'WEIGHT is "0"', "whole number"),
    ("app TRAIN COMMAND app WORKLOAD w WEIGHT 2 COMMAND app WORKLOAD w WEIGHT 3",
     "WORKLOAD w has two weights", "Give it one"),
    ("app PROFILE", "PROFILE has no value", USAGE),
    ("app PREFETCH PREFETCH", "PREFETCH is given twice", USAGE),
    ("app startup.txt", 'unknown argument "startup.txt".', USAGE),
    ("app PGO_PROFILE app.gcda", "PGO_PROFILE needs PGO", USAGE),
    ("app MIN_MATCH 101", 'MIN_MATCH is "101"', "0 to 100"),
    ("app INSTRUMENT UNTIL f TRAIN COMMAND app", "INSTRUMENT cannot be combined with",
     "frontload_startup_done()"),
    ("app INSTRUMENT", "INSTRUMENT needs TRAIN", "how the commands of TRAIN"),
    ("nobody", "there is no such target", "after add_executable"),
    ("iface", "this build does not link this target", "executables and libraries"),
    ("lib PREFETCH", "PREFETCH is for executables", "frontload_prefetch()"),
    ("lib TRAIN COMMAND app", "TRAIN is for executables and shared libraries", "linked into"),
    ("twice", "this is the second call for this target", "into one call"),
])
def test_bad_call(project, call, problem, remedy):
    """The configuration stops, and says what is wrong and what to do."""
    said = project().write(f"""
add_executable(app main.c)
add_executable(twice main.c)
add_library(lib STATIC greet.c)
add_library(iface INTERFACE)
frontload_target(twice)
frontload_target({call})
""", NO_LANGUAGE).configure(code=1)
    assert f"frontload_target({call.split()[0]}): {problem}" in said
    assert remedy in said


def test_arguments_of_commands(project):
    """They reach the program as written: empty, with semicolons, spaces, or a shell's own."""
    arguments = ["", "a;b", "c d", "$HOME", "*", "'", "back\\\\slash", "ü", ""]
    quoted = " ".join(f'"{argument}"' for argument in arguments).replace("$", "\\$")
    p = project().write(f"""
add_executable(app main.c)
frontload_target(app TRAIN COMMAND app ${{CMAKE_BINARY_DIR}}/got {quoted} WORKLOAD odd)
""", main_c="""
#include <stdio.h>
int main(int argc, char **argv) {
  FILE *out = fopen(argv[1], "w");
  for (int i = 2; i < argc; ++i)
    fprintf(out, "%s\\n", argv[i]);
  return fclose(out);
}
""")
    p.train()
    assert (p.binary / "got").read_text().split("\n")[:-1] == [
        "", "a;b", "c d", "$HOME", "*", "'", "back\\slash", "ü", ""]


# A link that a front cannot be combined with; nothing else of the project is linked.
BAD_LINK = ("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
            "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--shuffle-sections=*=1")
ASK = "check_frontload_supported(RESULT result OUTPUT output{})\n" \
      'message(STATUS "answer: [${{result}}] [${{output}}]")\n'


def asking(project, text: str, languages: str = "C", **options):
    return project(**options).write(text, HEADER.replace("LANGUAGES C", f"LANGUAGES {languages}"))


@pytest.mark.parametrize("compiler, languages", [("gcc", "C CXX"), ("clang", "C")])
def test_supported(project, compiler, languages):
    """Languages that are not enabled or not known, and other compilers, are named."""
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
