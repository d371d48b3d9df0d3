"""examples/make, and Makefiles that know nothing of Frontload."""

import shutil
from pathlib import Path

import pytest
from conftest import Project

EXAMPLE = Path(__file__).parents[2] / "examples" / "make"

GREETER, FAREWELL = "startup/greeter.startup", "startup/farewell.startup"


class Make:
    """The example, and calls of make in it."""

    def __init__(self, folder: Path, build: Path):
        self.project = Project(folder, build)
        self.folder = folder

    def __call__(self, *arguments, **options) -> str:
        """What make did and said, without its words about folders."""
        result = self.project.run("make", "--no-print-directory", *arguments, **options)
        return result.stdout + result.stderr


@pytest.fixture
def make(tmp_path, build) -> Make:
    """In a folder whose name has to be quoted."""
    folder = tmp_path / "a näme"
    shutil.copytree(EXAMPLE, folder)
    return Make(folder, build)


@pytest.fixture(scope="module")
def training(project, build) -> tuple[Make, str]:
    """The example after its two commands, and what the second said."""
    make = Make(project("make").folder, build)
    make("-j3", "train")
    return make, make()


@pytest.fixture
def trained(tmp_path, training, build) -> Make:
    """A copy of it, with the times of its files."""
    folder = tmp_path / "trained"
    shutil.copytree(training[0].folder, folder)
    return Make(folder, build)


def compiled(log: str) -> bool:
    return " -c " in log


def linked(log: str) -> set[str]:
    return {name for name in ("greeter", "farewell", "app", "tool") if f"-o {name}\n" in log}


def test_two_commands(training):
    """One writes the profiles, the next links with them, and compiles nothing."""
    make, log = training
    assert linked(log) == {"greeter", "farewell"} and not compiled(log)
    for name, profile in (("greeter", GREETER), ("farewell", FAREWELL)):
        make.project.has_front(name, profile)
        assert make.project.run(f"./{name}", "you").stdout.endswith(", you\n")


def test_nothing_to_do_is_nothing_done(trained):
    """In each mode, once it has been built."""
    assert "Nothing to be done" in trained()
    for mode in ("record", "off"):
        trained(f"FRONTLOAD={mode}")
        assert "Nothing to be done" in trained(f"FRONTLOAD={mode}")


def test_a_changed_profile_links_its_program(trained):
    """And no other; one that is written as it was changes nothing."""
    trained.project.change(GREETER)
    log = trained()
    assert linked(log) == {"greeter"} and not compiled(log)
    assert "Nothing to be done" in trained()


def test_training_again_writes_only_what_has_changed(trained):
    """The same runs give the same profile, which then stays the same file."""
    before = [trained.project.identity(p) for p in (GREETER, FAREWELL)]
    trained("train")
    assert before == [trained.project.identity(p) for p in (GREETER, FAREWELL)]


def test_off_is_as_if_there_were_no_frontload(make):
    """Not even frontload-cc is called, so nobody needs it."""
    log = make("FRONTLOAD=off")
    assert linked(log) == {"greeter", "farewell"} and "frontload-cc" not in log
    assert ".text.greet" not in make.project.run("readelf", "-SW", "greeter.o").stdout


def test_a_project_without_profiles_yet(make):
    """Links as it did, and a bad mode is told with the first file."""
    assert linked(make()) == {"greeter", "farewell"}
    assert "'on' is not a mode" in make("clean", "all", "FRONTLOAD=on", code=2)


def test_flags_in_place_of_the_launcher(trained, build):
    """The sections and the linker, as pkg-config gives them."""
    flags = f"-B{build}/lib/frontload/gcc -fuse-ld=lld -Wl,--startup-profile-dir=startup"
    trained("clean")
    trained("FRONTLOAD=off", "CFLAGS=-O2 -ffunction-sections -fdata-sections", f"LDFLAGS={flags}")
    trained.project.has_front("greeter", GREETER)
    trained.project.has_front("farewell", FAREWELL)


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


@pytest.mark.parametrize("compiler", ["cc", "clang"])
def test_a_makefile_of_somebody_else(make, build, llvm, compiler):
    """The compiler is all that is named anew; folders below have the same profiles."""
    folder = make.folder.parent / "foreign"
    (folder / "sub").mkdir(parents=True)
    (folder / "startup").mkdir()
    make = Make(folder, build)
    (folder / "app.c").write_text("int hot(void) { return 0; }\nint main(void) { return hot(); }\n")
    (folder / "Makefile").write_text(FOREIGN)
    (folder / "sub" / "Makefile").write_text(FOREIGN_SUB)
    command = f"CC=frontload-cc {llvm / 'clang' if compiler == 'clang' else compiler}"
    make(command, "FRONTLOAD=record")
    for program in ("app", "sub/tool"):
        assert (folder / f"{program}.map").exists()
        run = ("frontload", "record", "-o", "traces", "--", f"./{program}")
        make.project.run(*run)
        name = program.rpartition("/")[2]
        make.project.run("frontload", "profile", "traces", "--program", name, "-o",
                         f"startup/{name}.startup")
        (folder / program).unlink()
    make(command, f"FRONTLOAD_PROFILE_DIR={folder}/startup")
    make.project.has_front("app", "startup/app.startup")
    make.project.has_front("sub/tool", "startup/tool.startup")
