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


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("opened", [True, False])
def test_cleared_environment(cc, run, archive, traces, opened, recorded):
    """A program that clears its environment before the first touch is recorded as it was started,
    and a library that it opens after that is not; nowhere does each call cost system calls."""
    if not shutil.which("strace"):
        pytest.skip("needs strace")
    own = cc("void one(void) {} void many(void) {}", "-shared", "-fPIC", archive,
             "-Wl,--exclude-libs,libfrontload-rt.a", name="libown.so", runtime=[])
    program = cc("""
        #include <dlfcn.h>
        #include <stdlib.h>
        #ifdef OPENED
        #define FUNCTION(name) void (*name)(void) = (void (*)(void))dlsym(library, #name)
        #else
        #define FUNCTION(name) void name(void)
        #endif
        int main(int argc, char **argv) {
          clearenv();
          void *library = argc < 2 ? 0 : dlopen(argv[1], RTLD_NOW);
          (void)library;
          FUNCTION(one);
          FUNCTION(many);
          one();
          for (int i = 0; i < 1000; ++i)
            many();
          return 7;
        }""", *(["-DOPENED"] if opened else [own, f"-Wl,-rpath,{own.parent}"]), instrument=None,
        runtime=[])
    variables = {k: v for k, v in os.environ.items() if k != "FRONTLOAD_TRACE"}
    if recorded:
        variables["FRONTLOAD_TRACE"] = f"{traces}/t"
    calls = traces.parent / "calls"
    run("strace", "-f", "-o", calls, program, *([own] if opened else []), code=7, env=variables)
    assert len(calls.read_text().splitlines()) < 200
    names = [name for trace in traces.iterdir() for name in decode(trace).names()]
    assert names == (["one", "many"] if recorded and not opened else [])


def test_no_working_folder(cc, run, traces):
    """A relative path in a folder that was removed."""
    program = cc(SMALL)
    command = f"cd {traces} && rmdir {traces} && exec {program}"
    result = run("sh", "-c", command, code=7, env={**os.environ, "FRONTLOAD_TRACE": "%p"})
    assert result.stderr == ("frontload-rt: warning: %p: the working folder has no path "
                             "(the program runs unrecorded)\n")


def give_rights(program, how):
    """Makes it a program that runs with more rights than its user's; False if it cannot be."""
    if how == "set-user-id":
        program.chmod(0o4755)
        return not os.statvfs(program).f_flag & os.ST_NOSUID
    return bool(shutil.which("setcap")) and subprocess.run(
        ["setcap", "cap_net_raw+ep", program], capture_output=True).returncode == 0


@pytest.mark.parametrize("how", ["set-user-id", "file capabilities"])
def test_more_rights_than_the_user(cc, root, how):
    """A program that has more rights than who runs it ignores the environment and opens nothing;
    the same program without them is recorded."""
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        program = Path(shutil.copy(cc(SMALL), folder / "program"))
        program.chmod(0o755)
        found = []
        for trace in ("before", "after"):
            result = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program],
                env={"FRONTLOAD_TRACE": f"{folder}/{trace}"}, capture_output=True)
            assert (result.returncode, result.stderr) == (7, b"")
            found.append((folder / trace).exists())
            if not give_rights(program, how):
                pytest.skip(f"a program here cannot have {how}")
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
