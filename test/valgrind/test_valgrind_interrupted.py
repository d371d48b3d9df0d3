"""`frontload record --data`, ended by a signal: nothing is left of the program, nor of what the
command has made beside the traces."""

import os
import signal

import pytest
from left_processes import wait_until_none
from recorded import Binary
from trace_decoder import VALGRIND, decode

WAITS = r"""
    #include <stdio.h>
    #include <unistd.h>
    __attribute__((aligned(16))) volatile int my_early[4];
    __attribute__((noinline)) void my_ready(void) { my_early[0] = 2; }
    int main(int argc, char **argv) {
      (void)argv;
      my_early[0] = 1;
      puts("ready");
      fflush(stdout);
      pause();
      if (argc > 1)
        my_ready();
      return 9;
    }"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("end", [[], ["--until", "my_ready"], ["--until-file", "/no/such/file"]],
                         ids=["its own", "a function", "a file"])
def test_an_interrupted_recording(number, end, recorder, compile, spawn, build, tmp_path):
    """Ctrl-C, which goes to all processes, or a signal to the command alone ends the program, which
    is waited for. The exit status is that of shells, and what was touched is in the trace."""
    program = compile(WAITS)
    for folder in ("work", "tmp"):
        (tmp_path / folder).mkdir()
    process = spawn(build / "bin/frontload", "record", "--data", "-o", tmp_path / "traces", *end,
                    "--", program, cwd=tmp_path / "work", start_new_session=True,
                    env=os.environ | {"TMPDIR": str(tmp_path / "tmp")})
    assert process.stdout.readline() == "ready\n"
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    assert process.wait(100) == 128 + number
    wait_until_none("cwd", str(tmp_path / "work"))
    assert list((tmp_path / "tmp").iterdir()) == []
    (trace,) = (tmp_path / "traces").iterdir()
    assert Binary(program).touches(decode(trace, VALGRIND)) == ["main", "my_early+0"]
