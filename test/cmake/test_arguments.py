"""What frontload_target and FRONTLOAD must not be told."""

import pytest
from projects import NO_LANGUAGE

USAGE = "TRAIN COMMAND <command>"


def test_modes(project):
    """Programs that show the cache offer the modes; another one is refused."""
    p = project().write("""
get_property(choices CACHE FRONTLOAD PROPERTY STRINGS)
message(STATUS "choices: ${choices}, default: ${FRONTLOAD}")
""", NO_LANGUAGE)
    assert "choices: off;record;use, default: use" in p.configure()
    for mode in ("ON", "Use", "", "of"):
        said = p.configure(f"-DFRONTLOAD={mode}", code=1)
        assert f'FRONTLOAD is "{mode}", which is not a mode' in said
        assert "-DFRONTLOAD=off, -DFRONTLOAD=record or -DFRONTLOAD=use" in said


@pytest.mark.parametrize("call, problem, remedy", [
    ("app TRAIN", "TRAIN has no value", USAGE),
    ("app TRAIN app", "TRAIN has no COMMAND", USAGE),
    ("app TRAIN COMMAND app COMMAND", "COMMAND has no value", USAGE),
    ("app TRAIN COMMAND COMMAND app", "COMMAND has no value", USAGE),
    ("app COMMAND app", 'unknown argument "COMMAND"', USAGE),
    ("app PROFILE", "PROFILE has no value", USAGE),
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
frontload_target(app TRAIN COMMAND app ${{CMAKE_BINARY_DIR}}/got {quoted} WORKING_DIRECTORY .)
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
