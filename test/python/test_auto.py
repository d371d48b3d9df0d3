"""frontload auto: from a program and the command that starts it to a program with a front."""

import json
import os
import select
import shutil
import signal
import tempfile
from pathlib import Path
from types import SimpleNamespace

import auto_project
import pytest
from abilities import needs
from frontload.auto import outcome, verdict
from frontload.profile import format as profile

pytestmark = pytest.mark.usefixtures("tools")
QUICK = ("--no-data", "--recordings", "1", "--no-measure")
LINK = ("--link", "cc main.o parts.o -o app", "--build-folder")


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return auto_project.write(tmp_path_factory.mktemp("with a space"))


@pytest.fixture(scope="module")
def built(source) -> Path:
    """The program as CMake and Ninja build it."""
    return auto_project.with_cmake(source, source / "build", "Ninja")


@pytest.fixture
def app(built) -> Path:
    """The same, with nothing of earlier tests beside it."""
    for path in built.parent.glob("app.*"):
        path.unlink()
    return built


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """The program as make builds it: without section flags, and stripped."""
    return auto_project.with_make(auto_project.write(tmp_path_factory.mktemp("make")), "LDFLAGS=-s")


@pytest.fixture
def made(kept, tmp_path) -> Path:
    """A copy of that, as up to date as it."""
    return shutil.copytree(kept.parent, tmp_path / "source") / "app"


@pytest.fixture
def script(tmp_path):
    """script(text): a script that starts the program that it is given, and then does this."""
    def script(text: str) -> Path:
        path = tmp_path / "start.sh"
        path.write_text(f'#!/bin/sh\n"$1"\n{text}\n')
        path.chmod(0o755)
        return path
    return script


def left(app: Path) -> list[str]:
    """The files beside the program that are of no build system."""
    return sorted(path.name for path in app.parent.iterdir() if "app" in path.name)


def test_a_program_of_ninja_gets_a_front_beside_it(auto, app, run):
    """The whole way: link, recording with data, profile, front, check, comparison, prediction."""
    before = app.read_bytes()
    found = auto("--no-measure", "--", app)
    assert found["good"] and not found["reasons"]
    assert found["link"]["source"] == f"Ninja in {app.parent}"
    assert found["check"]["coverage"] == 100
    assert [each["same"] for each in found["comparisons"]] == [True]
    assert not found["sections"]["lost"]
    assert left(app) == ["app", "app.front", "app.startup"]
    assert app.read_bytes() == before
    assert run(f"{app}.front").stdout == run(app).stdout
    made = profile.read(f"{app}.startup")
    names = {name.name for name in made.touches}
    assert made.program == b"app" and made.runs == 4 and made.data_runs == 1
    assert {b"main", b"start", b"part7"} <= names and b"part8" not in names
    before, after = (found["predicted"][each]["hdd"] for each in ("before", "after"))
    assert after["read_bytes"] < before["read_bytes"]


@needs("eviction", "tmp-on-disk")
def test_a_front_is_measured(auto, app):
    """Less is read; but a disk that reads megabytes ahead reads both whole."""
    found = auto("--no-data", "--recordings", "1", "--runs", "3", "--", app, code=None)
    before, after = (found["measured"]["selectively cold"][each]["read_bytes"]["median"]
                     for each in ("before", "after"))
    assert after < before or after > 0.9 * Path(f"{app}.front").stat().st_size


def test_the_table_ends_with_what_to_add(cli, app):
    """What was tried is only worth something in the build. A second run comes to the same."""
    text = cli("auto", *QUICK, "--", app, "now").out
    assert "frontload_target(app TRAIN COMMAND app now)" in text
    assert "ld.frontload" in text and "100.00%" in text
    first = Path(f"{app}.startup").read_bytes()
    assert cli("auto", *QUICK, "--", app, "now").out == text
    assert Path(f"{app}.startup").read_bytes() == first


@needs("program:meson")
def test_a_program_of_meson_gets_a_front(auto, cli, run, source, tmp_path):
    """Meson's Ninja files are like CMake's, but for the details; init reads the folder, too."""
    app = tmp_path / "é build/app"
    run("meson", "setup", app.parent, source)
    run("ninja", "-C", app.parent)
    found = json.loads(cli("init", "--json=-", app.parent).out)
    assert found["folder"]["system"] == "meson" and found["folder"]["source"] == str(source)
    assert [target["name"] for target in found["folder"]["targets"]] == ["app"]
    assert found["target"] == str(app)
    lines = str(found["advice"]["steps"])
    assert "frontload-cc --profile-dir=" in lines and "meson setup" in lines
    found = auto(*QUICK, "--", app)
    assert found["good"] and "Ninja" in found["link"]["source"]
    assert found["advice"]["how_to"] == "docs/how-to/meson.md"


def test_a_watched_build_tells_the_link_and_missing_section_flags_are_told(auto, made):
    """make writes nothing down. An up-to-date program is linked again, as if it were old."""
    found = auto(*QUICK, "--build", "make LDFLAGS=-s", "--build-folder", made.parent, "--", made,
                 code=None)
    assert found["check"]["coverage"] == 100
    assert found["link"]["source"] == "the build that was watched"
    assert "-ffunction-sections" in found["sections"]["lost"]
    assert [each["option"] for each in found["hindrances"]] == ["-s"]
    assert found["before"]["stripped"] and found["after"]["stripped"]
    assert "up to date" in found["stderr"]
    assert left(made) == ["app", "app.front", "app.startup"]


def test_a_build_that_fails_leaves_the_program_as_it_was(cli, made):
    app, source = made, made.parent
    before = app.read_bytes(), app.stat().st_mtime_ns
    # Builds nothing the first time; the second time it ruins the program and fails.
    build = f"if [ {app} -nt {source}/main.c ]; then :; else : > {app}; exit 1; fi"
    result = cli("auto", *QUICK, "--build", build, "--", app, code=2)
    assert "exited with status 1" in result.err
    said = cli("auto", *QUICK, "--link", "cc no-such.o -o app", "--build-folder", source, "--", app,
               code=1).err
    assert "no-such.o" in said and "build the program" in said
    assert (app.read_bytes(), app.stat().st_mtime_ns) == before
    assert left(app) == ["app"]


def test_clang_and_several_workloads(auto, made, llvm):
    """Each command is recorded and compared; a status other than 0 is a result like any other."""
    app = made
    found = auto(*QUICK, "--link", f"{llvm}/clang main.o parts.o -o app", "--build-folder",
                 app.parent, "--workload", f"{app} fail", "--workload", "env X=1 {} a b", "--", app,
                 code=None)
    assert [each["same"] for each in found["comparisons"]] == [True, True, True]
    assert "exit status 3" in found["comparisons"][1]["detail"]
    assert "exit status 3: is this the intended startup?" in found["stderr"]
    assert b"part8" in {name.name for name in profile.read(f"{app}.startup").touches}


def test_a_program_that_does_something_else_with_a_front_fails(cli, auto, app, script):
    """The original stays, also with --in-place; one that never does the same is not judged."""
    before = app.read_bytes()
    other = script("case $1 in *front*) echo other;; esac")
    said = cli("auto", *QUICK, "--in-place", "--program", app, "--", other, "{}", code=1).err
    assert "stdout differs from line 2 on" in said and "was not replaced" in said
    assert app.read_bytes() == before
    found = auto(*QUICK, "--program", app, "--", script("cat /proc/sys/kernel/random/uuid"), "{}")
    assert found["good"] and found["comparisons"][0]["same"] is None


@pytest.mark.parametrize(("before", "after", "less"), [
    ((10, 868_000), (11, 831_000), False),  # a fault costs more than these bytes
    ((10, 868_000), (10, 868_000), False), ((10, 868_000), (9, 868_000), True),
    ((10, 5_000_000), (11, 831_000), True), ((2, 143_360), (1, 143_360), True)])
def test_a_gain_is_one_of_time(before, after, less):
    names = "major_faults", "read_bytes"
    assert outcome.is_less(dict(zip(names, before, strict=True)),
                          dict(zip(names, after, strict=True))) is less


@pytest.mark.parametrize(("gain", "slows", "reasons"), [
    (False, False, ["app.front: a cold start of it waits hardly less for reads than one of app"]),
    (False, True, ["app.front: a cold start of it waits longer for reads than one of app, in make "
                   "check"]), (True, False, []), (None, False, [])])
def test_a_front_that_gains_nothing_is_no_good(gain, slows, reasons):
    plan = SimpleNamespace(output="app.front", program="app", min_coverage=95, min_match=80,
                           training=("make check",))
    outcome = SimpleNamespace(report=SimpleNamespace(settled=100, present=1, names=1),
                              comparisons=[], gain=lambda plan: gain, placed=lambda plan: True,
                              slows_suite=lambda: slows)
    assert verdict.reasons(plan, outcome) == reasons


def test_in_place_replaces_the_program(auto, made, run):
    """Only when all is well."""
    auto_project.with_make(made.parent, "-B", "CFLAGS=-O1 -ffunction-sections")
    expected = run(made).stdout
    made.chmod(0o750)
    found = auto(*QUICK, "--in-place", *LINK, made.parent, "--", made)
    assert found["replaced"] and found["output"] == str(made)
    assert left(made) == ["app", "app.startup"]
    assert run(made).stdout == expected
    assert b".note.frontload" in made.read_bytes() and made.stat().st_mode & 0o777 == 0o750


def test_an_interrupted_trial_leaves_nothing(spawn, build, app, script, tmp_path):
    """Neither half-written files nor the program that it was recording."""
    os.mkfifo(tmp_path / "started")
    start = script(f"echo $$ > {tmp_path}/started\nexec sleep 1000")
    process = spawn(build / "bin/frontload", "auto", *QUICK, "--program", app, "--", start, "{}")
    recorded = os.pidfd_open(int((tmp_path / "started").read_text()))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130 and "cleaned up" in stderr
    assert left(app) == ["app"]
    select.select([recorded], [], [])  # until it has ended
    os.close(recorded)


def test_where_nothing_can_be_written_nothing_is_begun(cli, app, tmp_path):
    """The folder of the result is looked at before anything is linked or run."""
    for option in ("-o", "--profile"):
        said = cli("auto", *QUICK, option, tmp_path / "no/app", "--", app, code=2).err
        assert f"{tmp_path}/no: is not a folder" in said and option in said
        assert "linking" not in said
    cli("auto", *QUICK, "-o", tmp_path / "a", "--profile", tmp_path / "b", "--", app)
    assert left(app) == ["app"] and (tmp_path / "a").exists() and (tmp_path / "b").exists()


@pytest.mark.parametrize(("command", "said", "remedy"), [
    ("{}/app", "its link command was not found", "--build"),
    ("./no-such-program", "no such program", "build it first"),
    ("{}/script", "starts no program that lies below {}", "--program"),
])
def test_what_cannot_be_linked_again_is_refused_with_a_remedy(cli, tmp_path, command, said, remedy):
    shutil.copy("/bin/true", tmp_path / "app")
    (tmp_path / "script").write_text("#!/bin/sh\n/bin/true\n")
    (tmp_path / "script").chmod(0o755)
    error = cli("auto", "--", command.format(tmp_path), code=2).err
    assert said.format(tmp_path) in error and remedy in error


def test_a_program_of_the_system_is_left_alone(cli):
    before = os.stat("/bin/true")
    said = cli("auto", "--build", ":", "--", "true", "app", code=2).err
    assert "--program APP" in said and "as if it were old" not in said
    after = os.stat("/bin/true")
    assert (after.st_ctime_ns, after.st_ino) == (before.st_ctime_ns, before.st_ino)


@needs("tracing-another-user", "valgrind", "ptrace")
def test_a_program_that_root_starts_as_another_user(auto):
    """Who then records its data itself: traces have to be open to it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        made = auto_project.with_make(auto_project.write(Path(folder), "Makefile"))
        found = auto(*LINK, folder, "--program", made, "--recordings", "1", "--no-measure",
                     "--data", "--", "setpriv", "--reuid=65534", "--regid=65534",
                     "--clear-groups", "{}", code=None)
        startup = profile.read(found["profile"])
    assert startup.data_runs == 1 and not [each for each in found["missing"]
                                           if "data that startup touches" in each["what"]]
    text = str(found["advice"])
    assert "install -d -m 1777 traces" in text and "-- setpriv --reuid=65534" in text


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A build folder with a program, and a library of which its start enters few functions."""
    source = auto_project.write(tmp_path_factory.mktemp("shared"))
    return auto_project.with_cmake(source, source / "build", "Ninja",
                                   "-DBUILD_SHARED_LIBS=ON").parent


@pytest.fixture
def build_folder(shared):
    """The build folder as it is after a build."""
    for path in (*shared.glob("*.front"), *shared.glob("*.startup")):
        path.unlink()
    return shared


def test_a_library_gets_a_profile(auto, build_folder):
    """It is recorded in the program, and linked in its own build."""
    document = auto(*QUICK, "--module", "libparts.so.1", "--", build_folder / "app", code=None)
    assert document["library_profiles"] == {
        "libparts.so.1": str(build_folder / "libparts.so.startup")}
    made = profile.read(build_folder / "libparts.so.startup")
    names = {name.name for name in made.touches}
    assert made.program == b"libparts.so.1"
    assert {b"start", b"part7"} <= names and b"part8" not in names


CHECK = """
check: app
\t./app a; ./app a b; ./app fail; for number in $$(seq 9); do ./app f; done; false
"""


@needs("ptrace")
def test_a_test_suite_trains_the_program(auto, run, source, tmp_path, monkeypatch):
    """Each process of the program in it is a run. It fails, and that is no failure of auto. What
    only failing runs touched, and the suite alone, are not all that a start touches."""
    folder = auto_project.write(tmp_path / "project", "Makefile")
    with open(folder / "Makefile", "a") as makefile:
        makefile.write(CHECK)
    app = auto_project.with_make(folder)
    monkeypatch.chdir(folder)
    document = auto(*QUICK, "--train", "make check", "--", "./app", "a", code=None)
    assert document["trained_runs"] == 12 and document["missing"] == []
    assert list(document["predicted_in_training"]) == ["before", "after"]
    assert "make check: exit status 2, 12 runs of the program, 10 failed" in document["stderr"]
    assert "frontload record -o traces --program app -- sh -c 'make check'" in [
        line for step in document["advice"]["steps"] for line in step["lines"]]
    made = profile.read(folder / "app.startup")
    runs = {name.name: touch.runs for name, touch in made.touches.items()}
    assert (made.runs, runs[b"main"], runs[b"part8"], runs[b"part7"]) == (103, 103, 1, 102)
    run(app.with_name("app.front"), "a")


@needs("ptrace")
def test_a_suite_without_the_program_is_named(auto, app):
    """The profile is the command's then."""
    document = auto(*QUICK, "--train", "true", "--train", "exit 3", "--", app, code=None)
    assert document["trained_runs"] == 0 and profile.read(f"{app}.startup").runs == 1
    assert "exit 3: exit status 3, 0 runs of the program, 0 failed" in document["stderr"]
    (missing,) = document["missing"]
    assert missing["why"] == f"no process of {app} was recorded there"
