"""examples/autotools: a program and a libtool library, by configure's CC or by flags."""

import pytest
from conftest import needs

GREETER, WORDS = "startup/greeter.startup", "startup/libwords.so.startup"
LIBRARY = ".libs/libwords.so.1.0.0"
# A library that needs another one, so that libtool links it again when it is installed.
MORE = """
lib_LTLIBRARIES += libmore.la
libmore_la_SOURCES = more.c
libmore_la_LIBADD = libwords.la
libmore_la_LDFLAGS = -module -avoid-version
EXTRA_libmore_la_DEPENDENCIES = $(wildcard $(startup)/libmore.so.startup)
"""
MORE_SOURCE = """const char *greeting(int);
const char *more(void);
const char *more(void) { return greeting(1); }
"""
MORE_PROFILE = """frontload-startup-profile 2
program libmore.so
runs 1
data-runs 0
function\ttext\t1\t+1\t-\tmore
"""


def configure(project, name: str, *arguments) -> None:
    (project.folder / name).mkdir()
    project.run("../configure", "-q", "--disable-static", *arguments, cwd=project.folder / name)


def make(project, name: str, *arguments) -> str:
    result = project.run("make", "--no-print-directory", "-C", name, *arguments)
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def trained(project):
    """The example and one library more, with profiles: in `both` it was built to be recorded, in
    `use` it is linked with them. Configure scripts are slow, so there are no more of them."""
    for program, package in (("autoreconf", "autoconf"), ("automake", "automake"),
                             ("libtoolize", "libtool")):
        needs(program, package)
    project = project("autotools")
    folder = project.folder
    with (folder / "Makefile.am").open("a") as file:
        file.write(MORE)
    (folder / "more.c").write_text(MORE_SOURCE)
    project.run("autoreconf", "-i")
    configure(project, "both", "CC=frontload-cc gcc", "FRONTLOAD=record")
    make(project, "both", "FRONTLOAD=record")
    make(project, "both", "train", "FRONTLOAD=record")
    (folder / "startup" / "libmore.so.startup").write_text(MORE_PROFILE)
    configure(project, "use", f"CC=frontload-cc --profile-dir={folder / 'startup'} gcc",
              f"--prefix={folder / 'prefix'}")
    make(project, "use")
    return project


def test_recorded_and_linked_in_one_folder(trained):
    """With the mode in the environment: what was recorded is linked again, because its profile is
    newer, and nothing is compiled."""
    assert (trained.folder / f"both/{LIBRARY}.map").exists()
    for profile in (GREETER, WORDS):
        trained.change(profile)
    log = make(trained, "both", f"FRONTLOAD_PROFILE_DIR={trained.folder / 'startup'}")
    assert " -c " not in log
    trained.has_front("both/.libs/greeter", GREETER)
    trained.has_front(f"both/{LIBRARY}", WORDS)


def test_configured_with_the_launcher(trained):
    """What is linked has fronts, also when it is installed."""
    make(trained, "use")
    trained.has_front("use/.libs/greeter", GREETER)
    trained.has_front(f"use/{LIBRARY}", WORDS)
    make(trained, "use", "install")
    trained.has_front("prefix/bin/greeter", GREETER)
    trained.has_front("prefix/lib/libwords.so.1.0.0", WORDS)


def test_make_links_what_has_changed(trained):
    """Nothing, if nothing has; what a profile is for, if that has."""
    make(trained, "use")
    assert "Nothing to be done" in make(trained, "use")
    trained.change(GREETER)
    log = make(trained, "use")
    assert "-o .libs/greeter" in log and "libwords.so.1.0.0" not in log and " -c " not in log
    trained.change(WORDS)
    assert f"-o {LIBRARY}" in make(trained, "use")
    assert "Nothing to be done" in make(trained, "use")


def test_what_libtool_links_again_to_install(trained):
    """A library that needs another one of the project: under the name that it has in the end."""
    assert "relinking" in make(trained, "use", "install")
    trained.has_front("prefix/lib/libmore.so", "startup/libmore.so.startup")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_flags_in_place_of_the_launcher(trained, build, llvm, compiler):
    """-B stands in CC: libtool drops it from LDFLAGS when it links a library."""
    program = llvm / "clang" if compiler == "clang" else compiler
    folder = f"flags-{compiler}"
    configure(trained, folder, f"CC={program} -B{build}/lib/frontload/gcc",
              "CFLAGS=-O2 -ffunction-sections -fdata-sections",
              f"LDFLAGS=-fuse-ld=lld -Wl,--startup-profile-dir={trained.folder / 'startup'}")
    assert "warning" not in make(trained, folder)
    trained.has_front(f"{folder}/.libs/greeter", GREETER)
    trained.has_front(f"{folder}/{LIBRARY}", WORDS)
