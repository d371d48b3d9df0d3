"""Programs that do not end: one notion of ready, in frontload-exec and in the verbs that start
programs. Whatever comes, nothing of the program is left."""

import json
import os
import re
import signal
import socket
import subprocess
import time

import pytest
from abilities import needs
from compiled import compile_to
from frontload.profile import format as profile
from frontload.profile import trace

SERVER = r"""
    #include <arpa/inet.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/socket.h>
    #include <unistd.h>
    __attribute__((aligned(16))) volatile int at_start[4], at_request[4], at_end[4];
    __attribute__((noinline)) void ready(void) { __asm__ volatile("" ::: "memory"); }
    __attribute__((noinline)) void answer(int client) {
      at_request[0] = 1;
      if (write(client, "hello\n", 6) < 0 || close(client))
        abort();
    }
    __attribute__((noinline)) void stop(int number) {
      at_end[0] = number;
      _exit(3);
    }
    static void serve(int port) {
      int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);
      struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
      setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
      if (bind(server, (void *)&address, sizeof address) || listen(server, 5))
        exit(4);
      puts("listens");
      for (;;)
        answer(accept(server, NULL, NULL));
    }
    int main(int argc, char **argv) {
      const char *how = argv[1], *what = argc > 2 ? argv[2] : "";
      at_start[0] = 1;
      setlinebuf(stdout);
      signal(SIGTERM, strcmp(how, "stubborn") ? stop : SIG_IGN);
      if (!strcmp(how, "daemon") && (fork() || (setsid(), fork())))
        return 0;
      if (!strcmp(how, "workers"))
        for (int i = 0; i < 3; ++i)
          if (fork() == 0)
            for (;;)
              pause();
      if (!strcmp(how, "output"))
        printf("first\nnow %s", what), fflush(stdout);
      if (!strcmp(how, "error") || !strcmp(how, "end"))
        fprintf(stderr, "now %s", what);
      ready();
      if (atoi(what))
        serve(atoi(what));
      if (!strcmp(how, "end"))
        return 7;
      for (;;)
        pause();
    }"""
NEVER = "--until-file=/none"
NOTIFY = """import os, signal, socket
address = os.environ["NOTIFY_SOCKET"].replace("@", "\\0", 1)
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"STATUS=up\\nREADY=1\\n", address)
signal.pause()"""


@pytest.fixture(autouse=True)
def server(tmp_path):
    """No test leaves a process of the server, not even one that has left its group."""
    path = compile_to(tmp_path / "server", "gcc", "-O1", "-falign-functions=16", "server.c",
                      sources={"server.c": SERVER})
    yield path
    left = subprocess.run(["find", "/proc", "-maxdepth", "2", "-name", "exe", "-lname",
                           f"{path}*"], capture_output=True, text=True)
    assert left.stdout == ""


@pytest.fixture
def port():
    """A port that nobody else is given: a socket that does not listen has it, so the server may
    listen there. It does not when the test is over."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield str(held.getsockname()[1])
        with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
            probe.connect(held.getsockname())


@pytest.fixture
def listening(port) -> list[str]:
    """What a verb is told of a server: when it is ready, and what it is asked then."""
    return [f"--until-listening={port}", "--request=python3 -c 'import socket; assert "
            f"socket.create_connection((\"127.0.0.1\", {port})).recv(9) == b\"hello\\n\"'"]


@pytest.mark.parametrize(("how", "address"), [("daemon", "127.0.0.1:"), ("workers", "")])
def test_listening(how, address, launch, server, port):
    """Also of a daemon, or with workers; its status is no failure."""
    line = launch(f"--until-listening={address}{port}", command=[server, how, port])
    assert (line["ready"], line["exit_status"], line["signal"]) == ("listening", 0, None)
    assert line["minor_faults"] > 0 and line["max_rss_kib"] > 0 and line["watching_us"] > 0


def test_another_that_listens_is_not_meant(launch, server, port):
    """Neither the server at another address, nor another process at this port."""
    launch(f"--until-listening=127.0.0.2:{port}", "--timeout=0.3",
           command=[server, "simple", port], code=124)
    with socket.create_server(("127.0.0.1", 0)) as other:
        line = launch(f"--until-listening={other.getsockname()[1]}", "--timeout=0.3",
                      command=[server, "simple"], code=124)
    assert "ready" not in line and line["exit_status"] == 124


@pytest.mark.parametrize(("how", "said"), [("output", ("first\nnow ready", "")),
                                           ("error", ("", "now ready"))])
def test_output(how, said, launch, server):
    """On both streams, which are handed on; also in the midst of a line."""
    line = launch("--until-output=now ready", command=[server, how, "ready"])
    assert line["ready"] == "output" and (launch.result.stdout, launch.result.stderr) == said


def test_much_output_before(launch):
    """A text that comes in pieces, behind more than a pipe holds, is found; all is handed on."""
    script = "head -c 3000000 /dev/zero | tr '\\0' 'x'; printf rea; sleep 0.1; printf dy; sleep 999"
    assert launch("--until-output=ready", command=["sh", "-c", script])["ready"] == "output"
    assert launch.result.stdout == "x" * 3000000 + "ready"


@pytest.mark.parametrize(("stream", "how"), [("stdout", "output"), ("stderr", "error")])
def test_nobody_reads_what_it_writes(stream, how, launch, server):
    """It is measured to its end, and ended in time, as if somebody did."""
    reading, writing = os.pipe()
    os.close(reading)
    line = launch("--until-output=never", "--timeout=1", command=[server, how, "up"], code=124,
                  capture_output=False, **{stream: writing})
    os.close(writing)
    assert line["exit_status"] == 124


def test_a_line_that_cannot_be_written(build, run, server):
    """Where there is no room for what was measured, the program is ended all the same."""
    result = run(build / "bin/frontload-exec", "--output=/dev/full", "--for=0.1", "--", server,
                 "workers", code=2)
    assert result.stderr == ("frontload-exec: error: the result: cannot be written: No space left "
                             "on device\n")


def test_what_a_request_inherits(launch, server):
    """A write that nobody reads ends the program, and the request, as without us."""
    script = f"grep SigIgn /proc/self/status; exec {server} output ready"
    launch("--until-output=ready", "--request=grep SigIgn /proc/self/status",
           command=["sh", "-c", script])
    sets = re.findall(r"SigIgn:\s(\w+)", launch.result.stdout)
    assert len(sets) == 2 and not any(int(each, 16) & 1 << signal.SIGPIPE - 1 for each in sets)


def test_a_file_a_message_or_time(launch, server, tmp_path):
    made = tmp_path / "made"
    script = f"touch {made}; exec {server} simple"
    assert launch(f"--until-file={made}", command=["sh", "-c", script])["ready"] == "file"
    assert launch("--until-notify", command=["python3", "-c", NOTIFY])["ready"] == "notify"
    line = launch("--for=0.2", command=[server, "simple"])
    assert line["ready"] == "for" and line["wall_ns"] >= 200_000_000


def test_idle(launch, server):
    """Once it no longer runs; the time in which that was found out is none of the start."""
    script = f"for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.03; done; exec {server} simple"
    began = time.monotonic_ns()
    line = launch("--until-idle=1000", command=["sh", "-c", script])
    assert line["ready"] == "idle" and line["wall_ns"] == line["ready_ns"] >= 300_000_000
    assert time.monotonic_ns() - began - line["wall_ns"] >= 1_000_000_000


def test_request(launch, server, port, listening):
    """It counts as part of the start; what it writes is its own."""
    line = launch(*listening[:-1], listening[-1] + "; echo asked", command=[server, "simple", port])
    assert line["ready"] == "listening"
    assert sorted(launch.result.stdout.split()) == ["asked", "listens"]
    launch(listening[0], "--request=exit 9", command=[server, "simple", port], code=1)
    assert "exit 9: the request failed" in launch.result.stderr
    # The time-out is for all of the start; nobody waits for ever, and nothing of it is left.
    line = launch(listening[0], "--request=exec sleep 999", "--timeout=0.5",
                  command=[server, "simple", port], code=124)
    assert "ready" not in line and "was not ready in time" in launch.result.stderr


def test_what_is_written_during_a_request_is_handed_on(launch, tmp_path):
    """More than a pipe holds: the program is not stopped by its own output."""
    for name in ("asked", "answered"):
        os.mkfifo(tmp_path / name)
    script = ("echo up; cat asked; head -c 300000 /dev/zero | tr '\\0' x; echo >answered; "
              "sleep 999")
    launch("--until-output=up", "--request=echo >asked; cat answered >/dev/null",
           command=["sh", "-c", script], cwd=tmp_path)
    assert launch.result.stdout == "up\n\n" + "x" * 300000


def test_terminal(launch):
    """Its own, with a size and a kind; texts there are found, and who waits for a key is ended."""
    command = ["sh", "-c", "stty size; tty; test -t 2 && echo $TERM >/dev/tty; exit 7"]
    line = launch("--tty", command=command, code=7)
    size, name, kind = launch.result.stdout.splitlines()[:3]
    assert size == "24 80" and name.startswith("/dev/pts/") and kind
    assert line["exit_status"] == 7 and "ready" not in line and line["minor_faults"] > 0
    line = launch("--tty", "--until-output=name: ",
                  command=["sh", "-c", "printf 'name: '; read name; echo never"])
    assert line["ready"] == "output" and launch.result.stdout == "name: "


def test_it_ends_before_it_is_ready(launch, server):
    """Its status is told, and is ours."""
    line = launch(NEVER, command=[server, "end"], code=7)
    assert "ready" not in line and line["exit_status"] == 7
    assert "server: ended before it was ready, with status 7" in launch.result.stderr
    launch(NEVER, command=["true"], code=1)


@pytest.mark.parametrize("how", ["daemon", "stubborn"])
def test_it_is_never_ready(how, launch, server, port):
    """Its whole tree is ended, also what left its group or ignores SIGTERM; no port stays taken."""
    line = launch(NEVER, "--timeout=1", command=[server, how, port], code=124)
    assert "ready" not in line and "server: was not ready in time" in launch.result.stderr


@pytest.mark.parametrize(("options", "said"), [
    (["--until-listening=x"], "x is not [ADDRESS:]PORT"),
    (["--until-listening=65536"], "is not"), (["--until-listening=1.2.3:80"], "is not"),
    (["--until-output="], "is empty or too long"), (["--timeout=0"], "not a number of seconds"),
    (["--for=x"], "not a number of seconds"), (["--request=true"], "only with --until-...")])
def test_wrong_use(options, said, build, run):
    result = run(build / "bin" / "frontload-exec", *options, "--", "true", code=2)
    assert said in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing(number, build, spawn, server, port):
    """Whoever is asked to end meanwhile ends the program, too."""
    process = spawn(build / "bin" / "frontload-exec", NEVER, "--", server, "workers", port)
    assert process.stdout.readline() == "listens\n"
    process.send_signal(number)
    assert process.wait() == 128 + number


RECORDERS = pytest.mark.parametrize("data", [
    pytest.param([], id="code", marks=needs("ptrace")),
    pytest.param(["--data"], id="data", marks=needs("valgrind"))])


@RECORDERS
def test_record(data, cli, tools, server, port, listening, tmp_path):
    """What the start and the request touch is recorded, and nothing of the end; the status is 0."""
    traces = tmp_path / "traces"
    cli("record", *data, "-o", traces, *listening, "--", server, "workers", port)
    # Its workers have traces, and are no runs of their own.
    cli("profile", traces, "--program", server, "-o", tmp_path / "profile")
    found = profile.read(tmp_path / "profile")
    names = {name.name for name, _ in found.in_order()}
    assert found.runs == 1 and {b"main", b"ready", b"answer"} <= names and b"stop" not in names
    if data:
        assert {b"at_start", b"at_request"} <= names and b"at_end" not in names


@pytest.mark.parametrize("until", [["--until=ready", "--timeout=900"],
                                   ["--tty", "--until-output=now"]], ids=["function", "terminal"])
@RECORDERS
def test_record_until(data, until, cli, tools, server, tmp_path):
    """The program is ended when it has entered a function, or in a terminal of its own."""
    cli("record", *data, *until, "-o", tmp_path, "--", server, "output", "up")
    assert str(server) in [trace.read(path).main.path for path in trace.find(tmp_path)]


@RECORDERS
def test_record_what_does_not_become_ready(data, cli, tools, server, tmp_path):
    cli("record", *data, "-o", tmp_path / "traces", NEVER, "--timeout=0.5", "--", server, "simple",
        code=124)


@pytest.mark.parametrize("until", [[], [NEVER, "--timeout=900"]], ids=["end", "file"])
@RECORDERS
def test_an_interrupted_recording(data, until, build, server, spawn, tmp_path):
    """Ctrl-C ends all; what was recorded stays, and no temporary file does."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = spawn(build / "bin/frontload", "record", *data, "-o", tmp_path / "traces", *until,
                    "--", server, "output", "up", start_new_session=True,
                    env={**os.environ, "TMPDIR": str(temporary)},
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline() == "first\n"  # the program runs
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 128 + signal.SIGINT
    assert not list(temporary.iterdir())
    assert str(server) in [trace.read(path).main.path for path in trace.find(tmp_path / "traces")]


@pytest.mark.parametrize("verb", [
    ["measure", "--warm", "--runs=2"],
    pytest.param(["faults", "--as-it-is"], marks=needs("perf", "hardware-breakpoints"))],
    ids=["measure", "faults"])
def test_what_it_said_last_is_told(verb, cli, tools, server):
    """If it ends before it is ready, it may have said why."""
    said = cli(*verb, NEVER, "--", server, "end", "no such file", code=1).err
    assert "status 7" in said and "now no such file" in said


def test_measure(cli, tools, server, port, listening):
    """The figures are those of the start; the condition is in the result."""
    result = json.loads(cli("measure", "--warm", "--runs=1", "--json=-", *listening, "--", server,
                            "workers", port).out)
    (run,) = result["results"][0]["runs"]
    assert result["plan"]["ready"]["listening"] == port
    assert run["ready"] == "listening" and run["minor_faults"] > 0
    for option in ("--request=true", "--timeout=3"):
        assert "say when the start is over" in cli("measure", option, "--", server, "simple",
                                                   code=2).err


@needs("perf", "hardware-breakpoints")
def test_faults(cli, tools, server, port, listening, tmp_path):
    """The start goes to the end of the request, which is a phase, or to a function; nothing of the
    end is listed."""
    def recorded(*options) -> dict:
        cli("faults", "--first=0", "--as-it-is", f"--json={tmp_path}/faults.json", *options, "--",
            server, "workers", port)
        return json.loads((tmp_path / "faults.json").read_text())

    assert recorded("--until=ready", "--timeout=900")["sample"]["ready"] == "entered"
    found = recorded(*listening)
    assert found["sample"]["ready"] == "listening"
    names = [phase["name"] for phase in found["phases"]]
    assert names[0] == "exec" and names[-1] == "request"
    last = found["phases"][-1]
    assert last["start_ns"] == found["sample"]["ready_ns"] < last["end_ns"]
    assert max(found["faults"]["time_ns"]) <= found["sample"]["wall_ns"]
    # The server and its three workers; the client is none of it, and none of them had ended.
    assert [process["end_ns"] for process in found["processes"]] == [None] * 4


@needs("perf", "hardware-breakpoints", "tmp-on-disk")
def test_report(cli, tools, server, port, listening, tmp_path):
    """The same of each variant."""
    file = tmp_path / "report.json"
    cli("report", "--json", file, *listening, f"--variant=one={server}", "--", "{}", "simple", port)
    assert json.loads(file.read_text())["variants"][0]["phases"][-1]["name"] == "request"
    assert "recorded now" in cli("report", "--json=-", *listening, file, code=2).err


@needs("hardware-breakpoints")
@pytest.mark.parametrize("how", ["workers", "daemon"])
def test_measure_until_a_function(how, cli, tools, server):
    """Its first call, also in a process that the program has forked; nothing is left."""
    said = cli("measure", "--warm", "--runs=1", "--json=-", "--until=ready", "--", server, how).out
    assert json.loads(said)["results"][0]["runs"][0]["ready"] == "entered"


@needs("hardware-breakpoints")
@pytest.mark.parametrize(("function", "program", "said"), [
    ("stop", "{}", "was not ready in time"), ("none", "{}", "has no function of this name"),
    ("ready", "/none", "not a program")])
def test_a_function_that_is_not_entered(function, program, said, cli, tools, server):
    result = cli("measure", "--warm", "--runs=1", f"--until={function}", "--timeout=0.5", "--",
                 program.format(server), "simple", code=None)
    assert result.code and said in result.err


@needs("hardware-breakpoints", "strace")
def test_another_debugger_is_there_first(build, run, server):
    """Under strace -f the program cannot be stopped: this is said, and nothing runs on."""
    result = run("strace", "-f", "-o", "/dev/null", build / "bin/frontload-exec",
                 "--until-entered=0x1000@0x1000", "--", server, "simple", code=126)
    assert "Operation not permitted" in result.stderr


@needs("ptrace", "tmp-on-disk")
def test_auto(cli, tools, server, port, listening, tmp_path):
    """From a build to figures, by itself; the program is recorded and measured to there."""
    (tmp_path / "build.ninja").write_text(
        "rule cc\n command = gcc -O1 -ffunction-sections -fdata-sections -c $in -o $out\n"
        "rule ld\n command = gcc $in -o $out\n"
        "build server.o: cc server.c\nbuild server: ld server.o\n")
    server.unlink()
    subprocess.run(["ninja", "-C", tmp_path], check=True, capture_output=True)
    file = tmp_path / "result.json"
    cli("auto", "--runs=2", "--min-coverage=50", "--no-data", f"--json={file}",
        *listening, "--", server, "simple", port, code=None)
    result = json.loads(file.read_text())
    assert result["measured"] and f"--until-listening={port} " in str(result["advice"])
    assert any("does not end by itself" in each["why"] for each in result["missing"])
