"""What trainings record: commands, ends of startup, data, and programs that record themselves."""

import pytest
from abilities import needs
from projects import APP, has_front, is_ordered, names

STEPS = """
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((noipa)) int first(int x) { return x + 1; }
__attribute__((noipa)) int second(int x) { return x + 2; }
__attribute__((noipa)) int third(int x) { return x + 3; }
static const int table[1024] = {1, 2, 3};
static void stop(int number) { _exit(third(number) < 0); }
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "other"))
    return third(table[argc]) < 0;
  if (argc > 1 && !strcmp(argv[1], "stay")) {
    signal(SIGTERM, stop);
    if (first(argc) > 0)
      puts("now; ready"), fflush(stdout);
    for (;;)
      pause();
  }
  return second(first(argc) + table[argc]) < 0;
}
"""


def ours(profile) -> list[str]:
    return [name for name in names(profile) if name in ("first", "second", "third", "main")]


@needs("valgrind")
def test_commands(project):
    """Commands make one profile, up to where startup ends; DATA too."""
    p = project().write("""
add_executable(app main.c)
frontload_target(app PROFILE startup/app.startup
  TRAIN COMMAND app
        COMMAND app other
        COMMAND app other)
add_executable(until main.c)
frontload_target(until UNTIL second
  TRAIN COMMAND sh -c "pwd >> ${CMAKE_BINARY_DIR}/where && exec $<TARGET_FILE:until>"
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_executable(stays main.c)
frontload_target(stays READY --until-output "now; ready" --timeout 60 DATA TRAIN COMMAND stays stay)
add_subdirectory(sub)
""", main_c=STEPS)
    p.path("sub").mkdir()
    p.path("sub/CMakeLists.txt").write_text("""
add_executable(data ../main.c)
frontload_target(data DATA
  TRAIN COMMAND sh -c "pwd > ${CMAKE_BINARY_DIR}/where2 && exec $<TARGET_FILE:data>")
""")
    p.train()
    profile = p.path("startup/app.startup")
    assert sorted(ours(profile)) == ["first", "main", "second", "third"]
    lines = profile.read_text().splitlines()
    assert "runs 3" in lines
    entries = [line.split("\t") for line in lines if "\t" in line]
    counts = {fields[5]: int(fields[2].split("=")[0]) for fields in entries}
    assert (counts["first"], counts["third"], counts["main"]) == (1, 2, 3)

    found = ours(p.path("until.startup"))
    assert found[:2] == ["main", "first"] and "third" not in found
    assert (p.binary / "where").read_text() == f"{p.source}\n"
    assert (p.binary / "where2").read_text() == f"{p.binary}/sub\n"
    assert ours(p.path("stays.startup")) == ["main", "first"]
    text = p.path("sub/data.startup").read_text()
    assert "data-runs 1\n" in text and "\ttable\t" in text
    p.use()
    assert has_front(p.built("sub/data"))


@pytest.mark.parametrize("compiler, generator", [
    ("clang", "Ninja Multi-Config"), pytest.param("gcc", "Ninja", marks=pytest.mark.slow),
    pytest.param("gcc", "Unix Makefiles", marks=pytest.mark.slow)])
def test_instrument(project, compiler, generator):
    """Programs that record themselves are compiled for it in mode record only."""
    p = project(compiler=compiler, generator=generator).write("""
add_library(goods STATIC greet.c)
add_executable(app main.c)
target_link_libraries(app PRIVATE goods)
frontload_target(app INSTRUMENT TRAIN COMMAND app)
add_executable(app2 main.c)
target_link_libraries(app2 goods)
frontload_target(app2 INSTRUMENT TRAIN COMMAND app2)
""")
    p.configure("-DFRONTLOAD=record", "-DCMAKE_C_FLAGS=-fno-inline")
    p.build("frontload-train")
    assert b"__cyg_profile_func_enter" in p.built().read_bytes()
    for app in ("app", "app2"):
        found = names(p.path(f"{app}.startup"))
        assert "main" in found and "greet" in found and "never" not in found
    assert p.rebuilt_by() == set()
    p.use()
    assert is_ordered(p.built(), "greet", "rare")
    assert b"__cyg_profile_func_enter" not in p.built().read_bytes()


@needs("ptrace")
def test_a_command_that_fails_changes_no_profile(project):
    p = project().write(APP.replace("COMMAND app", "COMMAND app COMMAND false"))
    p.profile()
    before = p.path("app.startup").read_bytes()
    p.configure("-DFRONTLOAD=record")
    p.build("frontload-train", code=1)
    assert p.path("app.startup").read_bytes() == before
