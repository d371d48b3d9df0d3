"""examples/autotools: a program and a libtool library, by configure's CC or by flags."""

import re

import pytest
from abilities import needs

pytestmark = needs("ptrace", "program:autoreconf", "program:automake", "program:libtoolize")
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
    """What gcc can is found out once, though CC is another word each time."""
    folder, cache = project.folder / name, project.folder / "cache"
    folder.mkdir()
    project.run("../configure", "-q", "--disable-static", f"--cache-file={cache}", *arguments,
                cwd=folder)
    of_words = re.compile("ac_cv_(env_|prog_(ac_ct_)?CC).*\n", re.MULTILINE)
    cache.write_text(of_words.sub("", cache.read_text()))


def make(project, name: str, *arguments) -> str:
    return project.make("-C", name, *arguments)


@pytest.fixture(scope="module")
def trained(project):
    """The example and one library more, built to be recorded, with profiles."""
    project = project("autotools")
    folder = project.folder
    with (folder / "Makefile.am").open("a") as file:
        file.write(MORE)
    (folder / "more.c").write_text(MORE_SOURCE)
    project.run("autoreconf", "-i")
    configure(project, "both", "CC=frontload-cc gcc", "FRONTLOAD=record")
    make(project, "both", "train", "FRONTLOAD=record")
    (folder / "startup" / "libmore.so.startup").write_text(MORE_PROFILE)
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
    """What is linked has a front, also when it is installed, under the name that it has then. Make
    links nothing if nothing has changed, and what a profile is for, if that has."""
    configure(trained, "use", f"CC=frontload-cc --profile-dir={trained.folder / 'startup'} gcc",
              f"--prefix={trained.folder / 'prefix'}")
    make(trained, "use")
    assert "Nothing to be done" in make(trained, "use")
    trained.change(GREETER)
    log = make(trained, "use")
    assert "-o .libs/greeter" in log and "libwords.so.1.0.0" not in log and " -c " not in log
    trained.change(WORDS)
    assert f"-o {LIBRARY}" in make(trained, "use")
    assert "relinking" in make(trained, "use", "install")
    for program, profile in (("use/.libs/greeter", GREETER), (f"use/{LIBRARY}", WORDS),
                             ("prefix/bin/greeter", GREETER),
                             ("prefix/lib/libwords.so.1.0.0", WORDS),
                             ("prefix/lib/libmore.so", "startup/libmore.so.startup")):
        trained.has_front(program, profile)


@pytest.mark.slow
def test_flags_in_place_of_the_launcher(trained, build):
    """-B stands in CC: libtool drops it from LDFLAGS when it links a library."""
    configure(trained, "flags", f"CC=gcc -B{build}/lib/frontload/gcc",
              "CFLAGS=-O2 -ffunction-sections -fdata-sections",
              f"LDFLAGS=-fuse-ld=lld -Wl,--startup-profile-dir={trained.folder / 'startup'}")
    assert "warning" not in make(trained, "flags")
    trained.has_front("flags/.libs/greeter", GREETER)
    trained.has_front(f"flags/{LIBRARY}", WORDS)
