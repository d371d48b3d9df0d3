"""The ways to get at Frontload: installed, moved, from its build folder, and inside a project."""

import re
from pathlib import Path

import pytest
from projects import BUILD, COMPILERS, LLVM, has_front, names

ROOT = Path(__file__).parents[2]
APP = """
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND app)
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation that was moved after it was made."""
    import subprocess

    made = tmp_path_factory.mktemp("made") / "prefix"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", made], check=True, capture_output=True)
    return made.rename(tmp_path_factory.mktemp("moved") / "some where")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_installation(project, prefix, compiler):
    """The whole way works from an installation that was moved."""
    p = project(package=prefix, compiler=compiler).write(APP)
    p.train()
    assert "greet" in names(p.path("app.startup"))
    p.configure("-DFRONTLOAD=use")
    p.build()
    assert has_front(p.built("app"))
    text = (p.binary / "build.ninja").read_text()
    assert str(prefix).replace(" ", "") in text.replace(" ", "") and str(BUILD) not in text


@pytest.mark.parametrize("where", ["installation", "build folder"])
def test_found_by_prefix_path(project, prefix, where):
    """CMAKE_PREFIX_PATH may name an installation or a build folder."""
    folder = prefix if where == "installation" else BUILD
    p = project(package=Path("/nowhere")).write("message(STATUS \"found ${Frontload_DIR}\")\n")
    assert f"found {folder}/lib/cmake/Frontload" in p.configure(
        "-UFrontload_DIR", f"-DCMAKE_PREFIX_PATH={folder}")


def test_targets(project, prefix):
    """Programs and libraries have targets, with which C programs can be compiled and linked."""
    p = project(package=prefix).write("""
foreach(name ld frontload)
  get_target_property(type Frontload::${name} TYPE)
  message(STATUS "${name} is ${type}")
endforeach()
add_custom_target(version COMMAND Frontload::frontload --version COMMAND Frontload::ld --version)
add_executable(asks prefetch.c)
target_link_libraries(asks PRIVATE Frontload::prefetch)
add_executable(asks_static prefetch.c)
target_link_libraries(asks_static PRIVATE Frontload::prefetch_static)
add_executable(records rt.c)
target_link_libraries(records PRIVATE Frontload::rt)
add_executable(records_static rt.c)
target_link_libraries(records_static PRIVATE Frontload::rt_static)
""", prefetch_c="#include <frontload_prefetch.h>\n"
                   "int main(void) { return !frontload_prefetch(\"/\"); }\n",
        rt_c="#include <frontload.h>\nint main(void) { frontload_startup_done(); return 0; }\n")
    said = p.configure()
    assert "ld is EXECUTABLE" in said and "frontload is EXECUTABLE" in said
    p.build()
    assert "LLD 22" in p.build("version")


@pytest.mark.parametrize("wanted, code", [("0.1", 0), ("0.2", 1), ("1.0", 1)])
def test_version(project, wanted, code):
    p = project().write("", header=f"""
cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES NONE)
find_package(Frontload {wanted} REQUIRED CONFIG)
""")
    said = p.configure(code=code)
    assert code == 0 or "Could not find a configuration file" in said


@pytest.mark.parametrize("how", ["add_subdirectory", "FetchContent"])
def test_inside_a_project(project, run, how, tmp_path):
    """A project may have Frontload inside. A plain build then builds of it what its programs need
    and not the rest, before they are linked; and nothing of it is installed."""
    add = (f"add_subdirectory({ROOT} frontload)" if how == "add_subdirectory" else f"""
include(FetchContent)
FetchContent_Declare(Frontload SOURCE_DIR {ROOT} OVERRIDE_FIND_PACKAGE)
find_package(Frontload)""")
    p = project(source=tmp_path / how).write(f"""
{add}
get_target_property(linker Frontload::ld ALIASED_TARGET)
message(STATUS "linker: ${{linker}}, build type: [${{CMAKE_BUILD_TYPE}}]")
check_frontload_supported(RESULT result OUTPUT output)
message(STATUS "supported: ${{result}}")
{APP}
install(TARGETS app)
""", header="cmake_minimum_required(VERSION 3.25)\nproject(shop LANGUAGES C CXX)\n")
    said = p.configure("-DCMAKE_BUILD_TYPE=", f"-DCMAKE_CXX_COMPILER={LLVM}/clang++")
    assert "linker: ld.frontload, build type: []" in said
    assert "supported: TRUE" in said
    plan = run("ninja", "-C", p.binary, "-n", "-v").stdout.splitlines()
    built = [re.search(r" -o (\S+)", line)[1] for line in plan if " -o " in line]
    assert any(name.endswith("bin/ld.frontload") for name in built)
    assert not any("frontload-gold" in name or "_test" in name for name in built)
    link = built.index("app")
    assert link > next(i for i, name in enumerate(built) if name.endswith("bin/ld.frontload"))
    rules = "".join(path.read_text() for path in p.binary.rglob("cmake_install.cmake")
                    if path.parent == p.binary)
    assert "/app" in rules and "frontload" not in rules


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_project_of_an_old_cmake(project, tmp_path, generator):
    """A project that asks for the manners of CMake 3.5, or of 2.8, is trained and gets a front."""
    for oldest in ("2.8.12", "3.5"):
        p = project(tmp_path / oldest, generator=generator).write(
            APP, header=f"cmake_minimum_required(VERSION {oldest})\nproject(shop C)\n"
            "find_package(Frontload REQUIRED CONFIG)\n")
        p.train()
        p.configure("-DFRONTLOAD=use")
        p.build()
        assert has_front(p.built("app"))
        p.path("app.startup").unlink()
        p.build()
        assert not has_front(p.built("app"))
