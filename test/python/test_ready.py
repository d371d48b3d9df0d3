"""Programs that do not end: one notion of ready, in frontload-exec and in the verbs that start
programs. Whatever comes, nothing of the program is left."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from compiled import compile_to
from frontload.profile import format as profile
from frontload.profile import trace
from frontload.tracing import perf
from left_processes import wait_until_none

SERVER = r"""
    #include <arpa/inet.h>
    #include <fcntl.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/socket.h>
    #include <sys/un.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((aligned(16))) volatile int at_start[4], at_request[4], at_end[4];
    __attribute__((noinline)) void ready(void) { __asm__ volatile("" ::: "memory"); }
    __attribute__((noinline)) void answer(int client) {
      at_request[0] = 1;
      if (write(client, "hello\n", 6) < 0)
        abort();
    }
    __attribute__((noinline)) void stop(int number) {
      (void)number;
      at_end[0] = 1;
      _exit(3);
    }
    static void serve(int port) {
      int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);
      struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
      setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
      if (bind(server, (void *)&address, sizeof address) || listen(server, 5))
        exit(4);
      for (;;) {
        int client = accept(server, NULL, NULL);
        answer(client);
        close(client);
      }
    }
    int main(int argc, char **argv) {
      const char *how = argv[1], *what = argc > 2 ? argv[2] : "";
      at_start[0] = 1;
      signal(SIGTERM, strcmp(how, "stubborn") ? stop : SIG_IGN);
      if (!strcmp(how, "daemon") && (fork() || (setsid(), fork())))
        return 0;
      if (!strcmp(how, "workers"))
        for (int i = 0; i < 3; ++i)
          if (fork() == 0)
            for (;;)
              pause();
      if (!strcmp(how, "file"))
        close(open(what, O_CREAT | O_WRONLY, 0600));
      if (!strcmp(how, "output"))
        printf("first\nnow %s", what), fflush(stdout);
      if (!strcmp(how, "error"))
        fprintf(stderr, "now %s", what);
      if (!strcmp(how, "notify")) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        const char *name = getenv("NOTIFY_SOCKET"), text[] = "STATUS=up\nREADY=1\n";
        memcpy(to.sun_path + 1, name + 1, strlen(name) - 1);
        sendto(socket(AF_UNIX, SOCK_DGRAM, 0), text, strlen(text), 0, (void *)&to,
               sizeof to.sun_family + strlen(name));
      }
      ready();
      if (*what >= '0' && *what <= '9')
        serve(atoi(what));
      if (!strcmp(how, "end"))
        return 7;
      for (;;)
        pause();
    }"""


@pytest.fixture
def server(tmp_path) -> Path:
    return compile_to(tmp_path / "server", "gcc", "-O1", "-falign-functions=16", "server.c",
                      "-pthread", sources={"server.c": SERVER})


@pytest.fixture
def port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


@pytest.fixture(autouse=True)
def nothing_left(server):
    """No test leaves a process of the server, not even one that has left its group."""
    yield
    wait_until_none("exe", str(server))


@pytest.fixture
def launch(build, run, tmp_path):
    """launch(*options, command=[...], code=0): the line of frontload-exec."""
    output = tmp_path / "line.json"

    def launch(*options, command, code=0):
        launch.result = run(build / "bin" / "frontload-exec", f"--output={output}", *options,
                            "--", *command, code=code)
        return json.loads(output.read_text())

    return launch


def is_free(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) != 0


def client(port: str) -> str:
    return (f"python3 -c 'import socket; assert socket.create_connection((\"127.0.0.1\", {port}))"
            ".recv(9) == b\"hello\\n\"'")


@pytest.mark.parametrize("how", ["simple", "daemon", "workers", "stubborn"])
@pytest.mark.parametrize("address", ["", "127.0.0.1:"])
def test_listening(how, address, launch, server, port):
    """Also of a server that becomes a daemon, has workers, or ignores SIGTERM; its exit status is
    no failure, and the port is free afterwards."""
    line = launch(f"--until-listening={address}{port}", command=[server, how, port])
    assert (line["ready"], line["exit_status"], line["signal"]) == ("listening", 0, None)
    assert line["minor_faults"] > 0 and line["max_rss_kib"] > 0 and line["watching_us"] > 0
    assert is_free(port)


def test_another_process_that_listens_is_not_meant(launch, server, tmp_path):
    """What somebody else has opened is no sign."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        line = launch(f"--until-listening={other.getsockname()[1]}", "--timeout=0.3",
                      command=[server, "simple"], code=124)
    assert "ready" not in line and line["exit_status"] == 124
    assert "server: was not ready in time" in launch.result.stderr


def test_another_address_is_not_meant(launch, server, port):
    launch(f"--until-listening=127.0.0.2:{port}", "--timeout=0.3",
           command=[server, "simple", port], code=124)


@pytest.mark.parametrize("how", ["output", "error"])
def test_output(how, launch, server):
    """On both streams, which are handed on; also in the midst of a line."""
    line = launch("--until-output=now ready", command=[server, how, "ready"])
    assert line["ready"] == "output"
    stream = launch.result.stdout if how == "output" else launch.result.stderr
    assert ("first\nnow ready" if how == "output" else "now ready") in stream


def test_much_output_before(launch):
    """A text that comes in pieces, behind more than a pipe holds, is found; all is handed on."""
    script = "head -c 3000000 /dev/zero | tr '\\0' 'x'; printf rea; sleep 0.1; printf dy; sleep 60"
    assert launch("--until-output=ready", command=["sh", "-c", script])["ready"] == "output"
    assert launch.result.stdout == "x" * 3000000 + "ready"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_nobody_reads_what_it_writes(stream, build, server, tmp_path):
    """It is measured to its end, and ended in time, as if somebody did."""
    reading, writing = os.pipe()
    os.close(reading)
    how = {"stdout": "output", "stderr": "error"}[stream]
    done = subprocess.run([build / "bin/frontload-exec", f"--output={tmp_path}/line",
                           "--until-output=never", "--timeout=1", "--", server, how, "up"],
                          **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                             stream: writing})
    os.close(writing)
    assert done.returncode == 124
    assert json.loads((tmp_path / "line").read_text())["exit_status"] == 124


def test_a_line_that_cannot_be_written(build, run, server):
    """Where there is no room for what was measured, the program is ended all the same."""
    result = run(build / "bin/frontload-exec", "--output=/dev/full", "--for=0.1", "--", server,
                 "workers", code=2)
    assert result.stderr == ("frontload-exec: error: the result: cannot be written: No space left "
                             "on device\n")


def test_what_a_request_inherits(launch, server):
    """A write that nobody reads ends the program, and the request, as without us."""
    script = f"grep SigIgn /proc/self/status; exec {server} simple"
    launch("--for=0.1", "--request=grep SigIgn /proc/self/status", command=["sh", "-c", script])
    sets = [int(line.split()[1], 16) for line in launch.result.stdout.splitlines()]
    assert len(sets) == 2 and not any(found & 1 << signal.SIGPIPE - 1 for found in sets)


def test_file(launch, server, tmp_path):
    line = launch(f"--until-file={tmp_path / 'made'}",
                  command=[server, "file", tmp_path / "made"])
    assert line["ready"] == "file"


def test_idle(launch, server):
    script = f"for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.03; done; exec {server} simple"
    line = launch("--until-idle=1000", command=["sh", "-c", script])
    assert line["ready"] == "idle" and line["wall_ns"] >= 300_000_000


def test_idleness_is_none_of_the_start(launch, server):
    """The start was over when it began, and the time in which that was found out is not counted."""
    line = launch("--until-idle=1000", command=[server, "simple"])
    assert line["wall_ns"] == line["ready_ns"] < 1_000_000_000


def test_notify(launch, server):
    assert launch("--until-notify", command=[server, "notify"])["ready"] == "notify"


def test_time(launch, server):
    line = launch("--for=0.2", command=[server, "simple"])
    assert line["ready"] == "for" and line["wall_ns"] >= 200_000_000


def test_request(launch, server, port):
    """It counts as part of the start; what it writes is its own."""
    line = launch(f"--until-listening={port}", f"--request={client(port)}; echo asked",
                  command=[server, "simple", port])
    assert line["ready"] == "listening" and launch.result.stdout == "asked\n"
    launch(f"--until-listening={port}", "--request=exit 9",
           command=[server, "simple", port], code=1)
    assert "exit 9: the request failed" in launch.result.stderr


def test_a_request_that_takes_too_long(launch, server, port):
    """The time-out is for all of the start; nobody waits for ever, and nothing of it is left."""
    line = launch(f"--until-listening={port}", "--request=exec sleep 61", "--timeout=0.5",
                  command=[server, "simple", port], code=124)
    assert "ready" not in line and "was not ready in time" in launch.result.stderr


def test_what_is_written_during_a_request_is_handed_on(launch, tmp_path):
    """More than a pipe holds: the program is not stopped by its own output."""
    script = (f"echo up; until test -e {tmp_path}/asked; do sleep 0.01; done;"
              f"head -c 300000 /dev/zero | tr '\\0' x; touch {tmp_path}/answered; sleep 60")
    launch("--until-output=up", f"--request=touch {tmp_path}/asked; until test -e "
           f"{tmp_path}/answered; do sleep 0.01; done", "--timeout=20",
           command=["sh", "-c", script])
    assert launch.result.stdout == "up\n" + "x" * 300000


def test_terminal(launch, run, build):
    """Its own, on all three streams, with a size and a kind; the exit status is the command's."""
    command = ["sh", "-c", "stty size; tty; test -t 2 && echo $TERM >/dev/tty; exit 7"]
    line = launch("--tty", command=command, code=7)
    size, name, kind = launch.result.stdout.splitlines()[:3]
    assert size == "24 80" and name.startswith("/dev/pts/") and kind
    assert line["exit_status"] == 7 and "ready" not in line and line["minor_faults"] > 0


def test_terminal_until_ready(launch):
    """Texts on the terminal are found; who waits for a key is ended."""
    line = launch("--tty", "--until-output=name: ",
                  command=["sh", "-c", "printf 'name: '; read name; echo never"])
    assert line["ready"] == "output" and launch.result.stdout == "name: "


def test_it_ends_before_it_is_ready(launch, server):
    """Its status is told, and is ours."""
    line = launch("--until-file=/none", command=[server, "end"], code=7)
    assert "ready" not in line and line["exit_status"] == 7
    assert "server: ended before it was ready, with status 7" in launch.result.stderr
    launch("--until-file=/none", command=["true"], code=1)


@pytest.mark.parametrize("how", ["simple", "workers", "daemon", "stubborn"])
def test_it_is_never_ready(how, launch, server, port):
    """Its whole tree is ended, also what left its group or ignores SIGTERM; no port stays taken."""
    line = launch("--until-file=/none", "--timeout=1", command=[server, how, port], code=124)
    assert "ready" not in line and "server: was not ready in time" in launch.result.stderr
    assert is_free(port)


@pytest.mark.parametrize(("options", "said"), [
    (["--until-listening=x"], "x is not [ADDRESS:]PORT"),
    (["--until-listening=0"], "is not [ADDRESS:]PORT"), (["--until-listening=65536"], "is not"),
    (["--until-listening=1.2.3:80"], "is not"), (["--until-listening=[::1:80"], "is not"),
    (["--until-output="], "is empty or too long"), (["--timeout=0"], "not a number of seconds"),
    (["--for=x"], "not a number of seconds"), (["--request=true"], "only with --until-...")])
def test_wrong_use(options, said, build, run):
    result = run(build / "bin" / "frontload-exec", *options, "--", "true", code=2)
    assert said in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing(number, build, spawn, server, port):
    """Whoever is asked to end meanwhile ends the program, too."""
    process = spawn(build / "bin" / "frontload-exec", "--until-file=/none", "--", server, "workers",
                    port)
    while is_free(port):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert is_free(port)


def names_in(folder: Path, server: Path, run) -> set[str]:
    """The functions and data of the server in traces, by their addresses."""
    symbols = {}
    for line in run("nm", server).stdout.splitlines():
        words = line.split()
        if len(words) == 3:
            symbols[int(words[0], 16)] = words[2]
    found = set()
    for path in trace.find(folder):
        recorded = trace.read(path)
        if recorded.main.path == str(server):
            found |= {symbols[a] for a in recorded.addresses.tolist() if a in symbols}
    return found


@pytest.mark.parametrize("data", [False, True])
def test_record(data, frontload, server, port, run, tmp_path):
    """What the start and the request touch is recorded, and nothing of the end; the status is 0,
    though that of the program is not."""
    if data and not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    frontload("record", *["--data"] * data, "-o", tmp_path / "traces", "--until-listening", port,
              "--request", client(port), "--", server, "workers", port)
    names = names_in(tmp_path / "traces", server, run)
    assert {"main", "ready", "answer"} <= names and "stop" not in names
    if data:
        assert {"at_start", "at_request"} <= names and "at_end" not in names
    assert is_free(port)
    # Its workers have traces, and are no runs of their own.
    frontload("profile", tmp_path / "traces", "--program", server, "-o", tmp_path / "profile")
    assert profile.read(tmp_path / "profile").runs == 1
    assert len(trace.find(tmp_path / "traces")) > 1 or not data


@pytest.mark.parametrize("data", [False, True])
def test_record_until_a_function(data, frontload, server, run, tmp_path):
    """The program is ended when it has entered it."""
    frontload("record", *["--data"] * data, "-o", tmp_path / "traces", "--until", "ready",
              "--timeout", "60", "--", server, "simple")
    names = names_in(tmp_path / "traces", server, run)
    assert "main" in names and "stop" not in names


def test_record_until_a_function_and_go_on(frontload, server, tmp_path):
    """Without a time-out the program goes on: a run may be for its counts, too."""
    frontload("record", "-o", tmp_path / "traces", "--until", "ready", "--", server, "end", code=7)


def test_record_what_does_not_become_ready(frontload, server, tmp_path):
    """It is said; what was recorded stays."""
    result = frontload("record", "-o", tmp_path / "traces", "--until-file", tmp_path / "none",
                       "--timeout", "0.5", "--", server, "simple", code=124)
    assert f"{server}: was not ready in time" in result.stderr
    assert trace.find(tmp_path / "traces")


def test_record_data_of_what_does_not_become_ready(frontload, server, port, tmp_path):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    result = frontload("record", "--data", "-o", tmp_path / "traces", "--until-file",
                       tmp_path / "none", "--timeout", "5", "--", server, "workers", port, code=124)
    assert "was not ready in time" in result.stderr and is_free(port)


@pytest.mark.parametrize("until", [[], ["--until", "answer"], ["--until-file", "/none"]],
                         ids=["to its end", "function", "file"])
@pytest.mark.parametrize("data", [False, True])
def test_an_interrupted_recording(data, until, build, server, spawn, tmp_path):
    """Ctrl-C ends the program and its recorder: the status is that of the signal, what was recorded
    stays, and no temporary file does."""
    if data and not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    limit = ["--timeout", "600"] if until else []
    process = spawn(build / "bin/frontload", "record", *["--data"] * data, "-o",
                    tmp_path / "traces", *until, *limit, "--", server, "output", "up",
                    start_new_session=True, env={**os.environ, "TMPDIR": str(temporary)},
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline() == "first\n"  # the program runs
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    assert not list(temporary.iterdir())
    recorded = [trace.read(path).main.path for path in trace.find(tmp_path / "traces")]
    assert str(server) in recorded


@pytest.mark.parametrize("verb", [["measure", "--runs", "2"], ["faults", "--allow-warm"]])
def test_what_it_said_last_is_told(verb, frontload, server, tmp_path):
    """If it ends before it is ready, it may have said why."""
    result = frontload(*verb, "--until-file", tmp_path / "none", "--", "sh", "-c",
                       "echo first >&2; echo no such file: x.conf >&2; exit 7", code=None)
    assert result.returncode != 0
    assert "status 7" in result.stderr and "no such file: x.conf" in result.stderr


def test_measure(frontload, server, port, tmp_path):
    """The figures are those of the start; the condition is in the result."""
    frontload("measure", "--runs", "2", "--until-listening", port, "--request", client(port),
              "--json", tmp_path / "result.json", "--", server, "workers", port)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["plan"]["ready"]["listening"] == port
    runs = [run for each in result["results"] for run in each["runs"]]
    assert len(runs) == 4 and {run["ready"] for run in runs} == {"listening"}
    assert all(run["minor_faults"] > 0 for run in runs)
    failed = frontload("measure", "--until-file", tmp_path / "none", "--timeout", "0.3", "--",
                       server, "simple", code=1)
    assert "was not ready in time" in failed.stderr


def test_faults(frontload, server, port, tmp_path):
    """The start goes to the end of the request, which is a phase; nothing of the end is listed."""
    if not shutil.which("perf"):
        pytest.skip("perf is not installed")
    frontload("faults", "--first", "0", "--until-listening", port, "--request", client(port),
              "--json", tmp_path / "faults.json", "--", server, "workers", port)
    recorded = json.loads((tmp_path / "faults.json").read_text())
    assert recorded["sample"]["ready"] == "listening"
    names = [phase["name"] for phase in recorded["phases"]]
    assert names[0] == "exec" and names[-1] == "request"
    last = recorded["phases"][-1]
    assert last["start_ns"] == recorded["sample"]["ready_ns"] < last["end_ns"]
    assert max(recorded["faults"]["time_ns"]) <= recorded["sample"]["wall_ns"]
    # The server and its three workers; the client is none of it, and none of them had ended.
    assert len(recorded["processes"]) == 4
    assert {process["end_ns"] for process in recorded["processes"]} == {None}
    assert is_free(port)


def test_report(frontload, server, port, tmp_path):
    if not shutil.which("perf"):
        pytest.skip("perf is not installed")
    frontload("report", "--json", tmp_path / "report.json", "--until-listening", port, "--request",
              client(port), "--variant", f"one={server}", "--", "{}", "simple", port)
    (variant,) = json.loads((tmp_path / "report.json").read_text())["variants"]
    assert [phase["name"] for phase in variant["phases"]][-1] == "request"
    refused = frontload("report", "--json", "-", "--until-listening", port,
                        tmp_path / "report.json", code=2)
    assert "recorded now" in refused.stderr


def test_record_in_a_terminal(frontload, server, run, tmp_path):
    frontload("record", "-o", tmp_path / "traces", "--tty", "--until-output", "now",
              "--", server, "output", "up")
    names = names_in(tmp_path / "traces", server, run)
    assert "main" in names and "stop" not in names


def test_measure_in_a_terminal(frontload, tmp_path):
    """A program that ends by itself, and needs a terminal to do so."""
    frontload("measure", "--warm", "--runs", "2", "--tty", "--json", tmp_path / "result.json",
              "--", "sh", "-c", "test -t 0")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["plan"]["ready"]["tty"] is True


needs_breakpoints = pytest.mark.skipif(
    not perf.find().breakpoints, reason="this machine has no hardware breakpoints")


@needs_breakpoints
@pytest.mark.parametrize("how", ["simple", "workers", "daemon"])
def test_measure_until_a_function(how, frontload, server, tmp_path):
    """Its first call, also in a process that the program has forked; nothing is left."""
    frontload("measure", "--runs", "2", "--until", "ready", "--json", tmp_path / "result.json",
              "--", server, how)
    result = json.loads((tmp_path / "result.json").read_text())
    runs = [run for each in result["results"] for run in each["runs"]]
    assert len(runs) == 4 and {run["ready"] for run in runs} == {"entered"}


@needs_breakpoints
def test_a_function_that_is_not_entered(frontload, server, tmp_path):
    for function, command, said in (
            ("stop", [server, "simple"], "was not ready in time"),
            ("none", [server, "simple"], "has no function of this name"),
            ("ready", ["sh", "-c", f"{server} simple"], "has no function of this name"),
            ("ready", ["/none"], "not a program")):
        result = frontload("measure", "--runs", "1", "--until", function, "--timeout", "0.5", "--",
                           *command, code=None)
        assert result.returncode and said in result.stderr


@needs_breakpoints
def test_another_debugger_is_there_first(launch, build, run, server):
    """Under strace -f the program cannot be stopped: this is said, and nothing runs on."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    result = run("strace", "-f", "-o", "/dev/null", build / "bin/frontload-exec",
                 "--until-entered=0x1000@0x1000", "--", server, "simple", code=126)
    assert "Operation not permitted" in result.stderr


@needs_breakpoints
def test_faults_until_a_function(frontload, server, tmp_path):
    """With a time-out the program is ended there."""
    frontload("faults", "--first", "0", "--until", "ready", "--timeout", "60", "--json",
              tmp_path / "faults.json", "--", server, "simple")
    assert json.loads((tmp_path / "faults.json").read_text())["sample"]["ready"] == "entered"


def test_options_that_need_an_end(frontload, server):
    for option in (["--request", "true"], ["--timeout", "3"]):
        result = frontload("measure", *option, "--", server, "simple", code=2)
        assert "say when the start is over" in result.stderr


@pytest.fixture
def project(server, tmp_path) -> None:
    """The server, built by Ninja."""
    (tmp_path / "server.c").write_text(SERVER)
    (tmp_path / "build.ninja").write_text(
        "rule cc\n command = gcc -O1 -ffunction-sections -fdata-sections -c $in -o $out\n"
        "rule ld\n command = gcc $in -o $out -pthread\n"
        "build server.o: cc server.c\nbuild server: ld server.o\n")
    server.unlink()
    subprocess.run(["ninja", "-C", tmp_path], check=True, capture_output=True)


@needs_breakpoints
def test_auto_until_a_function(frontload, project, server, tmp_path):
    """It is recorded and measured to there."""
    frontload("auto", "--until", "ready", "--no-data", "--measured-runs", "2", "--min-coverage",
              "50", "--json", tmp_path / "result.json", "--", server, "simple", code=None)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["measured"] and "--until=ready --timeout=60" in str(result["advice"])


def test_auto(frontload, project, server, port, tmp_path):
    """From a build to figures, by itself."""
    frontload("auto", "--until-listening", port, "--request", client(port), "--measured-runs", "2",
              "--min-coverage", "50", "--json", tmp_path / "result.json", "--", server, "simple",
              port, code=None)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["measured"]
    assert any("does not end by itself" in each["why"] for each in result["missing"])
    assert f"--until-listening={port} " in str(result["advice"])
    assert is_free(port)
