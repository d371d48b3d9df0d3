"""Standard descriptors that are closed, and files of the program that take their numbers: these are
the program's, and nothing else is in them."""

import os

import pytest

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
