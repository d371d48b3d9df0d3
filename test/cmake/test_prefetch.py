"""PREFETCH: a program that asks for its front finds the library it needs, built and installed."""

import pytest
from projects import dynamic, has_front

APP = """
include(GNUInstallDirs)
add_executable(app main.c greet.c)
frontload_target(app PREFETCH)
install(TARGETS app)
"""
LIBRARY = "libfrontload-prefetch.so.1"


def prefetching(project, *arguments: str, cmake: str = APP):
    p = project().write(cmake)
    p.profile()
    p.use(*arguments)
    return p


@pytest.mark.parametrize("arguments, library", [
    ([], "lib"),
    (["-DCMAKE_INSTALL_LIBDIR=lib64/shop", "-DCMAKE_INSTALL_BINDIR=libexec/a b"], "lib64/shop"),
    (["-DFRONTLOAD_PREFETCH_DESTINATION=bin"], "bin"),
    (["-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"], "lib"),
])
def test_installed(project, tmp_path, run, arguments, library):
    """With the program, which finds it there even if the prefix is moved."""
    p = prefetching(project, *arguments)
    assert has_front(p.built()) and LIBRARY in dynamic(p.built())
    moved = p.install(tmp_path / "prefix").rename(tmp_path / "moved")
    app = next(moved.rglob("app"))
    found = run("ldd", app).stdout.split(f"{LIBRARY} => ")[1].split(" (0x")[0]
    assert (moved / library / LIBRARY).samefile(found)
    assert run(app).stdout == "world 42\n"


def test_library_of_the_system(project, tmp_path):
    """With the library in a package of its own, none is installed, and no rpath is set."""
    p = prefetching(project, "-DFRONTLOAD_PREFETCH_DESTINATION=")
    prefix = p.install(tmp_path / "prefix")
    assert not list(prefix.rglob("libfrontload*"))
    assert "RUNPATH" not in dynamic(prefix / "bin/app")


def test_component_and_rpath_of_the_project(project, tmp_path, run):
    """The library comes with its programs' component; a program keeps its rpath."""
    p = prefetching(project, cmake="set(FRONTLOAD_PREFETCH_COMPONENT programs)\n" + APP.replace(
        "install(TARGETS app)", "install(TARGETS app COMPONENT programs)")
        + "set_target_properties(app PROPERTIES INSTALL_RPATH /opt/shop/lib)\n")
    app = p.install(tmp_path / "prefix", "--component", "programs") / "bin/app"
    assert "[/opt/shop/lib:$ORIGIN/../lib]" in dynamic(app)
    assert run(app).stdout == "world 42\n"


def test_without_a_profile(project):
    """Where there is no front there is nothing to ask for, and no library is needed."""
    p = project().write(APP)
    for mode in ("use", "record"):
        p.configure(f"-DFRONTLOAD={mode}")
        p.build()
        assert "libfrontload-prefetch" not in dynamic(p.built())


def test_static_programs(project, run):
    """A static program has the library inside, and no rpath, unlike -static-libgcc's."""
    p = project().write("""
foreach(app -static-pie -static-libgcc)
  add_executable(app${app} main.c greet.c)
  frontload_target(app${app} PREFETCH)
  target_link_options(app${app} PRIVATE ${app})
endforeach()
""")
    apps = [f"app{option}" for option in ("-static-pie", "-static-libgcc")]
    for app in apps:
        p.profile(app)
    p.use("-DCMAKE_C_FLAGS=-fPIE", "-DCMAKE_EXE_LINKER_FLAGS=-static-libstdc++")
    assert [LIBRARY in dynamic(p.built(app)) for app in apps] == [False, True]
    assert ["RUNPATH" in dynamic(p.built(app)) for app in apps] == [False, True]
    assert {run(p.built(app)).stdout for app in apps} == {"world 42\n"}
