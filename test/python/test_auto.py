"""frontload auto: from a program and the command that starts it to a program with a front."""

import errno
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import auto_project
import pytest
from frontload.auto import trial, verdict
from frontload.base.errors import Failure
from frontload.cli import main as cli
from frontload.profile import format as profile
from frontload.verbs import auto as auto_verb

QUICK = ("--no-data", "--runs", "1", "--no-measure")


@pytest.fixture(scope="session")
def source(tmp_path_factory) -> Path:
    return auto_project.write(tmp_path_factory.mktemp("with a space"))


@pytest.fixture(scope="session")
def built(source) -> Path:
    """The program as CMake and Ninja build it."""
    return auto_project.with_cmake(source, source / "build", "Ninja")


@pytest.fixture
def app(built, tmp_path) -> Path:
    """The build folder as it is after a build, in a copy that a test may change."""
    # Its own files name the folder, so the copy takes the place of the original.
    for path in built.parent.glob("app.*"):
        path.unlink()
    return built


@pytest.fixture(scope="session")
def kept(tmp_path_factory) -> Path:
    """The program as make builds it: without section flags, and stripped."""
    return auto_project.with_make(auto_project.write(tmp_path_factory.mktemp("make")), "LDFLAGS=-s")


@pytest.fixture
def made(kept, tmp_path) -> Path:
    """A copy of that, as up to date as it."""
    return shutil.copytree(kept.parent, tmp_path / "source") / "app"


@pytest.fixture
def auto(frontload):
    """auto(*args): runs `frontload auto --json` and returns what it says."""
    def auto(*args, **options):
        result = frontload("auto", "--json", *args, **options)
        return json.loads(result.stdout) | {"stderr": result.stderr}
    return auto


def left(app: Path) -> list[str]:
    """The files beside the program that are of no build system."""
    return sorted(path.name for path in app.parent.iterdir() if "app" in path.name)


def test_a_program_of_ninja_gets_a_front_beside_it(auto, app, run):
    """The whole way: link, recording with data, profile, front, check, comparison, measurement."""
    before = app.read_bytes()
    found = auto("--measured-runs", "3", "--", app)
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
    measured = found["measured"]
    if measured is None:
        assert found["missing"]
    else:
        # A disk that reads megabytes ahead reads both whole, and the second has padding.
        before, after = (measured["selectively cold"][each]["read_bytes"]["median"]
                         for each in ("before", "after"))
        assert after < before or after > 0.9 * Path(f"{app}.front").stat().st_size


def test_the_table_ends_with_what_to_add(frontload, app):
    """What was tried is only worth something in the build. A second run comes to the same."""
    text = frontload("auto", *QUICK, "--", app, "now").stdout
    assert "frontload_target(app TRAIN COMMAND app now)" in text
    assert "ld.frontload" in text and "100.00%" in text
    first = Path(f"{app}.startup").read_bytes()
    assert frontload("auto", *QUICK, "--", app, "now").stdout == text
    assert Path(f"{app}.startup").read_bytes() == first


def test_makefiles_of_cmake_tell_the_link(auto, source, tmp_path):
    """By link.txt, in the folder of its target."""
    app = auto_project.with_cmake(source, tmp_path / "é build", "Unix Makefiles")
    found = auto(*QUICK, "--", app)
    assert found["good"] and found["link"]["source"].endswith("app.dir/link.txt")


def test_a_program_of_meson_gets_a_front(auto, source, tmp_path):
    """Meson's Ninja files are like CMake's, but for the details."""
    if not shutil.which("meson"):
        pytest.skip("meson is not installed: apt-get install meson")
    app = auto_project.with_meson(source, tmp_path / "build")
    found = auto(*QUICK, "--", app)
    assert found["good"] and "Ninja" in found["link"]["source"]
    assert found["advice"]["how_to"] == "docs/how-to/meson.md"


def test_a_watched_build_tells_the_link_and_missing_section_flags_are_told(auto, made):
    """make writes nothing down. An up-to-date program is linked again, as if it were old."""
    found = auto(*QUICK, "--build", "make LDFLAGS=-s", "--build-folder", made.parent, "--", made)
    assert found["good"]
    assert found["check"]["coverage"] == 100
    assert found["link"]["source"] == "the build that was watched"
    assert "-ffunction-sections" in found["sections"]["lost"]
    assert [each["option"] for each in found["hindrances"]] == ["-s"]
    assert found["before"]["stripped"] and found["after"]["stripped"]
    assert "up to date" in found["stderr"]
    assert left(made) == ["app", "app.front", "app.startup"]


def test_a_build_that_fails_leaves_the_program_as_it_was(frontload, made):
    """Also if it fails after the program was made to look old."""
    app, source = made, made.parent
    before = app.read_bytes(), app.stat().st_mtime_ns
    # Builds nothing the first time; the second time it ruins the program and fails.
    build = f"if [ {app} -nt {source}/main.c ]; then :; else : > {app}; exit 1; fi"
    result = frontload("auto", *QUICK, "--build", build, "--", app, code=2)
    assert "exited with status 1" in result.stderr
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
    assert b"part8" in {name.name for name in profile.read(f"{app}.startup").touches}


def test_a_program_that_does_something_else_with_a_front_fails(frontload, app, tmp_path):
    """The exit status is 1, and the original stays, also with --in-place."""
    before = app.read_bytes()
    script = tmp_path / "start.sh"
    script.write_text('#!/bin/sh\n"$1"\ncase $1 in *front*) echo other;; esac\n')
    script.chmod(0o755)
    result = frontload("auto", *QUICK, "--in-place", "--program", app, "--", script, "{}", code=1)
    assert "stdout differs from line 2 on" in result.stderr
    assert "was not replaced" in result.stderr
    assert app.read_bytes() == before


def test_a_program_that_never_does_the_same_is_not_judged(auto, app, tmp_path):
    """Two runs of itself differ, so a third tells nothing."""
    script = tmp_path / "start.sh"
    script.write_text('#!/bin/sh\n"$1"\ncat /proc/sys/kernel/random/uuid\n')
    script.chmod(0o755)
    found = auto(*QUICK, "--program", app, "--", script, "{}")
    assert found["good"] and found["comparisons"][0]["same"] is None


def test_in_place_replaces_the_program(auto, source, tmp_path, run):
    """Only when all is well; nothing but the profile is left beside it."""
    app = auto_project.with_cmake(source, tmp_path / "build", "Ninja")
    expected = run(app).stdout
    found = auto(*QUICK, "--in-place", "--", app)
    assert found["replaced"] and found["output"] == str(app)
    assert left(app) == ["app", "app.startup"]
    assert run(app).stdout == expected
    assert b".text.front" in app.read_bytes()


def test_in_place_replaces_from_another_file_system(auto, source, tmp_path, run):
    """There is no rename from there: a copy takes the place, and nothing else is left."""
    elsewhere = Path("/dev/shm")
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev \
            or os.statvfs(elsewhere).f_flag & os.ST_NOEXEC:
        pytest.skip("/dev/shm is no other file system that runs programs")
    app = auto_project.with_cmake(source, tmp_path / "build", "Ninja")
    app.chmod(0o750)
    with tempfile.TemporaryDirectory(dir=elsewhere) as folder:
        found = auto(*QUICK, "--in-place", "-o", f"{folder}/app.front", "--", app)
        assert not list(Path(folder).iterdir())
    assert found["replaced"] and found["output"] == str(app)
    assert left(app) == ["app", "app.startup"]
    assert b".text.front" in app.read_bytes() and app.stat().st_mode & 0o777 == 0o750


def test_what_cannot_be_replaced_is_told_behind_the_verdict(built, tmp_path, monkeypatch):
    """The trial took its time: what came out of it is not lost."""
    def no_place(output, program):
        raise PermissionError(errno.EACCES, "Permission denied", program)
    monkeypatch.setattr(auto_verb, "_put_in_place", no_place)
    monkeypatch.setattr(trial, "run", lambda plan, link, linked: SimpleNamespace(
        good=lambda plan: True, missing=[]))
    shown = []
    monkeypatch.setattr(verdict, "show", lambda plan, outcome, replaced: shown.append(replaced))
    args = cli.build_parser().parse_args(["auto", "--in-place", "--", str(built)])
    with pytest.raises(Failure, match="was not replaced: Permission denied"):
        auto_verb.run(args)
    assert shown == [False]


def test_an_interrupted_trial_leaves_nothing(spawn, build, app, tmp_path):
    """Neither half-written files nor the program that it was recording."""
    script = tmp_path / "start.sh"
    script.write_text(f'#!/bin/sh\n"$1"\ntouch {tmp_path}/started\nexec sleep 300\n')
    script.chmod(0o755)
    process = spawn(build / "bin/frontload", "auto", *QUICK, "--program", app, "--", script, "{}")
    deadline = time.monotonic() + 100
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130 and "cleaned up" in stderr
    assert left(app) == ["app"]
    assert not [path for path in app.parent.iterdir() if path.name.startswith(".app")]
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(script) not in running


@pytest.mark.parametrize(("command", "said", "remedy"), [
    (["{app}"], "its link command was not found", "--build"),
    (["./no-such-program"], "no such program", "build it first"),
    (["{script}"], "not an ELF program", "--program"),
])
def test_what_cannot_be_linked_again_is_refused_with_a_remedy(frontload, tmp_path, command, said,
                                                              remedy):
    """Before anything is run."""
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    app = shutil.copy("/bin/true", tmp_path / "app")
    result = frontload("auto", "--", *(word.format(script=script, app=app) for word in command),
                       code=2)
    assert said in result.stderr and remedy in result.stderr


def test_a_program_of_the_system_is_left_alone(frontload):
    """What only starts the program is taken for it; nobody makes that look old, as we do with a
    program that is up to date."""
    before = os.stat("/bin/true")
    result = frontload("auto", "--build", ":", "--", "true", "app", code=2)
    assert "--program APP" in result.stderr and "as if it were old" not in result.stderr
    after = os.stat("/bin/true")
    assert (after.st_ctime_ns, after.st_ino) == (before.st_ctime_ns, before.st_ino)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv")
                    or not shutil.which("valgrind"), reason="needs root, setpriv and valgrind")
def test_a_program_that_root_starts_as_another_user(auto):
    """Who then records its data itself: traces have to be open to it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        made = auto_project.with_make(auto_project.write(Path(folder)))
        for name in ("CMakeLists.txt", "meson.build"):
            Path(folder, name).unlink()
        found = auto("--build", "make", "--build-folder", folder, "--program", made, "--runs", "1",
                     "--no-measure", "--data", "--", "setpriv", "--reuid=65534", "--regid=65534",
                     "--clear-groups", "{}", code=None)
        startup = profile.read(found["profile"])
    assert startup.data_runs == 1 and not [each for each in found["missing"]
                                           if "data that startup touches" in each["what"]]
    text = str(found["advice"])
    assert "install -d -m 1777 traces" in text and "-- setpriv --reuid=65534" in text


@pytest.mark.parametrize(("before", "after", "less"), [
    ((10, 868_000), (11, 831_000), False),  # a fault costs more than these bytes
    ((10, 868_000), (10, 868_000), False), ((10, 868_000), (9, 868_000), True),
    ((10, 5_000_000), (11, 831_000), True), ((2, 143_360), (1, 143_360), True)])
def test_a_gain_is_one_of_time(tools, before, after, less):
    """By what a disk takes for the counts of both."""
    names = "major_faults", "read_bytes"
    assert trial._is_less(dict(zip(names, before, strict=True)),
                          dict(zip(names, after, strict=True))) is less


def test_a_start_that_fails_is_said(frontload, app):
    """A program that ends with an error may not have got to what is meant."""
    result = frontload("auto", *QUICK, "--", app, "fail", code=None)
    assert "exit status 3: is that the start that is meant?" in result.stderr


def test_libtools_script_is_told_from_the_program(frontload, tmp_path):
    """In a build with libtool, what looks like the program starts the one in .libs."""
    (tmp_path / ".libs").mkdir()
    shutil.copy("/bin/true", tmp_path / ".libs/app")
    (tmp_path / "app").write_text("#!/bin/sh\n# app - temporary wrapper script for .libs/app\n"
                                  "# This is libtool wrapper of it\n# libtool wrapper\n")
    (tmp_path / "app").chmod(0o755)
    result = frontload("auto", "--", tmp_path / "app", code=2)
    assert f"{tmp_path}/.libs/app" in result.stderr and "--disable-shared" in result.stderr


def test_where_nothing_can_be_written_nothing_is_begun(frontload, app, tmp_path):
    """The folder of the result is looked at before anything is linked or run."""
    for option in ("-o", "--profile"):
        result = frontload("auto", *QUICK, option, tmp_path / "no/app", "--", app, code=2)
        assert f"{tmp_path}/no: is not a folder" in result.stderr and option in result.stderr
        assert "linking" not in result.stderr
    found = frontload("auto", *QUICK, "-o", tmp_path / "a", "--profile", tmp_path / "b", "--", app)
    assert str(tmp_path / "a") in found.stdout and left(app) == ["app"]
    assert (tmp_path / "a").exists() and (tmp_path / "b").exists()


def test_a_link_that_fails_is_quoted_with_a_remedy(frontload, app):
    """What the linker says of it is what helps; nothing is left."""
    result = frontload("auto", *QUICK, "--link", "cc no-such.o -o app", "--build-folder",
                       app.parent, "--", app, code=1)
    assert "no-such.o" in result.stderr and "build the program" in result.stderr
    assert left(app) == ["app"]


@pytest.mark.parametrize("gain, number", [(False, 1), (True, 0), (None, 0)])
def test_a_front_that_gains_nothing_is_no_good(gain, number):
    """It is the verdict, unless nobody can tell."""
    plan = SimpleNamespace(output="app.front", program="app", min_coverage=95, min_match=80)
    outcome = SimpleNamespace(report=SimpleNamespace(settled=100, present=1, names=1),
                              comparisons=[], gain=lambda plan: gain, linked=[])
    found = verdict.reasons(plan, outcome)
    assert len(found) == number and all("waits no less" in reason for reason in found)
