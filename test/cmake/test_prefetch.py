"""PREFETCH: a program that asks for its front finds the library it needs, built and installed."""

import subprocess

import pytest
from projects import LLVM, has_front, profile_text

APP = """
include(GNUInstallDirs)
add_executable(app main.c greet.c)
frontload_target(app PREFETCH)
install(TARGETS app)
"""


def dynamic(path) -> str:
    return subprocess.run([LLVM / "llvm-readelf", "-d", path], capture_output=True, text=True,
                          check=True).stdout


@pytest.fixture
def prefetching(project):
    def prefetching(cmake: str = APP, *arguments: str, **options):
        p = project(**options).write(cmake)
        p.path("app.startup").write_text(profile_text("app", "greet"))
        p.configure(*arguments)
        p.build()
        return p

    return prefetching


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_in_the_build_folder(prefetching, run, compiler):
    p = prefetching(compiler=compiler)
    assert "libfrontload-prefetch.so.1" in dynamic(p.built("app")) and has_front(p.built("app"))
    assert run(p.built("app")).stdout == "world 42\n"


@pytest.mark.parametrize("arguments, library", [
    ([], "lib/libfrontload-prefetch.so.1"),
    (["-DCMAKE_INSTALL_LIBDIR=lib64/shop", "-DCMAKE_INSTALL_BINDIR=libexec/a b"],
     "lib64/shop/libfrontload-prefetch.so.1"),
    (["-DFRONTLOAD_PREFETCH_DESTINATION=bin"], "bin/libfrontload-prefetch.so.1"),
    (["-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"], "lib/libfrontload-prefetch.so.1"),
])
def test_installed(prefetching, tmp_path, run, arguments, library):
    """It is installed with the program, which finds it there even if the prefix is moved, and not
    in the build folder of Frontload."""
    p = prefetching(APP, *arguments)
    assert run(p.built("app")).stdout == "world 42\n"
    run("cmake", "--install", p.binary, "--prefix", tmp_path / "prefix")
    moved = (tmp_path / "prefix").rename(tmp_path / "moved")
    assert (moved / library).is_file()
    app = next(path for path in moved.rglob("app"))
    found = run("ldd", app).stdout
    assert str((moved / library).resolve()) in run(
        "realpath", found.split("libfrontload-prefetch.so.1 => ")[1].split(" (0x")[0]).stdout
    assert run(app).stdout == "world 42\n"


def test_library_of_the_system(prefetching, tmp_path, run):
    """A distribution that has the library in a package of its own installs none, and sets no rpath.
    """
    p = prefetching(APP, "-DFRONTLOAD_PREFETCH_DESTINATION=")
    run("cmake", "--install", p.binary, "--prefix", tmp_path / "prefix")
    assert not list((tmp_path / "prefix").rglob("libfrontload*"))
    assert "RUNPATH" not in dynamic(tmp_path / "prefix/bin/app")


def test_component(prefetching, tmp_path, run):
    """A project that installs by components has the library come with its programs."""
    p = prefetching("set(FRONTLOAD_PREFETCH_COMPONENT programs)\n" + APP.replace(
        "install(TARGETS app)", "install(TARGETS app COMPONENT programs)"))
    run("cmake", "--install", p.binary, "--prefix", tmp_path / "prefix", "--component", "programs")
    assert run(tmp_path / "prefix/bin/app").stdout == "world 42\n"


def test_rpath_of_the_project_stays(prefetching, tmp_path, run):
    p = prefetching(APP + "set_target_properties(app PROPERTIES INSTALL_RPATH /opt/shop/lib)\n")
    run("cmake", "--install", p.binary, "--prefix", tmp_path / "prefix")
    assert "[/opt/shop/lib:$ORIGIN/../lib]" in dynamic(tmp_path / "prefix/bin/app")


def test_without_a_profile(project, run):
    """Where there is no front there is nothing to ask for, and no library is needed."""
    p = project().write(APP)
    p.configure()
    p.build()
    assert "libfrontload-prefetch" not in dynamic(p.built("app"))
    p.configure("-DFRONTLOAD=record")
    p.build()
    assert "libfrontload-prefetch" not in dynamic(p.built("app"))


def test_static_program(prefetching, run):
    """It has the library inside, and no rpath, with which glibc's static-pie would crash."""
    p = prefetching(APP + "target_link_options(app PRIVATE -static-pie)\n",
                    "-DCMAKE_C_FLAGS=-fPIE")
    assert "RUNPATH" not in dynamic(p.built("app"))
    assert run(p.built("app")).stdout == "world 42\n"


def test_static_runtime_libraries(prefetching, run):
    """A program that has only those of gcc inside is no static program: it finds the library."""
    p = prefetching(APP + "target_link_options(app PRIVATE -static-libgcc)\n",
                    "-DCMAKE_EXE_LINKER_FLAGS=-static-libstdc++")
    assert "libfrontload-prefetch.so.1" in dynamic(p.built("app"))
    assert run(p.built("app")).stdout == "world 42\n"
