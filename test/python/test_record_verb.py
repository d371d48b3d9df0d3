"""frontload record: the command runs as without it, its traces are counted, its status handed on.

The recorder is a stand-in here, a script that takes the same options and writes one trace; the last
tests use the real ones, where they are built.
"""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from frontload.profile import format as profile
from frontload.profile import trace
from places import BUILD
from trace_writer import TraceWriter

# What the program of conftest.py enters, as the runtime sees it.
RUNTIME_NAMES = ["main", "f1", "f2", "f3", "f4", "f5", "helper", "last"]
TRACE = TraceWriter().module(1, "/app").event(1).event(2).to_bytes()
STAND_IN = f"""#!{sys.executable}
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


@pytest.fixture
def record(tmp_path):
    """record(*args): runs `frontload record` with the stand-in, which got `record.options()`."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("frontload-trace", "frontload-valgrind"):
        (tools / name).write_text(STAND_IN)
        (tools / name).chmod(0o755)
    environment = os.environ | {"FRONTLOAD_BINDIR": str(tools),
                                "OPTIONS": str(tmp_path / "options")}

    def record(*args, code=0, env=None, **options):
        command = [sys.executable, "-m", "frontload", "record", *map(str, args)]
        result = subprocess.run(command, env=environment | (env or {}), cwd=tmp_path, text=True,
                                capture_output=True, timeout=60, **options)
        assert result.returncode == code, f"exit {result.returncode}\n{result.stderr}"
        return result

    record.environment = environment
    record.options = lambda: (tmp_path / "options").read_text().splitlines()
    return record


def test_the_command_runs_and_the_traces_are_counted(record, tmp_path):
    """Output and input are the command's own; one line on stderr says what was recorded."""
    result = record("-o", "out", "--", "sh", "-c", "cat; echo problem >&2", input="hello\n")
    assert result.stdout == "hello\n"
    assert result.stderr == ("problem\nfrontload: note: 1 trace with 2 first touches in out\n")
    assert [path.name for path in trace.find(tmp_path / "out")] == ["app.7.fltrace"]


def test_options_are_handed_on_and_the_folder_is_absolute(record, tmp_path):
    """The recorder gets the options, and a pattern that holds also after a change of folder."""
    record("-o", "100%", "--module", "a.so", "--module", "b.so", "--until", "ready", "--", "true")
    assert record.options() == [f"--output={tmp_path}/100%%/%m.%p.fltrace", "--module=a.so",
                                "--module=b.so", "--until=ready", "frontload-trace"]
    assert len(trace.find(tmp_path / "100%")) == 1


def test_data_is_recorded_by_valgrind(record, tmp_path):
    """--data runs the recorder that records data."""
    record("--data", "-o", "out", "--module", "a.so", "--until", "ready", "--", "true")
    assert record.options() == [f"--output={tmp_path}/out/%m.%p.fltrace", "--module=a.so",
                                "--until=ready", "frontload-valgrind"]


def test_the_default_folder_is_made(record, tmp_path):
    """Without -o, traces go to frontload-traces in the current folder."""
    record("--", "true")
    assert len(trace.find(tmp_path / "frontload-traces")) == 1


@pytest.mark.parametrize(("script", "code"), [
    ("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 128 + 15),
    ("kill -KILL $$", 128 + 9)])
def test_the_exit_status_is_handed_on(record, script, code):
    """The status is the command's, 128 + N if signal N ended it."""
    record("--", "sh", "-c", script, code=code)


def test_arguments_are_left_alone(record):
    """What stands behind -- is the command's, also if it looks like options of ours."""
    result = record("--", "echo", "--for", "-o", "--", "--help")
    assert result.stdout == "--for -o -- --help\n"


def test_only_new_traces_are_counted(record, tmp_path):
    """Traces that were in the folder before are not counted, replaced ones are."""
    (tmp_path / "out").mkdir()
    TraceWriter().module(1, "/old").event(1).write(tmp_path / "out" / "old.1.fltrace")
    assert "1 trace with 2" in record("-o", "out", "--", "true").stderr


def test_no_trace_is_an_error(record, tmp_path):
    """If nothing was recorded, that is said, and a good status becomes 1; a bad one stays."""
    result = record("-o", "new", "--", "true", code=1, env={"EMPTY": "1"})
    assert "no trace was written" in result.stderr and not (tmp_path / "new").exists()
    record("--", "sh", "-c", "exit 7", code=7, env={"EMPTY": "1"})


def test_the_environment_is_the_users(record):
    """The command sees its environment, not what the frontload command itself was told."""
    result = record("--", "env", env={"MINE": "1"})
    assert "MINE=1\n" in result.stdout and "FRONTLOAD_BINDIR" not in result.stdout


def test_descriptors_are_inherited(record, tmp_path):
    """A descriptor that the shell opened for the command reaches it."""
    script = f"{sys.executable} -m frontload record -o out -- sh -c 'cat <&5' 5<&0"
    result = subprocess.run(["sh", "-c", script], input="through 5", text=True, cwd=tmp_path,
                            capture_output=True, env=record.environment, timeout=60)
    assert result.stdout == "through 5"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
                                    signal.SIGRTMIN + 2])
def test_signals_are_handed_on(record, tmp_path, number):
    """A signal to frontload ends the command, which may catch it, and its status is handed on."""
    script = f"trap 'exit 9' {int(number)}; echo ready; while :; do sleep 0.05; done"
    command = [sys.executable, "-m", "frontload", "record", "--", "sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=tmp_path, env=record.environment) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(timeout=30) == 9


def test_ctrl_c_is_the_commands_to_handle(record, tmp_path):
    """SIGINT to the foreground group ends the command; frontload reaps it and hands on 128 + 2."""
    command = [sys.executable, "-m", "frontload", "record", "--", "sh", "-c",
               "echo ready; exec sleep 30"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=tmp_path, env=record.environment, start_new_session=True) as process:
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 128 + 2
        assert "1 trace" in process.stderr.read()


@pytest.mark.parametrize(("args", "what"), [
    ([], "a COMMAND is needed"),
    (["--"], "a COMMAND is needed"),
    (["--for", "-1", "--", "true"], "not a number of seconds above 0"),
    (["--for", "soon", "--", "true"], "not a number of seconds above 0"),
    (["--with", "runtime", "--until", "f", "--", "true"], "frontload_startup_done()"),
    (["--data", "--with", "runtime", "--", "true"], "decided when it is compiled"),
    (["--pid", "0"], "--pid"),
    (["--pid", "1", "--", "true"], "without a COMMAND"),
    (["--pid", "1", "--data"], "it goes with --module"),
    (["--pid", "1", "--until-idle", "5"], "it goes with --module"),
    (["-o", "file", "--", "true"], "file: File exists"),
    (["-o", "file/sub", "--", "true"], "Not a directory"),
])
def test_wrong_use_runs_nothing(record, tmp_path, args, what):
    """A wrong command line or folder is refused before the command is started."""
    (tmp_path / "file").touch()
    assert what in record(*args, code=2).stderr
    assert not (tmp_path / "options").exists()


def test_a_missing_recorder_names_the_remedy(record, tmp_path):
    """Without frontload-trace the command is not run."""
    result = record("--", "true", code=2, env={"FRONTLOAD_BINDIR": "/nowhere", "PATH": "/bin"})
    assert "frontload-trace: not found" in result.stderr and "CMake" in result.stderr


def test_runtime_sets_the_pattern(record, tmp_path):
    """--with runtime runs the command itself, with FRONTLOAD_TRACE; no trace has its own remedy."""
    result = record("--with", "runtime", "-o", "out", "--", "sh", "-c", "echo $FRONTLOAD_TRACE",
                    code=1)
    assert result.stdout == f"{tmp_path}/out/%m.%p.fltrace\n"
    assert "-finstrument-functions" in result.stderr


@pytest.mark.parametrize(("command", "code"), [("./no-such-program", 127), ("./file", 126)])
def test_a_command_that_cannot_be_run(record, tmp_path, command, code):
    """The status is the one that shells give: 127 if it is not there, 126 if it cannot be run."""
    (tmp_path / "file").touch()
    result = record("--with", "runtime", "--", command, code=code)
    assert result.stderr.startswith(f"frontload: error: {command}: ")


def test_a_bad_trace_is_a_warning(record, tmp_path):
    """A trace that cannot be read back is said, and does not change the command's status."""
    script = "echo rubbish > out/x.1.fltrace; exit 3"
    result = record("-o", "out", "--", "sh", "-c", script, code=3)
    assert "warning" in result.stderr and "x.1.fltrace: not a trace" in result.stderr


def test_a_process_that_runs(record):
    """--pid is the tracer's, with what goes with it."""
    record("--pid", str(os.getpid()), "--for", "1.5", "--until", "ready", "--module", "a.so")
    assert record.options()[1:] == ["--module=a.so", "--until=ready", "--for=1.5",
                                    f"--pid={os.getpid()}", "frontload-trace"]


@pytest.mark.parametrize("options", [[], ["--data"], ["--pid", str(os.getpid())]],
                         ids=["trace", "data", "pid"])
def test_a_role_is_handed_on(record, options):
    """Recorders beside a program get it as an option."""
    record("--role", "renderer", *options, *([] if "--pid" in options else ["--", "true"]))
    assert "--role=renderer" in record.options()


def test_runtime_gets_the_role(record):
    """A program that records itself gets it in its environment, whatever was there before."""
    result = record("--with", "runtime", "--role", "gpu", "--", "sh", "-c", "echo $FRONTLOAD_ROLE",
                    code=1, env={"FRONTLOAD_ROLE": "other"})
    assert result.stdout == "gpu\n"


def test_roles_are_told(record, tmp_path):
    """With the names of the programs."""
    writer = TraceWriter().module(1, "/app")
    for name, role in (("a", b"gpu"), ("b", b"tab"), ("c", b"tab"), ("d", b"")):
        writer.write(tmp_path / name, minor=3, role=role)
    script = "for f in a b c d; do cp $f out/$f.fltrace; done"
    result = record("-o", "out", "--", "sh", "-c", script)
    assert result.stderr.endswith("frontload: note: with a role: app as gpu (1), app as tab (2)\n")


@pytest.mark.parametrize("role", ["", "two words", "x" * 32, "\xe9"])
def test_what_cannot_be_a_role_is_a_usage_error(record, role):
    """Before anything runs."""
    assert "not a role" in record("--role", role, "--", "true", code=2).stderr


def test_a_list_of_files_has_no_role(record):
    """--files is of all processes."""
    assert "--role" in record("--files", "--role", "gpu", "--", "true", code=2).stderr


def test_the_tracer_records_a_program(build, link, cli, tmp_path):
    """With the real tracer, the functions of a program become a profile in the order of entry."""
    if not (build / "bin" / "frontload-trace").exists():
        pytest.skip("frontload-trace is not built")
    program = link()
    result = subprocess.run([build / "bin" / "frontload", "record", "-o", tmp_path / "traces", "--",
                             program.path, "x"], capture_output=True, text=True, timeout=60)
    if "ptrace" in result.stderr:
        pytest.skip(f"ptrace is not allowed: {result.stderr}")
    assert (result.returncode, result.stdout.count("\n")) == (1, 1), result.stderr
    cli("profile", tmp_path / "traces", "-o", tmp_path / "p")
    names = recorded_names(tmp_path / "p")
    wanted = ["_start", "main", "f1", "f2", "f3", "f4", "f5", "helper", "last"]
    assert [name for name in names if name in wanted] == wanted


@pytest.fixture
def runtime_program(link):
    """The program of conftest.py, with the runtime in it."""
    library = BUILD / "lib/libfrontload-rt.a"
    if not library.exists():
        pytest.skip("libfrontload-rt is not built")
    return link(library, flags=["-finstrument-functions-after-inlining"])


def recorded_names(path):
    return [name.name.decode() for name, _ in profile.read(path).in_order()]


def test_the_runtime_records_a_program(runtime_program, run, cli, tmp_path):
    """A program with the runtime writes a trace that becomes a profile."""
    run(BUILD / "bin/frontload", "record", "--with", "runtime", "-o", tmp_path / "traces", "--",
        runtime_program.path)
    cli("profile", tmp_path / "traces", "-o", tmp_path / "p")
    assert recorded_names(tmp_path / "p") == RUNTIME_NAMES


def test_a_stripped_program_with_the_runtime(runtime_program, run, llvm, cli, tmp_path):
    """It is recorded as before strip; its trace has no names, and the message says what has: a copy
    from before strip is the same build."""
    before = shutil.copy(runtime_program.path, tmp_path / "before")
    run(llvm / "llvm-strip", "--strip-all", runtime_program.path)
    run(BUILD / "bin/frontload", "record", "--with", "runtime", "-o", tmp_path / "traces", "--",
        runtime_program.path)
    said = cli("profile", tmp_path / "traces", "-o", tmp_path / "p", code=65).err
    assert said == (f"frontload: error: {runtime_program.path}: is stripped: it has no symbol table"
                    "\nfrontload: note: give the copy from before strip with --binary PATH: record "
                    "and check, then strip\n")
    assert not (tmp_path / "p").exists()
    cli("profile", tmp_path / "traces", "--binary", before, "-o", tmp_path / "p")
    assert recorded_names(tmp_path / "p") == RUNTIME_NAMES
