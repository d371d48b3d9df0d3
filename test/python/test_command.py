"""The frontload command as installed and as built: help, exit codes, streams, environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from frontload.base import files
from frontload.machine import linkers

ROOT = Path(__file__).parents[2]
VERBS = ["info", "record", "profile", "order", "check", "measure", "run"]


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help_with_an_example(cli, verb):
    """frontload VERB --help shows at least one command that can be typed."""
    assert f"\n  frontload {verb}" in cli(verb, "--help").out


def test_help_lists_the_verbs(frontload):
    """The built command runs, and lists its verbs."""
    text = frontload("--help").stdout
    assert all(f"    {verb} " in text for verb in VERBS)


def test_wrong_use_is_exit_2(frontload):
    """An unknown verb, and no verb, are usage errors on stderr."""
    for args in ((), ("nosuch",)):
        result = frontload(*args, code=2)
        assert result.stdout == "" and "usage: frontload" in result.stderr


def test_modules_in_the_current_folder_are_not_imported(frontload, tmp_path):
    """A file numpy.py where the command is run does not take the place of numpy."""
    for name in ("numpy.py", "profile.py", "frontload.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the current folder')")
    frontload("profile", "--help", cwd=tmp_path)


def test_a_recorded_program_does_not_see_the_launchers_environment(frontload, tmp_path):
    """The launcher changes nothing that the recorded program inherits."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("PYTHON", "FRONTLOAD"))}
    result = frontload("record", "--with", "runtime", "-o", tmp_path, "--", "env", env=clean,
                       code=1)
    seen = {line.partition("=")[0] for line in result.stdout.splitlines()}
    assert seen - clean.keys() <= {"FRONTLOAD_TRACE", "_", "PWD", "OLDPWD", "SHLVL", "LC_CTYPE"}


def test_a_python_without_our_packages_is_told(frontload):
    """A Python that lacks a package gives one line with the remedy, not a traceback."""
    bare = shutil.which("python3", path="/usr/bin:/bin")
    if bare is None or subprocess.run([bare, "-c", "import rich, elftools"], check=False,
                                      capture_output=True).returncode == 0:
        pytest.skip("no Python without rich and pyelftools on this machine")
    environment = os.environ | {"FRONTLOAD_PYTHON": bare, "PYTHONPATH": ""}
    result = frontload("info", env=environment, code=2)
    assert "has no Python package" in result.stderr and "pip" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_closed_pipe_is_no_error():
    """`frontload check | head` ends quietly when head does."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen([sys.executable, "-m", "frontload", "info", "--json"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 0


def test_a_full_disk_is_an_error(link, tmp_path):
    """Data that cannot be written to stdout is an error, not a silent loss."""
    trace = link().trace(tmp_path / "t", "main")
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for environment in (buffered, buffered | {"PYTHONUNBUFFERED": "1"}):
        with open("/dev/full", "w") as full:
            result = subprocess.run([sys.executable, "-m", "frontload", "profile", trace],
                                    stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                    env=environment)
        assert result.returncode == 2 and "No space left" in result.stderr
        assert "Exception" not in result.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_not_mistaken_for_files(link, tmp_path, closed):
    """What would have gone to a closed stream gets into no file that takes its number, and what
    cannot be written to stdout is an error."""
    def run(closed, *arguments):
        return subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m",
                               "frontload", *arguments], capture_output=True, timeout=60)
    trace = link().trace(tmp_path / "t", "main")
    outputs = [tmp_path / name for name in ("whole", "closed")]
    for output, streams in zip(outputs, ("", closed), strict=True):
        result = run(streams, "profile", trace, trace, "-o", output)
        assert result.returncode == 0, result.stderr
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    result = run(closed, "profile", trace)
    assert result.returncode == (2 if " >&-" in " " + closed else 0)
    if closed == ">&-":
        assert b"Bad file descriptor" in result.stderr and b"Traceback" not in result.stderr


def test_an_output_that_is_a_folder_is_refused(cli, link, tmp_path):
    """-o with a folder is a usage error; nothing is left in it."""
    trace = link().trace(tmp_path / "t", "main")
    (tmp_path / "out").mkdir()
    assert "is a directory" in cli("profile", trace, "-o", tmp_path / "out", code=2).err
    assert list((tmp_path / "out").iterdir()) == []


def test_names_are_escaped_on_a_terminal(monkeypatch, capfdbinary):
    """Data goes to a file or pipe as it is, and to a terminal without what could steer it."""
    files.write_output(None, b"a\x1b[31m\xff\tb\n")
    assert capfdbinary.readouterr().out == b"a\x1b[31m\xff\tb\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    files.write_output(None, b"a\x1b[31m\xff\tb\n")
    assert capfdbinary.readouterr().out == b"a\\x1b[31m\\udcff\tb\n"


@pytest.mark.parametrize("no_color", [{}, {"NO_COLOR": "1"}])
def test_progress_is_for_terminals(link, tmp_path, no_color):
    """A progress bar is drawn on a terminal only, in colour unless NO_COLOR is set."""
    trace = link().trace(tmp_path / "t", "main")
    ours, theirs = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "80", **no_color}
    subprocess.run([sys.executable, "-m", "frontload", "profile", trace], stderr=theirs, timeout=60,
                   stdout=subprocess.DEVNULL, env=environment, check=True)
    os.close(theirs)
    shown = b""
    while b"1 name" not in shown:
        shown += os.read(ours, 4096)
    assert b"reading traces" in shown
    assert (b"\x1b[38;" in shown or b"\x1b[35m" in shown) == (not no_color)


@pytest.mark.parametrize("problem", [ZeroDivisionError("division\nby zero"), ValueError(),
                                     ModuleNotFoundError("No module named 'x'", name="x")])
def test_a_defect_is_no_verdict(cli, monkeypatch, problem):
    """What nobody expected exits 70 with one line and what to do, and the traceback if asked."""
    def fail():
        raise problem

    monkeypatch.setattr(linkers, "find", fail)
    monkeypatch.delenv("FRONTLOAD_DEBUG", raising=False)
    said = cli("info", code=70).err.splitlines()
    words = " ".join(str(problem).split())
    assert said[-2] == f"frontload: error: info: {type(problem).__name__}" + f": {words}" * bool(
        words)
    assert "FRONTLOAD_DEBUG=1" in said[-1] and "Traceback" not in "\n".join(said)
    monkeypatch.setenv("FRONTLOAD_DEBUG", "1")
    assert "Traceback" in cli("info", code=70).err


def test_the_installed_command_runs(run, build, tmp_path):
    """After cmake --install the command works from its prefix, also when that is moved."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    script = build / "scripts" / "cmake_install.cmake"
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'prefix'}", "-P", script)
    (tmp_path / "prefix").rename(tmp_path / "moved")
    (tmp_path / "link").symlink_to(tmp_path / "moved" / "bin" / "frontload")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = run(tmp_path / "link", "--version", env=clean)
    assert result.stdout.startswith("frontload 0.")
    package = tmp_path / "moved" / "lib" / "frontload" / "python" / "frontload"
    wanted = {path.relative_to(ROOT / "scripts" / "frontload")
              for path in (ROOT / "scripts" / "frontload").rglob("*.py")}
    assert {path.relative_to(package) for path in package.rglob("*.py")} == wanted
