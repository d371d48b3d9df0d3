"""Signals that end a program or its recording. (Programs that handle signals are scenarios.)"""

import os
import signal

import pytest
from recorded import Binary
from trace_decoder import VALGRIND, decode

WAITS = r"""
    DATA my_early[4];
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


def hear_interrupts():
    """A job that a shell runs in the background ignores them, and so does what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_status_of_a_signal(number, compile, record):
    """A signal ends the recording as it ends the program; its touches are in the trace."""
    program = compile(f"""
        DATA my_early[4];
        int main(void) {{ my_early[0] = 1; return raise({int(number)}); }}""")
    recording = record("--", program)
    assert recording.status == -number
    assert Binary(program).touches(recording.trace) == ["main", "my_early+0"]


@pytest.mark.parametrize(("number", "send"), [
    (signal.SIGTERM, os.kill), (signal.SIGHUP, os.kill), (signal.SIGINT, os.killpg)])
def test_signal_to_the_recorder(number, send, compile, start, finish):
    """A signal that asks the recorder to end goes to the program, as does Ctrl-C, which goes to the
    whole group; nothing is left behind."""
    program = compile(WAITS)
    process = start("--", program, start_new_session=True, preexec_fn=hear_interrupts)
    assert process.stdout.readline() == "ready\n"
    send(process.pid, number)
    recording = finish(process)
    assert recording.status == -number
    assert Binary(program).touches(recording.trace) == ["main", "my_early+0"]


@pytest.mark.parametrize(("number", "send", "end"), [
    (signal.SIGINT, os.killpg, []), (signal.SIGTERM, os.kill, ["--until", "my_ready"]),
    (signal.SIGTERM, os.kill, ["--until-file", "/no/such/file"])],
    ids=["Ctrl-C", "until a function", "until a file"])
def test_an_interrupted_command(number, send, end, recorder, compile, spawn, build, tmp_path):
    """`frontload record --data` ends the program with itself, waits for it, and leaves nothing but
    the trace. The exit status is that of shells."""
    program = compile(WAITS)
    (tmp_path / "tmp").mkdir()
    process = spawn(build / "bin/frontload", "record", "--data", "-o", tmp_path / "traces", *end,
                    "--", program, start_new_session=True, preexec_fn=hear_interrupts,
                    env=os.environ | {"TMPDIR": str(tmp_path / "tmp")})
    assert process.stdout.readline() == "ready\n"
    send(process.pid, number)
    process.communicate()  # until nothing of it has the output any more
    assert process.returncode == 128 + number
    assert list((tmp_path / "tmp").iterdir()) == []
    (trace,) = (tmp_path / "traces").iterdir()
    assert Binary(program).touches(decode(trace, VALGRIND)) == ["main", "my_early+0"]


@pytest.mark.parametrize(("fault", "status", "said"), [
    ("*(volatile int *)8 = 0;", -signal.SIGSEGV, "Process terminating"),
    ("clone(body, stack + sizeof stack, CLONE_VM | SIGCHLD, 0);", 1, "Unsupported clone() flags")],
    ids=["its own", "what valgrind cannot do"])
def test_a_fault_that_ends_the_program(fault, status, said, compile, record):
    """Valgrind says so and where, without what is on the stack, which may be a secret."""
    program = compile(f"""
        static char stack[65536] __attribute__((aligned(16)));
        __attribute__((used)) static int body(void *unused) {{ return unused != stack; }}
        __attribute__((noinline)) static void my_fail(void) {{ {fault} }}
        int main(void) {{
          volatile long secrets[64];
          for (int i = 0; i < 64; ++i)
            secrets[i] = 0x5ec2e75ec2e7;
          my_fail();
          return secrets[0] != 0;
        }}""")
    recording = record("--", program, env={"SECRET": "abcdefgh" * 100})
    assert recording.status == status
    assert Binary(program).touches(recording.trace)[:2] == ["main", "my_fail"]
    assert said in recording.stderr
    assert " at 0x" in recording.stderr and " by 0x" not in recording.stderr
    assert "5EC2E7" not in recording.stderr
