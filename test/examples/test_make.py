"""examples/make, and Makefiles that know nothing of Frontload."""

import shutil

import pytest
from abilities import needs
from example import Project
from in_process import frontload

pytestmark = needs("ptrace")
GREETER, FAREWELL = "startup/greeter.startup", "startup/farewell.startup"


@pytest.fixture
def example(project) -> Project:
    """In a folder whose name has to be quoted."""
    return project("make", "a näme")


@pytest.fixture(scope="module")
def training(project) -> tuple[Project, str]:
    """The example after its two commands, and what the second said."""
    example = project("make")
    example.make("-j3", "train")
    return example, example.make()


@pytest.fixture
def trained(tmp_path, training) -> Project:
    """A copy of it, with the times of its files."""
    shutil.copytree(training[0].folder, tmp_path / "trained")
    return Project(tmp_path / "trained")


def compiled(log: str) -> bool:
    return " -c " in log


def linked(log: str) -> set[str]:
    return {name for name in ("greeter", "farewell", "app", "tool") if f"-o {name}\n" in log}


def test_two_commands(training):
    """One writes the profiles, the next links with them, and compiles nothing."""
    example, log = training
    assert linked(log) == {"greeter", "farewell"} and not compiled(log)
    for name, profile in (("greeter", GREETER), ("farewell", FAREWELL)):
        example.has_front(name, profile)
        assert example.run(f"./{name}", "you").stdout.endswith(", you\n")


def test_nothing_to_do_is_nothing_done(trained):
    """In each mode, once it has been built; the same training writes the same files."""
    assert "Nothing to be done" in trained.make()
    before = [trained.identity(p) for p in (GREETER, FAREWELL)]
    trained.make("train")
    assert before == [trained.identity(p) for p in (GREETER, FAREWELL)]
    assert "Nothing to be done" in trained.make("FRONTLOAD=record")
    trained.make("FRONTLOAD=off")
    assert "Nothing to be done" in trained.make("FRONTLOAD=off")


def test_a_changed_profile_links_its_program(trained):
    """And no other; one that is written as it was changes nothing."""
    trained.change(GREETER)
    log = trained.make()
    assert linked(log) == {"greeter"} and not compiled(log)
    assert "Nothing to be done" in trained.make()


def test_off_is_as_if_there_were_no_frontload(example):
    """Not even frontload-cc is called, so nobody needs it."""
    log = example.make("FRONTLOAD=off")
    assert linked(log) == {"greeter", "farewell"} and "frontload-cc" not in log
    assert ".text.greet" not in example.run("readelf", "-SW", "greeter.o").stdout


def test_a_project_without_profiles_yet(example):
    """Links as it did, and a bad mode is told with the first file."""
    assert linked(example.make()) == {"greeter", "farewell"}
    assert "'on' is not a mode" in example.make("clean", "all", "FRONTLOAD=on", code=2)


def test_flags_in_place_of_the_launcher(trained, build):
    """The sections and the linker, as pkg-config gives them."""
    flags = f"-B'{build}/lib/frontload/gcc' -fuse-ld=lld -Wl,--startup-profile-dir=startup"
    trained.make("clean")
    trained.make("FRONTLOAD=off", "CFLAGS=-O2 -ffunction-sections -fdata-sections",
                 f"LDFLAGS={flags}")
    trained.has_front("greeter", GREETER)
    trained.has_front("farewell", FAREWELL)


def test_the_linker_of_the_build(trained):
    trained.make("clean")
    trained.make("launcher=frontload-cc --prefetch --own-linker")
    trained.asks_for_its_start("./greeter", "you")


FOREIGN = """\
CFLAGS = -O2
all: app
\t$(MAKE) -C sub
app: app.c
\t$(CC) $(CFLAGS) $(LDFLAGS) app.c -o app
"""
FOREIGN_SUB = """\
CC = cc
tool: app.o
app.o: ../app.c
\t$(CC) $(CFLAGS) -c $< -o $@
tool:
\t$(CC) $(LDFLAGS) $^ -o $@
"""


def test_a_makefile_of_somebody_else(tmp_path):
    """The compiler is all that is named anew; folders below have the same profiles."""
    for name in ("sub", "startup"):
        (tmp_path / name).mkdir()
    (tmp_path / "app.c").write_text(
        "int hot(void) { return 0; }\nint main(void) { return hot(); }\n")
    (tmp_path / "Makefile").write_text(FOREIGN)
    (tmp_path / "sub" / "Makefile").write_text(FOREIGN_SUB)
    foreign = Project(tmp_path)
    foreign.make("CC=frontload-cc cc", "FRONTLOAD=record")
    for program, name in (("app", "app"), ("sub/tool", "tool")):
        assert (tmp_path / f"{program}.map").exists()
        frontload("record", "-o", tmp_path / "traces", "--", tmp_path / program)
        frontload("profile", tmp_path / "traces", "--program", name, "-o",
                  tmp_path / f"startup/{name}.startup")
        (tmp_path / program).unlink()
    foreign.make("CC=frontload-cc cc", f"FRONTLOAD_PROFILE_DIR={tmp_path}/startup")
    foreign.has_front("app", "startup/app.startup")
    foreign.has_front("sub/tool", "startup/tool.startup")
