"""Standard descriptors that are closed, and files of the program that take their numbers: these are
the program's, and nothing else is in them. A standard error output that takes nothing."""

import os
import resource
from functools import partial

import pytest
from trace_decoder import VALGRIND, decode

WRITES = r"""
    #include <fcntl.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
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


@pytest.fixture
def files(tmp_path):
    """files(): what is in the files that the program has made."""
    folder = tmp_path / "files"
    folder.mkdir()
    return lambda: {file.name: file.read_text() for file in folder.iterdir()}


def close_all():
    for descriptor in (0, 1, 2):
        os.close(descriptor)


MINE = {f"file{number}": "mine\n" for number in range(3)}


@pytest.mark.parametrize("how", ["begins without", "executed without"])
def test_without_standard_descriptors(how, files, compile, record, tmp_path):
    """A program that begins without them gets their numbers for its files; a warning, which could
    be written nowhere else, is not written."""
    program = compile(WRITES)
    recording = (record("--module=libnone", "--", program, tmp_path / "files",
                        preexec_fn=close_all)
                 if how == "begins without" else
                 record("--module=libnone", "--", program, tmp_path / "files", "close and exec"))
    assert (recording.status, recording.stdout, recording.stderr) == (7, "", "")
    assert files() == MINE
    # Itself and its child; what it was before the exec.
    assert len(recording.traces) == (2 if how == "begins without" else 3)


def test_a_file_in_the_place_of_standard_error(files, compile, record, tmp_path):
    """A warning goes to the standard error output that the program began with."""
    recording = record("--module=libnone", "--", compile(WRITES), tmp_path / "files", "close")
    assert recording.status == 7
    assert recording.stderr == ("frontload-valgrind: warning: --module=libnone: the program did "
                                "not load it\n")
    assert files() == {"file2": "mine\n"}


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
    #include <unistd.h>
    volatile int my_data[4];
    int main(void) {
      my_data[0] = 1;
      usleep(1000);
      return 7;
    }"""


@pytest.mark.parametrize("message", ["a place that is gone", "a bad role", "a module", "no exec"])
@pytest.mark.parametrize("way", ["pipe", "limit", "full"])
def test_broken_stderr(way, message, broken, compile, record, tmp_path):
    """Nobody reads what is said, whose reader has gone, or whose file or disk takes no more: the
    program ends with its own status, and not by a signal that it has not caused. So it is with what
    Valgrind itself says."""
    program, options, environment, status = compile(WAITS), [], {}, 7
    if message == "a place that is gone":
        options = ["-o", tmp_path / "none-%p/x"]
    elif message == "a bad role":
        environment = {"FRONTLOAD_ROLE": "two words"}
    elif message == "a module":
        options = ["--module=libnone"]
    else:
        program, status = compile(TOO_MANY_ARGUMENTS), 101
    recording = record(*options, "--", program, stderr=broken(way), env=environment,
                       preexec_fn=limited if way == "limit" else None)
    assert recording.status == status
    assert len(recording.files) == (message != "a place that is gone")


TOO_MANY_ARGUMENTS = """
    #include <string.h>
    #include <unistd.h>
    static char argument[200000];
    int main(void) {
      memset(argument, 'x', sizeof argument - 1);
      execl("/bin/true", "true", argument, (char *)0);
      return 7;
    }"""


@pytest.mark.parametrize("has_own", [False, True], ids=["none", "its own"])
def test_signals_that_wait(has_own, broken, compile, record, tmp_path):
    """A program that blocks SIGPIPE finds it only if it has caused it itself, whatever was
    said meanwhile."""
    program = compile("""
        #include <signal.h>
        #include <stddef.h>
        __attribute__((aligned(16))) volatile int my_data[1 << 12];
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
                       stderr=broken("pipe"), preexec_fn=limited)
    assert recording.status == 5 + has_own
    assert decode(tmp_path / "traces/short", VALGRIND).dropped > 0
