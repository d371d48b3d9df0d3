"""Standard descriptors that are closed, and files of the program that take their numbers: these are
the program's, and nothing else is in them. A standard error output that takes nothing."""

import os
import resource
from functools import partial
from subprocess import DEVNULL

import pytest
from trace_decoder import VALGRIND, decode

WRITES = r"""
    int main(int argc, char **argv) {
      const char *how = argc > 2 ? argv[2] : "";
      if (!strcmp(how, "close"))
        close(2);
      if (!strcmp(how, "close and exec")) {
        for (int i = 0; i < 3; ++i)
          close(i);
        execl(argv[0], argv[0], argv[1], (char *)0);
        return 9;
      }
      for (int i = 0; i < 3; ++i) {
        char name[4096];
        snprintf(name, sizeof name, "%s/file%d", argv[1], i);
        if (*how && i < 2)
          continue;
        if (open(name, O_CREAT | O_EXCL | O_WRONLY, 0600) != i)
          return 10 + i;
        if (write(i, "mine\n", 5) != 5)
          return 20 + i;
      }
      int status;
      if (fork() == 0)
        _exit(7);
      return wait(&status) < 0 || !WIFEXITED(status) ? 8 : WEXITSTATUS(status);
    }"""


def close_all():
    for descriptor in (0, 1, 2):
        os.close(descriptor)


NOT_LOADED = "frontload-valgrind: warning: --module=libnone: the program did not load it\n"


# Traces are those of the program and its child, and of what it was before the exec.
@pytest.mark.parametrize(("how", "traces", "numbers", "said"), [
    ("begins without", 2, (0, 1, 2), ""), ("close and exec", 3, (0, 1, 2), ""),
    ("close", 2, (2,), NOT_LOADED)])
def test_without_standard_descriptors(how, traces, numbers, said, compile, record, tmp_path):
    """A program that begins without them gets their numbers for its files. A warning goes to the
    standard error output that the program began with, or else nowhere."""
    folder, begins = tmp_path / "files", how == "begins without"
    folder.mkdir()
    recording = record("--module=libnone", "--", compile(WRITES), folder,
                       *[] if begins else [how], preexec_fn=close_all if begins else None)
    assert (recording.status, recording.stdout, recording.stderr) == (7, "", said)
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        f"file{number}": "mine\n" for number in numbers}
    assert len(recording.traces) == traces


@pytest.fixture
def broken(tmp_path):
    """broken(way): a descriptor to which nothing can be written."""
    opened = []

    def broken(way):
        if way == "pipe":
            reading, writing = os.pipe()
            os.close(reading)
        elif way == "limit":
            (tmp_path / "log").write_bytes(bytes(LIMIT))
            writing = os.open(tmp_path / "log", os.O_WRONLY | os.O_APPEND)
        else:
            writing = os.open("/dev/full", os.O_WRONLY)
        opened.append(writing)
        return writing

    yield broken
    for descriptor in opened:
        os.close(descriptor)


LIMIT = 8000
limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
# Signals reach a program when it makes a system call that may wait.
WAITS = """
    volatile int my_data[4];
    int main(void) {
      my_data[0] = 1;
      usleep(1000);
      return 7;
    }"""


TOO_MANY_ARGUMENTS = """
    static char argument[200000];
    int main(void) {
      memset(argument, 'x', sizeof argument - 1);
      execl("/bin/true", "true", argument, (char *)0);
      return 7;
    }"""


@pytest.mark.parametrize("message", ["a place that is gone", "a bad role", "a module", "no exec"])
@pytest.mark.parametrize("way", ["pipe", "limit", "full"])
def test_broken_stderr(way, message, broken, compile, record, tmp_path):
    """Nobody reads what is said, whose reader has gone, or whose file or disk takes no more: the
    program ends with its own status, and not by a signal that it has not caused. So it is with what
    Valgrind itself says, which cannot go back when the kernel finds too many arguments."""
    source, status = (TOO_MANY_ARGUMENTS, 101) if message == "no exec" else (WAITS, 7)
    options = {"a place that is gone": ["-o", tmp_path / "none-%p/x"],
               "a module": ["--module=libnone"]}.get(message, [])
    recording = record(*options, "--", compile(source), stdout=DEVNULL, stderr=broken(way),
                       env={"FRONTLOAD_ROLE": "two words"} if message == "a bad role" else {},
                       preexec_fn=limited if way == "limit" else None)
    assert recording.status == status
    assert len(recording.files) == (message != "a place that is gone")


@pytest.mark.parametrize("has_own", [False, True], ids=["none", "its own"])
def test_signals_that_wait(has_own, broken, compile, record, tmp_path):
    """A program that blocks SIGPIPE finds it only if it has caused it itself, whatever was
    said meanwhile."""
    program = compile("""
        DATA my_data[1 << 12];
        static volatile int count = 5;
        static void handler(int number) { (void)number; ++count; }
        int main(int argc, char **argv) {
          (void)argv;
          sigset_t pipe, waiting;
          signal(SIGPIPE, handler);
          sigemptyset(&pipe);
          sigaddset(&pipe, SIGPIPE);
          sigprocmask(SIG_BLOCK, &pipe, NULL);
          if (argc > 1)
            raise(SIGPIPE);
          for (int i = 0; i < 1 << 12; i += 4)
            my_data[i] = 1;
          sigpending(&waiting);
          if (sigismember(&waiting, SIGPIPE) != argc - 1)
            return 1;
          sigprocmask(SIG_UNBLOCK, &pipe, NULL);
          return count;
        }""")
    recording = record("-o", tmp_path / "traces/short", "--", program, *["raise"] * has_own,
                       stdout=DEVNULL, stderr=broken("pipe"), preexec_fn=limited)
    assert recording.status == 5 + has_own
    assert decode(tmp_path / "traces/short", VALGRIND).dropped > 0
