"""The program behaves as without the recorder: streams, status, signals, child processes."""

import errno
import os
import signal
import subprocess
from pathlib import Path

import pytest
from recorded import Binary
from traced import PROGRAMS

PROGRAM = r"""
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define DATA __attribute__((aligned(16))) volatile int
    DATA my_common[4], my_parent[4], my_child[4], my_grandchild[4], my_early[4];
    int main(int argc, char **argv) {
      my_early[0] = 1;
      const char *what = argc > 1 ? argv[1] : "";
      if (!strcmp(what, "exit"))
        return atoi(argv[2]);
      if (!strcmp(what, "die"))
        kill(getpid(), atoi(argv[2]));
      if (!strcmp(what, "wait")) {
        puts("ready");
        fflush(stdout);
        pause();
      }
      if (!strcmp(what, "cat")) {
        char line[100];
        while (fgets(line, sizeof line, stdin))
          fputs(line, stdout);
        fputs("problem\n", stderr);
      }
      if (!strcmp(what, "exec"))
        execlp("echo", "echo", "executed", NULL);
      if (!strcmp(what, "fork")) {
        if (fork() == 0) {
          if (fork() == 0) {
            my_grandchild[0] = my_common[0];
            _exit(0);
          }
          my_child[0] = my_common[0];
          wait(NULL);
          _exit(0);
        }
        my_parent[0] = my_common[0];
        wait(NULL);
      }
      if (!strcmp(what, "daemon") && fork() == 0) {
        usleep(100000);
        for (int i = 0; i < 100000; ++i)
          my_child[0] += my_common[0];
        _exit(0);
      }
      return 0;
    }"""


@pytest.fixture
def program(compile):
    return compile(PROGRAM)


def data(program, trace):
    return [name for name in Binary(program).touches(trace) if "+" in name]


def test_streams(program, record, tmp_path):
    """Standard input, output and error are the program's, and nothing else is written to them."""
    (tmp_path / "input").write_text("a\nb\n")
    with open(tmp_path / "input") as stdin:
        recording = record("--", program, "cat", stdin=stdin)
    assert (recording.stdout, recording.stderr) == ("a\nb\n", "problem\n")


@pytest.mark.parametrize("status", [0, 1, 125, 255])
def test_status_is_handed_on(status, program, record):
    """The exit status is the program's."""
    recording = record("--", program, "exit", str(status))
    assert recording.status == status
    assert data(program, recording.trace) == ["my_early+0"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT])
def test_status_of_a_signal(number, program, record):
    """A signal ends the recording as it ends the program; its touches are in the trace."""
    recording = record("--", program, "die", str(int(number)))
    assert recording.status == -number
    assert data(program, recording.trace) == ["my_early+0"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_to_the_recorder(number, program, start, finish):
    """A signal that asks the recorder to end goes to the program; nothing is left behind."""
    process = start("--", program, "wait")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    process.wait(60)  # finish() ends its input, at which the program would go on
    recording = finish(process)
    assert recording.status == -number
    assert data(program, recording.trace) == ["my_early+0"]


def test_interrupt_from_a_terminal(program, start, finish):
    """Ctrl-C, which goes to the whole group, ends the program and so the recording."""
    process = start("--", program, "wait", start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    recording = finish(process)
    assert recording.status == -signal.SIGINT
    assert data(program, recording.trace) == ["my_early+0"]


def test_fork(program, record):
    """Each process that is forked has its own trace, with what it touches from there on."""
    recording = record("--", program, "fork")
    assert (recording.status, recording.stderr) == (0, "")
    assert [data(program, trace) for trace in recording.traces] == [
        ["my_early+0", "my_common+0", "my_parent+0"], ["my_common+0", "my_child+0"],
        ["my_common+0", "my_grandchild+0"]]
    assert len({trace.pid for trace in recording.traces}) == 3


def test_daemon(program, record):
    """A child that outlives the program is recorded to its end."""
    recording = record("--", program, "daemon")
    assert [data(program, trace) for trace in recording.traces] == [
        ["my_early+0"], ["my_common+0", "my_child+0"]]


def test_exec(program, record):
    """What was touched before an exec is recorded, and what the new program touches, too."""
    recording = record("--", program, "exec")
    assert (recording.status, recording.stdout) == (0, "executed\n")
    by_name = {Path(trace.main.path).name: trace for trace in recording.traces}
    assert by_name.keys() == {"program", "echo"}
    assert data(program, by_name["program"]) == ["my_early+0"]
    assert len(by_name["echo"].events) > 100


def test_exec_by_a_thread(compile, record):
    """So it is when not the first thread executes another program, which has the process id."""
    program = compile((PROGRAMS / "processes.c").read_text(), "-pthread", name="processes")
    recording = record("--", program, "thread-exec")
    assert (recording.status, recording.stderr) == (0, "")
    assert len(recording.files) == 2 and len({trace.pid for trace in recording.traces}) == 1
    functions = {"main", "in_child", "leaf"}
    addresses = {address: name for name, (address, *_) in Binary(program).symbols.items()
                 if name in functions}
    assert sorted([addresses[a] for a in trace.addresses() if a in addresses]
                  for trace in recording.traces) == [["main", "in_child"], ["main", "leaf"]]


@pytest.mark.parametrize("way", ["env", "shell", "script"])
def test_started_by_another(way, program, record, tmp_path):
    """A program that something else starts is recorded."""
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nX=1 {program} exit 3\n")
    script.chmod(0o755)
    command = {"env": ["env", "X=1", program, "exit", "3"],
               "shell": ["sh", "-c", f"{program} exit 3; exit $?"], "script": [script]}[way]
    recording = record("--", *command)
    assert recording.status == 3
    (trace,) = [t for t in recording.traces if t.main.path == str(program)]
    assert data(program, trace) == ["my_early+0"]


THIRTY_TWO = ".globl _start\n_start: mov $1, %eax\nmov $5, %ebx\nint $0x80\n"


@pytest.mark.parametrize("kind", ["set-user-id", "32 bits"])
def test_what_valgrind_cannot_run(kind, compile, record, run, tmp_path):
    """It is executed as ever; only its start is not recorded."""
    other = tmp_path / "other"
    if kind == "32 bits":
        (tmp_path / "other.s").write_text(THIRTY_TWO)
        run("as", "--32", "-o", tmp_path / "other.o", tmp_path / "other.s")
        run("ld", "-m", "elf_i386", "-o", other, tmp_path / "other.o")
        try:
            subprocess.run([other], check=False)
        except OSError:
            pytest.skip("this kernel runs no 32-bit programs")
    else:
        compile("int main(void) { return 5; }", name="other")
        other.chmod(0o4755)
    program = compile("""
        #include <unistd.h>
        int main(int c, char **v) { (void)c; execl(v[1], v[1], (char *)0); return 1; }""")
    recording = record("--", program, other)
    assert (recording.status, recording.stderr) == (5, "")
    assert [trace.main.path for trace in recording.traces] == [str(program)]


def test_an_exec_that_fails(compile, touches):
    """The recording goes on."""
    assert touches(compile("""
        #include <unistd.h>
        __attribute__((aligned(16))) volatile int my_data[4];
        int main(void) {
          execl("/no/such/program", "program", (char *)0);
          my_data[0] = 1;
          return 0;
        }""")) == ["main", "my_data+0"]


TRIES = r"""
    #include <errno.h>
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((aligned(16))) volatile int my_data[4];
    static volatile sig_atomic_t signals;
    static void count(int number) { (void)number; ++signals; }
    int main(int argc, char **argv) {
      signal(SIGCHLD, argc > 2 ? SIG_IGN : count);
      execl(argv[1], argv[1], (char *)0);
      printf("%d ", errno);
      int children = waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD ? 0 : 1;
      printf("%d %d", children, (int)signals);
      my_data[0] = 1;
      return 6;
    }"""


def _patched(offset: int, contents: bytes):
    return lambda program: program[:offset] + contents + program[offset + len(contents):]


REFUSED = {
    "for another machine": _patched(18, b"\x16\0"),  # s390
    "no kind of program": _patched(16, b"\1\0"),
    "no program headers": _patched(56, b"\0\0"),
    "program headers of another size": _patched(54, b"\7\0"),
    "program headers far away": _patched(32, b"\0\0\0\0\0\1"),
    "cut short": lambda program: program[:100],
    "its loader is not there": lambda program: program.replace(b"/lib", b"/no-", 1),
    "its loader is none": lambda program: program.replace(b"/lib", b"/dev/null\0", 1),
    "a script for nothing": lambda program: b"#!/no/such/interpreter\n",
    "a script for a folder's file": lambda program: b"#!/etc/passwd/x\n"}


@pytest.mark.parametrize("is_ignored", [False, True], ids=["counted", "ignored"])
@pytest.mark.parametrize("kind", REFUSED)
def test_a_file_that_the_kernel_refuses(kind, is_ignored, compile, record, tmp_path):
    """The program gets the kernel's error, no child and no signal, and the recording goes on."""
    program, refused = compile(TRIES), tmp_path / "refused"
    refused.write_bytes(REFUSED[kind](program.read_bytes()))
    refused.chmod(0o755)
    command = [program, refused, *["ignored"] * is_ignored]
    alone = subprocess.run(command, capture_output=True, text=True, check=False)
    assert alone.returncode == 6 and alone.stdout.endswith(" 0 0")
    recording = record("--", *command)
    assert (recording.status, recording.stdout, recording.stderr) == (6, alone.stdout, "")
    assert "my_data+0" in data(program, recording.trace)


@pytest.mark.parametrize("way", ["a command", "an interpreter"])
def test_a_pipe_that_nobody_writes_to(way, compile, record, tmp_path):
    """What is no regular file is not executed, and nobody waits until there is something in it."""
    program, pipe, script = compile(TRIES), tmp_path / "pipe", tmp_path / "script"
    os.mkfifo(pipe)
    pipe.chmod(0o755)
    script.write_text(f"#!{pipe}\n")
    script.chmod(0o755)
    recording = record("--", program, pipe if way == "a command" else script)
    assert (recording.status, recording.stdout, recording.stderr) == (6, f"{errno.EACCES} 0 0", "")
    assert "my_data+0" in data(program, recording.trace)


@pytest.mark.parametrize("offset", [4, 5], ids=["class", "byte order"])
def test_a_file_that_the_kernel_may_execute(offset, compile, record, tmp_path):
    """What the headers say that kernels do not look at is left to the kernel; a file that it
    executes is executed once."""
    program, other = compile(TRIES), tmp_path / "other"
    leaf = compile('#include <unistd.h>\nint main(void) { return write(1, "x", 1) - 1; }',
                   name="leaf")
    other.write_bytes(_patched(offset, b"\0")(leaf.read_bytes()))
    other.chmod(0o755)
    alone = subprocess.run([program, other], capture_output=True, text=True, check=False)
    recording = record("--", program, other)
    assert (recording.status, recording.stdout) == (alone.returncode, alone.stdout)


def test_more_arguments_than_the_kernel_takes(compile, record, run):
    """Valgrind ends the program, as it does with any tool: it cannot go back by then."""
    program = compile("""
        #include <string.h>
        #include <unistd.h>
        static char argument[200000];
        int main(int argc, char **argv) {
          (void)argv;
          memset(argument, 'x', sizeof argument - 1);
          execl("/bin/true", "true", argument, (char *)0);
          return argc + 5;
        }""")
    run(program, code=6)
    stock = run("valgrind", "--quiet", "--tool=none", "--trace-children=yes", program, code=None)
    recording = record("--", program)
    assert recording.status == stock.returncode == 101
    assert "can't recover from execve() failing" in recording.stderr


def test_threads(compile, record):
    """Each touch once, with the thread that did it."""
    program = compile("""
        #include <pthread.h>
        #include <stddef.h>
        __attribute__((aligned(16))) volatile int my_data[5 * 4], my_common[4];
        static void *my_thread(void *number) {
          my_data[(size_t)number * 4] = 1;
          for (int i = 0; i < 10000; ++i)
            my_common[0] += 1;
          return NULL;
        }
        int main(void) {
          pthread_t threads[4];
          for (size_t i = 0; i < 4; ++i)
            pthread_create(&threads[i], NULL, my_thread, (void *)(i + 1));
          for (size_t i = 0; i < 4; ++i)
            pthread_join(threads[i], NULL);
          return 0;
        }""", "-pthread")
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (0, "")
    trace, binary = recording.trace, Binary(program)
    assert sorted(data(program, trace)) == ["my_common+0", "my_data+16", "my_data+32",
                                            "my_data+48", "my_data+64"]
    thread_of = {address: thread for _, address, thread in trace.events}
    threads = {thread_of[binary["my_data"] + 16 * i] for i in range(1, 5)}
    assert len(threads) == 4 and trace.pid not in threads


ENDING = """
    #include <stdio.h>
    #include <unistd.h>
    __attribute__((aligned(16))) volatile int my_early[4], my_late[4];
    __attribute__((noinline)) void my_ready(void) { __asm__ volatile("" : : : "memory"); }
    int main(int argc, char **argv) {
      (void)argv;
      my_early[0] = 1;
      if (argc > 1)
        sleep(2);
      else
        my_ready();
      my_late[0] = 1;
      puts("goes on");
      return 0;
    }"""


@pytest.mark.parametrize("how", ["until", "for"])
def test_the_end_of_startup(how, compile, record):
    """The recording ends there, and says so; the program goes on."""
    program = compile(ENDING)
    recording = (record("--until=my_ready", "--", program) if how == "until" else
                 record("--for=1", "--", program, "slowly"))
    assert (recording.status, recording.stdout, recording.stderr) == (0, "goes on\n", "")
    assert data(program, recording.trace) == ["my_early+0"]
    assert recording.trace.startup_done


@pytest.mark.parametrize(("symbol", "said"), [
    ("my_late_function", "no recorded module has a function of this name"),
    ("my_ready", "the program ended before it was called")])
def test_an_end_that_does_not_come(symbol, said, compile, record):
    """It is said; what was recorded stays."""
    program = compile(ENDING)
    recording = record(f"--until={symbol}", "--", program, *["slowly"] * (symbol == "my_ready"))
    assert recording.status == 0
    assert recording.stderr == f"frontload-valgrind: warning: --until={symbol}: {said}\n"
    assert not recording.trace.startup_done
    assert data(program, recording.trace) == ["my_early+0", "my_late+0"]


def test_argument_zero(compile, record, tmp_path):
    """A program without debug info is called as it was given, also when it is found in PATH."""
    compile('#include <stdio.h>\nint main(int c, char **v) { (void)c; puts(v[0]); return 0; }')
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert record("--", "program", env={"PATH": path}).stdout == "program\n"
    assert record("--", "./program", cwd=tmp_path).stdout == "./program\n"


ROLES = Path(__file__).parent.parent / "tracer/programs/roles.c"


def roles(recording, program):
    """Role and own functions of each process, sorted."""
    binary = Binary(program)
    return sorted((trace.role, *(name for name in binary.touches(trace) if name != "main"))
                  for trace in recording.of(program))


def test_role_goes_to_children(compile, record):
    """A forked child has the role of its parent, an executed one what its environment says, and
    where that says nothing, the role of the command."""
    program = compile(ROLES.read_text(), name="roles")
    recording = record("--role=browser", "--", program, env={"FRONTLOAD_ROLE": "shell"})
    assert (recording.status, recording.stderr) == (0, "")
    assert {("browser",), ("browser", "my_leaf"), ("browser", "my_worker"),
            ("renderer", "my_leaf")} == set(roles(recording, program)), roles(recording, program)


def test_bad_role(compile, record):
    """What cannot be a role is refused on the command line; in the environment of a child it is
    told, and the child has the role of the command."""
    program = compile(ROLES.read_text(), name="roles")
    refused = record("--role=two words", "--", program)
    assert (refused.status, refused.files) == (2, [])
    recording = record("--role=browser", "--", program, "two words")
    assert {role for role, *_ in roles(recording, program)} == {"browser"}
    assert recording.stderr.count("warning: FRONTLOAD_ROLE: not a role") == 1


def test_role_of_the_environment(compile, record):
    """Without --role the environment says it, or there is none."""
    program = compile(ROLES.read_text(), name="roles")
    assert record("--", program, "leaf", env={"FRONTLOAD_ROLE": "shell"}).trace.role == "shell"


def test_a_search_through_path_tries_nothing(compile, recorder, tmp_path):
    """A command that is not where it was looked for costs no process: a shell looks for each."""
    program = compile(r"""
        #include <stdlib.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
          setenv("PATH", "/no-1:/no-2:/no-3:/no-4:/no-5", 1);
          if (argc > 1)
            execlp("no-such-program", "no-such-program", NULL);
          return 6;
        }""")

    def processes(*arguments):
        calls = tmp_path / "calls"
        done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=clone", "-o", calls, recorder,
                               "-o", tmp_path / "%m.%p.fltrace", "--", program, *arguments],
                              check=False)
        assert done.returncode == 6
        return calls.read_text().count("clone(")

    assert processes("searches") == processes()
