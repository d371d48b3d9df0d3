"""frontload auto at the first try: programs of builds that write no link command down, programs
that others start, and libraries of the same build. Each build is up to date, as after `make`."""

import os
from contextlib import ExitStack
from pathlib import Path

import auto_project
import pytest
from abilities import needs
from frontload.auto import advice, build_folder, objects
from frontload.auto.link_sources import Search
from frontload.base.errors import Failure
from linking import check_run

pytestmark = pytest.mark.usefixtures("tools")
QUICK = ("--no-data", "--recordings", "1", "--no-measure")
SECTIONS = "-O1 -ffunction-sections -fdata-sections"


@pytest.fixture
def make_build(tmp_path):
    """make_build(*variables): what make has built."""
    def make_build(*variables: str) -> Path:
        return auto_project.with_make(auto_project.write(tmp_path / "source", "Makefile"),
                                      *variables)
    return make_build


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """What tells whether a file was changed."""
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino)
            for path in folder.rglob("*") if path.is_file()}


def test_make_is_asked_how_it_would_link(auto, make_build):
    """It builds nothing again, and every file stays as it was."""
    app = make_build(f"CFLAGS={SECTIONS}")
    before = state(app.parent)
    found = auto(*QUICK, "--", app)
    assert found["good"] and found["link"]["source"] == f"make -n app in {app.parent}"
    assert found["link"]["arguments"] == ["cc", "main.o", "parts.o", "-o", "app"]
    after = state(app.parent)
    assert {path: after[path] for path in before} == before
    assert {Path(path).name for path in after.keys() - before.keys()} == {"app.front",
                                                                          "app.startup"}


def test_the_nearest_makefile_counts(tmp_path):
    """For one above, make has an implicit rule, which links less."""
    source = auto_project.write(tmp_path / "source", "Makefile")
    (source / "app.c").write_text((source / "main.c").read_text())
    (source / "Makefile").write_text("app: app.o parts.o\n\t$(CC) app.o parts.o -lm -o $@\n")
    (tmp_path / "Makefile").write_text("all:\n\t$(MAKE) -C source\n")
    check_run("make", "-C", tmp_path)
    with ExitStack() as stack:
        found = Search(str(source / "app"), stack=stack).find()
    assert found.arguments == ("cc", "app.o", "parts.o", "-lm", "-o", "app")


def test_the_makefile_may_be_above_the_program_and_link_it_elsewhere(tmp_path):
    """But a search that may run nothing of the build, such as init's, does not ask make."""
    inside = auto_project.write(tmp_path / "in side", "none")
    (tmp_path / "bin").mkdir()
    (tmp_path / "Makefile").write_text(
        "bin/app: in\\ side/*.c\n\tcd 'in side' && $(CC) main.c \\\n\t  parts.c -o ../bin/app\n"
        "\t+touch ran\n")
    check_run("make", "-C", tmp_path)
    (tmp_path / "ran").unlink()
    (tmp_path / "late.o").touch()
    (tmp_path / "Makefile").write_text((tmp_path / "Makefile").read_text().replace(
        "app: ", "app: late.o "))
    os.utime(tmp_path / "bin/app")
    with pytest.raises(Failure, match="link command was not found"):
        Search(str(tmp_path / "bin/app")).find()
    assert not (tmp_path / "ran").exists()
    with ExitStack() as stack:
        found = Search(str(tmp_path / "bin/app"), stack=stack).find()
    assert (found.directory, found.arguments) == (
        str(inside), ("cc", "main.c", "parts.c", "-o", "../bin/app"))


@pytest.mark.parametrize(("flags", "said"), [
    ("-Wl,--no-as-needed -lm", "needs libc.so.6, libm.so.6, but linked again"),
    ("-no-pie", "position-independent: False, but"), ("-rdynamic", "exports symbols: 15"),
    ("-static", "is a static program, but")])
def test_a_link_that_lacks_what_make_was_given_is_refused(cli, make_build, flags, said):
    """Variables on the command line of make are gone. The command that works is named."""
    app = make_build(f"LDFLAGS={flags}")
    error = cli("auto", *QUICK, "--", app, code=1).err
    assert said in error and "--build 'make" in error
    found = cli("auto", *QUICK, "--build", f"make 'LDFLAGS={flags}'",
                "--build-folder", app.parent, "--json=-", "--", app, code=None).out
    assert '"the build that was watched"' in found


AUTOCONF = """\
AC_INIT([app], [1])
AM_INIT_AUTOMAKE([foreign])
AM_SILENT_RULES([yes])
AC_PROG_CC
LT_INIT([disable-static])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
AUTOMAKE = """\
lib_LTLIBRARIES = libparts.la
libparts_la_SOURCES = parts.c
bin_PROGRAMS = app
app_SOURCES = main.c
app_LDADD = libparts.la
"""


@needs("program:autoreconf", "program:libtoolize", "strace")
def test_libtools_script_and_the_library_behind_it(auto, run, tmp_path):
    """The script starts .libs/app, whose code is in .libs/libparts.so.0: both get a front."""
    source = auto_project.write(tmp_path / "source", "none")
    (source / "configure.ac").write_text(AUTOCONF)
    (source / "Makefile.am").write_text(AUTOMAKE)
    check_run("autoreconf", "-fi", cwd=source)
    check_run("./configure", f"CFLAGS={SECTIONS}", cwd=source)
    check_run("make", cwd=source)
    assert (source / "app").read_bytes().startswith(b"#!")
    before = state(source)
    found = auto(*QUICK, "--workload", f"{source}/app now", "--", source / "app", code=None)
    assert found["program"] == str(source / ".libs/app")
    assert found["link"]["source"].endswith("and libtool")
    assert [each["same"] for each in found["comparisons"]] == [True, True]
    assert [each["name"] for each in found["libraries"]] == ["libparts.so.0"]
    # What to add goes through libtool, which sets where the library is.
    *_, record, again = found["advice"]["steps"]
    assert record["lines"][0].startswith(
        f"{source}/libtool --mode=execute frontload record -o traces --module=libparts.so.0.0.0 "
        f"-- {source}/app")
    assert record["lines"][-1].endswith("startup/libparts.so.startup")
    assert again["lines"][0] == f"rm {source}/app {source}/.libs/libparts.so.0.0.0"
    assert found["libraries"][0]["output"] == str(
        source / ".libs/app.front.lib/libparts.so.0")
    after = state(source)
    assert {path: after[path] for path in before} == before
    environment = os.environ | {"LD_LIBRARY_PATH": os.path.dirname(found["libraries"][0]["output"])}
    assert run(found["output"], env=environment).stdout == run(source / "app").stdout


def test_a_library_of_the_build_gets_a_front_by_default(auto, cli, tmp_path):
    """Most of the code is there: what a start reads is the sum of both files."""
    source = auto_project.write(tmp_path, "CMakeLists.txt")
    app = auto_project.with_cmake(source, source / "build", "Ninja", "-DBUILD_SHARED_LIBS=ON")
    found = auto(*QUICK, "--", app, code=None)
    library, = found["libraries"]
    assert library["name"] == "libparts.so.1" and library["path"] == str(
        app.parent / "libparts.so.1.2")
    before, after = (found["predicted"][each]["hdd"] for each in ("before", "after"))
    assert after["read_bytes"] < 0.7 * before["read_bytes"]
    assert after["gain"]["read_bytes"] == before["read_bytes"] - after["read_bytes"]
    text = cli("auto", *QUICK, "--", app, code=None).out
    assert f"to run it: LD_LIBRARY_PATH={app}.front.lib {app}.front" in text
    check_run("strip", app.parent / "libparts.so.1.2")  # one that cannot get a front is named
    found = auto(*QUICK, "--", app, code=None)
    assert not found["libraries"] and "a front of libparts.so.1: " in "".join(
        f"{each['what']}: {each['why']}" for each in found["missing"])
    assert not Path(f"{app}.front.lib").exists()


@pytest.mark.parametrize("system", ["make", "CMake", pytest.param("Meson", marks=needs(
    "program:meson"))])
def test_objects_with_sections_are_built_in_a_copy(tmp_path, tools, system):
    """By the commands that the output has; the build stays as it was."""
    source = auto_project.write(tmp_path / "a source", {
        "make": "Makefile", "CMake": "CMakeLists.txt", "Meson": "meson.build"}[system])
    for path in (source / "CMakeLists.txt", source / "meson.build"):
        if path.exists():
            path.write_text(path.read_text().replace("-ffunction-sections -fdata-sections", "")
                            .replace("'-ffunction-sections', '-fdata-sections'", ""))
    app = {"make": lambda: auto_project.with_make(source),
           "CMake": lambda: auto_project.with_cmake(source, source / "out", "Ninja"),
           "Meson": lambda: check_run("meson", "setup", source / "out", source) and check_run(
               "ninja", "-C", source / "out") and source / "out/app"}[system]()
    before = state(source)
    folder = build_folder.of_program(str(app), str(app.parent))
    build, again = advice.build_with_sections(folder, str(app), advice.Training("{} now"))
    check_run("sh", "-c", build)
    assert state(source) == before
    program = Path(f"{source}.sections/app")
    assert again == f"frontload auto -- '{program}' now" and program.exists()
    with ExitStack() as stack:
        link = Search(str(program), stack=stack).find()
    assert objects.look(objects.inputs(link.expanded(), link.directory)).lost() == ""


@needs("program:cargo")
def test_cargo_keeps_the_objects_of_the_last_crate(auto, tmp_path):
    """rustc removes them after the link; the build's own folder stays as it was."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.rs").write_text('fn main() { println!("{}", cfg!(feature = "x")); }\n')
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "app"\nversion = "1.0.0"\nedition = "2021"\n[features]\nx = []\n')
    check_run("cargo", "build", "--release", "--offline", "--features=x", cwd=tmp_path)
    app = tmp_path / "target/release/app"
    before = state(tmp_path)
    found = auto(*QUICK, "--", app, code=None)
    assert found["link"]["source"] == f"cargo rustc in {tmp_path}"
    assert found["comparisons"][0]["same"], "built with the same features"
    after = state(tmp_path)
    assert {path: after[path] for path in before} == before
    assert {Path(path).name for path in after.keys() - before.keys()} == {"app.front",
                                                                          "app.startup"}
    assert not list(app.parent.glob(".frontload*"))


@needs("strace")
def test_a_script_of_the_project_starts_the_program(auto, make_build):
    """With other arguments, and with variables: the program itself is tried with these."""
    app = make_build(f"CFLAGS={SECTIONS}")
    script = app.parent / "start"
    script.write_text('#!/bin/sh\ncd "$(dirname "$0")"\nuname >&2\nWORD=x exec ./app fail "$@"\n')
    script.chmod(0o755)
    found = auto(*QUICK, "--", script, "a b")
    assert found["program"] == str(app)
    assert "exit status 3" in found["comparisons"][0]["detail"]
    assert found["comparisons"][0]["workload"].endswith("fail 'a b'")
    assert f"it starts {app}" in found["stderr"]


def test_a_makefile_that_calls_make_until_a_file_is_there(make_build):
    """bc's does: nothing makes the file in a description, so this would never end."""
    app = make_build()
    (app.parent / "Makefile").write_text("app: main.o parts.o\n\t$(CC) $^ -o $@\n"
                                         "main.o: gone.h\ngone.h:\n\t$(MAKE) gone.h\n")
    with ExitStack() as stack:
        assert Search(str(app), stack=stack).find().arguments == (
            "cc", "main.o", "parts.o", "-o", "app")


def test_a_folder_with_very_many_objects_is_no_obstacle(make_build):
    """As arguments of make, all of them would be longer than Linux permits."""
    app = make_build()
    deep = app.parent / "/".join(["d" * 200] * 15)
    deep.mkdir(parents=True)
    for number in range(1000):
        (deep / f"{number}.o").touch()
    with ExitStack() as stack:
        assert Search(str(app), stack=stack).find().arguments == (
            "cc", "main.o", "parts.o", "-o", "app")
