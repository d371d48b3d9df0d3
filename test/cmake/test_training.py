"""What trainings record: workloads and their weights, ends of startup, data, and programs that
record themselves."""

import pytest
from projects import functions, has_front, names

STEPS = """
#include <string.h>
__attribute__((noipa)) int first(int x) { return x + 1; }
__attribute__((noipa)) int second(int x) { return x + 2; }
__attribute__((noipa)) int third(int x) { return x + 3; }
static const int table[1024] = {1, 2, 3};
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "third"))
    return third(table[argc]) < 0;
  return second(first(argc) + table[argc]) < 0;
}
"""


def ours(profile) -> list[str]:
    return [name for name in names(profile) if name in ("first", "second", "third", "main")]


def test_workloads(project):
    """Commands make one profile; each workload's runs count with its weight."""
    p = project().write("""
add_executable(app main.c)
frontload_target(app PROFILE startup/app.startup
  TRAIN COMMAND app
        COMMAND app third WORKLOAD usual WEIGHT 5
        COMMAND app third WORKLOAD usual)
""", main_c=STEPS)
    p.train()
    profile = p.path("startup/app.startup")
    assert sorted(ours(profile)) == ["first", "main", "second", "third"]
    lines = profile.read_text().splitlines()
    assert "runs 11" in lines
    entries = [line.split("\t") for line in lines if "\t" in line]
    counts = {fields[5]: int(fields[2].split("=")[0]) for fields in entries}
    assert (counts["first"], counts["third"], counts["main"]) == (1, 10, 11)


def test_until(project):
    """Startup ends where the call says."""
    p = project().write("""
add_executable(app main.c)
frontload_target(app UNTIL second TRAIN COMMAND app)
""", main_c=STEPS)
    p.train()
    assert "third" not in ours(p.path("app.startup"))
    assert ours(p.path("app.startup"))[:2] == ["main", "first"]


def test_a_program_that_does_not_end(project):
    """READY says when it is ready, with and without data; nothing of its end is in the profile."""
    source = STEPS.replace("#include <string.h>", "#include <signal.h>\n#include <stdio.h>\n"
                           "#include <string.h>\n#include <unistd.h>")
    source = source.replace("int main(int argc, char **argv) {", """
static void stop(int number) { _exit(third(number) < 0); }
int main(int argc, char **argv) {
  signal(SIGTERM, stop);
  if (first(argc) > 0)
    puts("now; ready"), fflush(stdout);
  for (;;)
    pause();
""")
    p = project().write("""
add_executable(app main.c)
frontload_target(app READY --until-output "now; ready" --timeout 60 DATA TRAIN COMMAND app)
""", main_c=source)
    p.train()
    assert ours(p.path("app.startup")) == ["main", "first"]


def test_data(project):
    """DATA records the data that a start needs, with the names that the map has for it."""
    p = project().write("""
add_executable(app main.c)
frontload_target(app DATA TRAIN COMMAND app)
""", main_c=STEPS)
    p.train()
    text = p.path("app.startup").read_text()
    assert "data-runs 1\n" in text and "\ttable\t" in text
    p.configure("-DFRONTLOAD=use")
    p.build()
    assert has_front(p.built("app"))


def test_working_directory(project):
    """Commands run in the build folder of the call, or where it says."""
    p = project().write("""
add_executable(app main.c)
frontload_target(app
  TRAIN COMMAND sh -c "pwd >> ${CMAKE_BINARY_DIR}/where && exec $<TARGET_FILE:app>"
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_subdirectory(sub)
""", main_c=STEPS)
    p.path("sub").mkdir()
    p.path("sub/CMakeLists.txt").write_text("""
add_executable(app2 ../main.c)
frontload_target(app2
  TRAIN COMMAND sh -c "pwd > ${CMAKE_BINARY_DIR}/where2 && exec $<TARGET_FILE:app2>")
""")
    p.train()
    assert (p.binary / "where").read_text() == f"{p.source}\n"
    assert (p.binary / "where2").read_text() == f"{p.binary}/sub\n"


def test_min_match(project):
    """A profile that has rotted fails the link below MIN_MATCH."""
    p = project().write("""
add_executable(app main.c greet.c)
frontload_target(app MIN_MATCH ${SHARE})
""")
    p.path("app.startup").write_text(
        "frontload-startup-profile 2\nprogram app\nruns 1\nfunction\ttext\t1\t+1\t-\tgreet\n"
        "function\ttext\t1\t+1\t-\tgone\n")
    p.configure("-DSHARE=51")
    assert "ld.frontload: error:" in p.build(code=1)
    p.configure("-DSHARE=50")
    p.build()
    assert has_front(p.built("app"))


@pytest.mark.parametrize("compiler, generator", [
    ("gcc", "Ninja"), ("clang", "Ninja Multi-Config"), ("gcc", "Unix Makefiles")])
def test_instrument(project, compiler, generator):
    """Programs that record themselves are built in a tree of their own, with the libraries that are
    linked into them, with and without a keyword, and only when they are trained; the program that
    is built is never instrumented."""
    p = project(compiler=compiler, generator=generator).write("""
option(SHOP_HAS_MORE "An option of the project" OFF)
if(NOT SHOP_HAS_MORE)
  message(FATAL_ERROR "the option got lost")
endif()
add_library(goods STATIC greet.c)
add_executable(app main.c)
target_link_libraries(app PRIVATE goods)
frontload_target(app INSTRUMENT TRAIN COMMAND app)
add_executable(app2 main.c)
target_link_libraries(app2 goods)
frontload_target(app2 INSTRUMENT TRAIN COMMAND app2)
""")
    p.configure("-DFRONTLOAD=record", "-DSHOP_HAS_MORE=ON", "-DCMAKE_C_FLAGS=-fno-inline")
    p.build()
    assert "__cyg_profile_func_enter" not in p.built("app").read_bytes().decode("latin1")
    second = p.binary / "frontload-instrumented"
    assert not (second / "CMakeCache.txt").exists()
    p.build("frontload-train")
    for app in ("app", "app2"):
        found = names(p.path(f"{app}.startup"))
        assert "main" in found and "greet" in found and "never" not in found
    assert p.rebuilt_by() == set()
    p.configure("-DFRONTLOAD=use")
    assert p.rebuilt_by() == {"app", "app2"}
    order = functions(p.built("app"))
    assert order.index("greet") < order.index("rare")
