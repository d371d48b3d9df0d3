"""frontload record: the command runs as without it, its traces are counted, its status handed on.

The recorder is a stand-in here, a script that takes the same options and writes one trace; the last
tests use the real ones.
"""

import os
import shutil
import signal
import sys
from types import SimpleNamespace

import pytest
from abilities import needs
from frontload.cli import main as command_line
from frontload.profile import format as profile
from frontload.profile import trace
from places import BUILD, PYTHON_OF_SCRIPTS
from trace_writer import TraceWriter

# What the program of conftest.py enters.
ENTERED = ["main", "f1", "f2", "f3", "f4", "f5", "helper", "last"]
TRACE = TraceWriter().module(1, "/app").event(1).event(2).to_bytes()
STAND_IN = f"""#!{PYTHON_OF_SCRIPTS}
import os, sys
words = [*sys.argv, "--"]
options, command = words[1:words.index("--")], words[words.index("--") + 1:-1]
with open(os.environ["OPTIONS"], "w") as out:
    out.write("\\n".join([*options, os.path.basename(sys.argv[0])]))
pattern = options[0].removeprefix("--output=")
path = pattern.replace("%%", "\\0").replace("%m", "app").replace("%p", "7").replace("\\0", "%")
if "EMPTY" not in os.environ:
    with open(path, "wb") as out:
        out.write({TRACE!r})
if command:
    os.execvp(command[0], command)
"""


FRONTLOAD = sys.executable, "-m", "frontload"


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Both recorders are the stand-in, and the current folder is empty but for them."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("frontload-trace", "frontload-valgrind"):
        (tools / name).write_text(STAND_IN)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("FRONTLOAD_BINDIR", str(tools))
    monkeypatch.setenv("OPTIONS", str(tmp_path / "options"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def record(stand_in, tmp_path, monkeypatch, capfd):
    """record(*args): `frontload record` with the stand-in, which got `record.options()`; `out` and
    `err` are also the command's."""
    def record(*args, code=0, **env):
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        try:
            status = command_line.main(["record", *map(str, args)])
        except SystemExit as exit:
            status = exit.code
        out, err = capfd.readouterr()
        assert status == code, f"exit {status}\n{err}"
        return SimpleNamespace(out=out, err=err)

    record.options = lambda: (tmp_path / "options").read_text().splitlines()
    return record


def test_the_command_runs_and_the_traces_are_counted(stand_in, run, tmp_path):
    """Its files are its own; one line says what was recorded, not what was there."""
    (tmp_path / "out").mkdir()
    TraceWriter().module(1, "/old").event(1).write(tmp_path / "out" / "old.1.fltrace")
    shell = ["sh", "-c", 'exec "$@" 5<"$0"', tmp_path / "tools/frontload-trace"]
    result = run(*shell, *FRONTLOAD, "record", "-o", "out", "--", "sh", "-c",
                 "cat; head -c 2 <&5; echo problem >&2", input="hello\n")
    assert result.stdout == "hello\n#!"
    assert result.stderr == "problem\nfrontload: note: 1 trace with 2 first touches in out\n"
    assert (tmp_path / "out/app.7.fltrace").exists()


def test_options_are_handed_on_and_the_folder_is_absolute(record, tmp_path):
    """The pattern holds after a change of folder; --data has its own recorder."""
    record("-o", "100%", "--module", "a.so", "--module", "b.so", "--until", "ready", "--", "true")
    assert record.options() == [f"--output={tmp_path}/100%%/%m.%p.fltrace", "--module=a.so",
                                "--module=b.so", "--until=ready", "frontload-trace"]
    assert len(trace.find(tmp_path / "100%")) == 1
    record("--program", "app", "--", "true")
    assert record.options()[1:] == ["--program=app", "frontload-trace"]
    record("--data", "-o", "out", "--module", "a.so", "--until", "ready", "--", "true")
    assert record.options() == [f"--output={tmp_path}/out/%m.%p.fltrace", "--module=a.so",
                                "--until=ready", "frontload-valgrind"]


@pytest.mark.parametrize(("script", "code"), [("exit 255", 255), ("kill -KILL $$", 128 + 9)])
def test_the_exit_status_is_handed_on(record, tmp_path, script, code):
    """The status is the command's, 128 + N if signal N ended it. Without -o, traces go to
    frontload-traces in the current folder."""
    record("--", "sh", "-c", script, code=code)
    assert len(trace.find(tmp_path / "frontload-traces")) == 1


def test_arguments_and_environment_are_left_alone(record):
    """What stands behind -- is the command's; it has the user's environment."""
    result = record("--", "sh", "-c", 'echo "$0 $*"; env', "--for", "-o", "--", "--help", MINE="1")
    assert result.out.startswith("--for -o -- --help\n")
    assert "\nMINE=1\n" in result.out and "FRONTLOAD_BINDIR" not in result.out


def test_no_trace_is_an_error(record, tmp_path):
    """If nothing was recorded, that is said, and a good status becomes 1; a bad one stays."""
    result = record("-o", "new", "--", "true", code=1, EMPTY="1")
    assert "no trace was written" in result.err and not (tmp_path / "new").exists()
    record("--", "sh", "-c", "exit 7", code=7)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGRTMIN + 2])
def test_signals_are_handed_on(stand_in, spawn, number):
    """A signal to frontload ends the command, which may catch it, and its status is handed on."""
    process = spawn(*FRONTLOAD, "record", "--", "sh", "-c",
                    f"trap 'exit 9' {int(number)}; echo ready; read line", stdin=-1)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.wait() == 9


def test_ctrl_c_is_the_commands_to_handle(stand_in, spawn):
    """SIGINT to the foreground group ends the command; frontload reaps it and hands on 128 + 2."""
    process = spawn(*FRONTLOAD, "record", "--", "sh", "-c", "echo ready; exec sleep 999",
                    start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 128 + 2 and "1 trace" in process.stderr.read()


@pytest.mark.parametrize(("args", "what"), [
    (["--"], "a COMMAND is needed"),
    (["--for", "-1", "--", "true"], "not a number of seconds above 0"),
    (["--with", "runtime", "--until", "f", "--", "true"], "frontload_startup_done()"),
    (["--data", "--with", "runtime", "--", "true"], "decided when it is compiled"),
    (["-o", "file/sub", "--", "true"], "Not a directory"),
    (["--all-files", "--role", "gpu", "--", "true"], "--role"),
    *((["--role", role, "--", "true"], "not a role") for role in ("", "two words", "x" * 32)),
])
def test_wrong_use_runs_nothing(record, tmp_path, args, what):
    """A wrong command line or folder is refused before the command is started."""
    (tmp_path / "file").touch()
    assert what in record(*args, code=2).err
    assert not (tmp_path / "options").exists()


def test_a_missing_recorder_names_the_remedy(record):
    """Without frontload-trace the command is not run."""
    said = record("--", "true", code=2, FRONTLOAD_BINDIR="/nowhere", PATH="/bin").err
    assert "frontload-trace: not found" in said and "CMake" in said


def test_with_the_runtime(record, tmp_path):
    """It runs the command itself, with a pattern and a role in the environment, whatever was there
    before; no trace has its own remedy."""
    result = record("--with", "runtime", "--role", "gpu", "-o", "out", "--", "sh", "-c",
                    "echo $FRONTLOAD_TRACE $FRONTLOAD_ROLE", code=1, FRONTLOAD_ROLE="other")
    assert result.out == f"{tmp_path}/out/%m.%p.fltrace gpu\n"
    assert "-finstrument-functions" in result.err


@pytest.mark.parametrize(("command", "code"), [("./no-such-program", 127), ("./tools", 126)])
def test_a_command_that_cannot_be_run(record, command, code):
    """The status is the one that shells give: 127 if it is not there, 126 if it cannot be run."""
    assert record("--with", "runtime", "--", command, code=code).err.startswith(
        f"frontload: error: {command}: ")


def test_a_bad_trace_is_a_warning(record):
    """A trace that cannot be read back is said, and does not change the command's status."""
    said = record("-o", "out", "--", "sh", "-c", "echo > out/x.1.fltrace; exit 3", code=3).err
    assert "warning" in said and "x.1.fltrace: not a trace" in said


@pytest.mark.parametrize("data", [[], ["--data"]], ids=["trace", "data"])
def test_roles_are_handed_on_and_told(record, tmp_path, data):
    """Recorders beside a program get it as an option; roles are told with the programs' names."""
    writer = TraceWriter().module(1, "/app")
    for name, role in (("a", b"gpu"), ("b", b"tab"), ("c", b"tab"), ("d", b"")):
        writer.write(tmp_path / name, minor=3, role=role)
    script = "for f in a b c d; do cp $f out/$f.fltrace; done"
    result = record("--role", "renderer", *data, "-o", "out", "--", "sh", "-c", script)
    assert "--role=renderer" in record.options()
    assert result.err.endswith("frontload: note: with a role: app as gpu (1), app as tab (2)\n")


def recorded_names(cli, traces, *options):
    path = traces.with_suffix(".startup")
    cli("profile", traces, *options, "-o", path)
    return [name.name.decode() for name, _ in profile.read(path).in_order()]


@needs("ptrace", "built:bin/frontload-trace")
def test_the_tracer_records_a_program(link, cli, frontload, tmp_path):
    """With the real tracer, the functions of a program become a profile in the order of entry."""
    frontload("record", "-o", tmp_path / "traces", "--", link().path, "x", code=1)
    assert [name for name in recorded_names(cli, tmp_path / "traces")
            if name in ENTERED] == ENTERED


@needs("built:lib/libfrontload-rt.a")
def test_the_runtime_records_a_program(link, run, frontload, llvm, cli, tmp_path):
    """After strip, too: its trace has no names, and the message says what has: a copy from before
    strip is the same build."""
    program = link(BUILD / "lib/libfrontload-rt.a",
                   flags=["-finstrument-functions-after-inlining"]).path
    before, traces = shutil.copy(program, tmp_path / "before"), tmp_path / "traces"
    run(llvm / "llvm-strip", "--strip-all", program)
    frontload("record", "--with", "runtime", "-o", traces, "--", program)
    assert "with --binary PATH" in cli("profile", traces, "-o", tmp_path / "p", code=65).err
    assert not (tmp_path / "p").exists()
    assert recorded_names(cli, traces, "--binary", before) == ENTERED
