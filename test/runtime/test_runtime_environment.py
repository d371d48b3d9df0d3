"""FRONTLOAD_TRACE, descriptors, and the one line on stderr."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from abilities import NOBODY, needs
from instrumented import SMALL
from runtime_trace import decode

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
    """%p is the pid, %m the program's file name however it was started, %% a percent sign."""
    program = cc(SMALL, name="odd%pname")
    link = program.parent / "link"
    link.symlink_to(program)
    recording = record(link, pattern="a%%b-%m-%p-%p", code=7)
    (path,), pid = recording.traces, recording.only.pid
    assert path.name == f"a%b-odd%pname-{pid}-{pid}"


@pytest.mark.parametrize("pattern, letter", [
    ("/tmp/%x", "%x"), ("%P.trace", "%P"), ("/tmp/t%", "% at the end"), ("%-p", "%-")])
def test_unknown_letter(cc, run_with, traces, pattern, letter):
    """A letter that means nothing is named, and the program runs unrecorded."""
    result = run_with(pattern, cc(SMALL), code=7, cwd=traces)
    assert result.stderr == (
        f"frontload-rt: warning: FRONTLOAD_TRACE: {letter} means nothing (%p, %m and %% do) "
        "(the program runs unrecorded)\n")
    assert not list(traces.iterdir())


def test_relative_pattern(cc, run_with, traces):
    """A relative path counts from the first folder, for children too, wherever they are."""
    folder = traces / "100%p"
    folder.mkdir()
    program = cc("""
        KEPT void in_child(void) {}
        int main(void) {
          if (chdir("/") || clearenv())
            return 1;
        """ + FORK_AND_END)
    run_with("%p", program, cwd=folder)
    assert sorted(decode(t).names() for t in folder.iterdir()) == [["in_child"], ["main"]]


@pytest.mark.parametrize("opened", [True, False])
def test_cleared_environment(cc, opener, calls_while, archive, opened):
    """A cleared environment counts for libraries opened later only; no call costs more."""
    own = cc("void one(void) {} void many(void) {}", "-shared", "-fPIC", archive,
             "-Wl,--exclude-libs,libfrontload-rt.a", name="libown.so", runtime=[])
    linked = [] if opened else ["-Wl,--no-as-needed", own, f"-Wl,-rpath,{own.parent}"]
    calls, recording = calls_while(opener(*linked, runtime=[], instrument=None), "clear",
                                   f"open={own}", "call=one", "call=many", "often=many")
    names = [name for trace in recording.traces.values() for name in trace.names()]
    assert calls == 0 and names == ([] if opened else ["one", "many"])


def test_no_working_folder(cc, run_with, traces):
    """A relative path in a folder that was removed."""
    program = cc(SMALL)
    command = f"cd {traces} && rmdir {traces} && exec {program}"
    result = run_with("%p", "sh", "-c", command, code=7)
    assert result.stderr == ("frontload-rt: warning: %p: the working folder has no path "
                             "(the program runs unrecorded)\n")


@needs("another-user", "capabilities")
@pytest.mark.parametrize("how", ["set-user-id", "capabilities"])
def test_more_rights_than_the_user(cc, run, how):
    """A program that has more rights than who runs it ignores the environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        program = shutil.copy(cc(SMALL), folder / "program")
        found = []
        for trace in (folder / "before", folder / "after"):
            result = run(program, code=7, env={"FRONTLOAD_TRACE": str(trace)},
                         user=NOBODY, group=NOBODY, extra_groups=[])
            assert result.stderr == ""
            found.append(trace.exists())
            if how == "capabilities":
                run("setcap", "cap_net_raw+ep", program)
            else:
                program.chmod(0o4755)
    assert found == [True, False]


def test_reused_stderr(cc, run_with, tmp_path, traces):
    """A file that became descriptor 2 after the start gets no warning written into it."""
    program = cc("""
        KEPT void in_child(void) {}
        int main(int argc, char **argv) {
          close(2);
          if (argc < 4 || open(argv[1], O_RDWR | O_CREAT, 0644) != 2 || rename(argv[2], argv[3]))
            return 1;
        """ + FORK_AND_END)
    data, away = tmp_path / "data", tmp_path / "away"
    run_with(traces / "%p", program, data, traces, away)
    assert [decode(trace).names() for trace in away.iterdir()] == [["main"]]
    assert data.read_bytes() == b""


def test_broken_stderr(cc, run_with):
    """A warning that nobody reads does not end the program by SIGPIPE."""
    reading, writing = os.pipe()
    os.close(reading)
    run_with("/nonexistent/folder/t", cc(SMALL), code=7, capture_output=False, stderr=writing)
    os.close(writing)
