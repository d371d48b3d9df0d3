"""The ways to get at Frontload: installed, moved, from its build folder, and inside a project."""

import re
import subprocess

import pytest
from places import BUILD, LLVM, ROOT
from projects import APP, COMPILERS, NO_LANGUAGE, has_front, names


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation that was moved after it was made."""
    made = tmp_path_factory.mktemp("made") / "prefix"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", made], check=True, capture_output=True)
    return made.rename(tmp_path_factory.mktemp("moved") / "some where")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_installation(project, prefix, compiler):
    """The whole way works from an installation that was moved."""
    p = project(package=prefix, compiler=compiler).write()
    p.train()
    assert "greet" in names(p.path("app.startup"))
    p.use()
    assert has_front(p.built())
    text = (p.binary / "build.ninja").read_text()
    assert str(prefix).replace(" ", "") in text.replace(" ", "") and str(BUILD) not in text


def test_found(project, prefix):
    """CMAKE_PREFIX_PATH may name an installation or a build folder; the version has to fit."""
    p = project().write("message(STATUS \"found ${Frontload_DIR}\")\n", NO_LANGUAGE)
    for folder in (prefix, BUILD):
        assert f"found {folder}/lib/cmake/Frontload" in p.configure(
            "-UFrontload_DIR", f"-DCMAKE_PREFIX_PATH={folder}")
    p.write("", NO_LANGUAGE.replace("Frontload", "Frontload 0.1")).configure()
    p.write("", NO_LANGUAGE.replace("Frontload", "Frontload 0.2"))
    assert "Could not find a configuration file" in p.configure(code=1)


def test_targets(project, prefix):
    """Programs and libraries have targets, with which C programs can be compiled and linked."""
    p = project(package=prefix).write("""
add_custom_target(version COMMAND Frontload::frontload --version COMMAND Frontload::ld --version)
foreach(name prefetch prefetch_static rt rt_static)
  string(REGEX REPLACE "_static" "" source ${name})
  add_executable(with_${name} ${source}.c)
  target_link_libraries(with_${name} PRIVATE Frontload::${name})
endforeach()
""", prefetch_c="#include <frontload_prefetch.h>\n"
                   "int main(void) { return !frontload_prefetch(\"/\"); }\n",
        rt_c="#include <frontload.h>\nint main(void) { frontload_startup_done(); return 0; }\n")
    p.configure()
    p.build()
    assert "LLD 22" in p.build("version")


def test_inside_a_project(project, run):
    """A build makes what its programs need of Frontload, before them, and installs nothing."""
    p = project().write(f"""
include(FetchContent)
FetchContent_Declare(Frontload SOURCE_DIR "{ROOT}" OVERRIDE_FIND_PACKAGE)
find_package(Frontload)
get_target_property(linker Frontload::ld ALIASED_TARGET)
message(STATUS "linker: ${{linker}}, build type: [${{CMAKE_BUILD_TYPE}}]")
{APP}
install(TARGETS app)
""", "cmake_minimum_required(VERSION 3.25)\nproject(shop LANGUAGES C CXX)\n")
    said = p.configure("-DCMAKE_BUILD_TYPE=", f"-DCMAKE_CXX_COMPILER={LLVM}/clang++")
    assert "linker: ld.frontload, build type: []" in said
    plan = run("ninja", "-C", p.binary, "-n", "-v").stdout.splitlines()
    built = [re.search(r" -o (\S+)", line)[1] for line in plan if " -o " in line]
    assert not any("frontload-gold" in name or "_test" in name for name in built)
    (linker,) = [i for i, name in enumerate(built) if name.endswith("bin/ld.frontload")]
    assert linker < built.index("app")
    rules = (p.binary / "cmake_install.cmake").read_text()
    assert "/app" in rules and "frontload" not in rules


def test_project_of_an_old_cmake(project):
    """A project that asks for the manners of CMake 2.8 gets a front."""
    p = project(generator="Unix Makefiles").write(
        APP, "cmake_minimum_required(VERSION 2.8.12)\nproject(shop C)\n"
        "find_package(Frontload REQUIRED CONFIG)\n")
    p.train()
    p.use()
    assert has_front(p.built())
    p.path("app.startup").unlink()
    p.build()
    assert not has_front(p.built())
