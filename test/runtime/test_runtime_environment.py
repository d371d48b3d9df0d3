"""FRONTLOAD_TRACE, descriptors, and the one line on stderr."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from runtime_trace import decode

SMALL = """
KEPT void touched(void) {}
int main(void) {
  touched();
  return 7;
}
"""
# The end of a main() whose child calls one function more.
FORK_AND_END = """
  if (fork() == 0) {
    in_child();
    _exit(0);
  }
  wait(0);
  return 0;
}
"""


def test_pattern(cc, record):
    """%p is the pid, %m the program's file name however it was started, %% a percent sign, which in
    either of them is nothing special."""
    program = cc(SMALL, name="odd%pname")
    link = program.parent / "link"
    link.symlink_to(program)
    recording = record(link, pattern="a%%b-%m-%p-%p", code=7)
    (path,), pid = recording.traces, recording.only.pid
    assert path.name == f"a%b-odd%pname-{pid}-{pid}"


@pytest.mark.parametrize("pattern, letter", [
    ("/tmp/%x", "%x"), ("%P.trace", "%P"), ("/tmp/t%", "% at the end"), ("%-p", "%-")])
def test_unknown_letter(cc, run, traces, pattern, letter):
    """A letter that means nothing is named, and the program runs unrecorded."""
    result = run(cc(SMALL), code=7, cwd=traces, env={**os.environ, "FRONTLOAD_TRACE": pattern})
    assert result.stderr == (
        f"frontload-rt: warning: FRONTLOAD_TRACE: {letter} means nothing (%p, %m and %% do) "
        "(the program runs unrecorded)\n")
    assert not list(traces.iterdir())


def test_relative_pattern(cc, run, traces):
    """A relative path counts from the first folder, for children too, wherever they are and
    whatever they have done to the environment; percent signs in the folder's name mean nothing."""
    folder = traces / "100%p"
    folder.mkdir()
    program = cc("""
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        KEPT void in_child(void) {}
        int main(void) {
          if (chdir("/") || clearenv())
            return 1;
        """ + FORK_AND_END)
    run(program, cwd=folder, env={**os.environ, "FRONTLOAD_TRACE": "%p"})
    assert sorted(decode(t).names() for t in folder.iterdir()) == [["in_child"], ["main"]]


def test_no_working_folder(cc, run, traces):
    """A relative path in a folder that was removed."""
    program = cc(SMALL)
    command = f"cd {traces} && rmdir {traces} && exec {program}"
    result = run("sh", "-c", command, code=7, env={**os.environ, "FRONTLOAD_TRACE": "%p"})
    assert result.stderr == ("frontload-rt: warning: %p: the working folder has no path "
                             "(the program runs unrecorded)\n")


def test_set_user_id(cc, root):
    """A set-user-id program ignores the environment and opens nothing; the same program without the
    bit is recorded."""
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        program = Path(shutil.copy(cc(SMALL), folder / "program"))
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip(f"{folder} is mounted nosuid")
        found = []
        for mode in (0o755, 0o4755):
            program.chmod(mode)
            result = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program],
                env={"FRONTLOAD_TRACE": f"{folder}/{mode:o}.trace"}, capture_output=True)
            assert (result.returncode, result.stderr) == (7, b"")
            found.append((folder / f"{mode:o}.trace").exists())
    assert found == [True, False]


def test_closed_standard_descriptors(cc, record, tmp_path):
    """With 0, 1 and 2 closed, the program's own files become 0, 1 and 2, and hold what it writes
    there and nothing of the trace, which holds nothing of theirs."""
    program = cc("""
        #include <fcntl.h>
        #include <unistd.h>
        KEPT void later(void) {}
        int main(int argc, char **argv) {
          if (argc < 2 || chdir(argv[1]))
            return 1;
          for (int fd = 0; fd < 3; ++fd) {
            char name[] = {'0' + fd, 0};
            if (open(name, O_RDWR | O_CREAT, 0644) != fd || write(fd, name, 1) != 1)
              return 2;
          }
          later();
          return 0;
        }""")
    files = tmp_path / "files"
    files.mkdir()

    def close_all():
        for fd in range(3):
            os.close(fd)

    recording = record(program, files, preexec_fn=close_all, capture_output=False)
    assert recording.only.names() == ["main", "later"]
    assert {f.name: f.read_text() for f in files.iterdir()} == {"0": "0", "1": "1", "2": "2"}


def test_daemon(cc, run, traces):
    """A daemon, which has left its folder, its session and its descriptors, records in its own
    file."""
    program = cc("""
        #include <unistd.h>
        KEPT void serve(void) {}
        int main(void) {
          if (daemon(0, 0))
            return 1;
          serve();
          return 0;
        }""")
    reading, writing = os.pipe()  # the daemon inherits one end: it is gone when that is closed
    run(program, pass_fds=[writing], env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/%p"})
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)
    assert sorted(decode(trace).names() for trace in traces.iterdir()) == [["main"], ["serve"]]


def test_reused_stderr(cc, run, tmp_path, traces):
    """A file that became descriptor 2 after the start gets no warning written into it."""
    program = cc("""
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        KEPT void in_child(void) {}
        int main(int argc, char **argv) {
          close(2);
          if (argc < 4 || open(argv[1], O_RDWR | O_CREAT, 0644) != 2 || rename(argv[2], argv[3]))
            return 1;
        """ + FORK_AND_END)
    data, away = tmp_path / "data", tmp_path / "away"
    run(program, data, traces, away, env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/%p"})
    assert [decode(trace).names() for trace in away.iterdir()] == [["main"]]
    assert data.read_bytes() == b""


def test_broken_stderr(cc, run):
    """A warning that nobody reads does not end the program by SIGPIPE."""
    reading, writing = os.pipe()
    os.close(reading)
    run(cc(SMALL), code=7, capture_output=False, stderr=writing,
        env={**os.environ, "FRONTLOAD_TRACE": "/nonexistent/folder/t"})
    os.close(writing)
