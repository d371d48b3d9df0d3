"""What recorders write says nothing of the arguments, the environment and the files of the recorded
program, and only its user can read it."""

import os
import stat

import pytest
from abilities import needs
from compiled import compile_to

SECRETS = {place: f"Tr0ub4dor-in-{place}" for place in ("argument", "variable", "file", "input")}
# Keeps all of them in its data, on the heap and on the stack, and forks with them.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char data[200];
__attribute__((noinline)) static void keep(const char *secret) {
  char local[200];
  snprintf(local, sizeof local, "%s", secret);
  strcpy(data, local);
  puts(strdup(data));
}
int main(int argc, char **argv) {
  char text[200] = "";
  FILE *file = fopen(argv[1], "r");
  if (argc < 3 || !file || !fgets(text, sizeof text, file))
    return 1;
  keep(text);
  if (fgets(text, sizeof text, stdin)) /* a recorder of files gives none */
    keep(text);
  keep(argv[2]);
  keep(getenv("VARIABLE"));
  if (fork() == 0) {
    keep(argv[2]);
    _exit(0);
  }
  return wait(0) < 0;
}
"""


@pytest.fixture
def program(tmp_path, build):
    return compile_to(tmp_path / "app", "gcc", "-finstrument-functions", "app.c",
                      build / "lib/libfrontload-rt.a", sources={"app.c": PROGRAM})


@pytest.mark.parametrize("how", [
    pytest.param("--with=trace", marks=needs("ptrace", "built:bin/frontload-trace")),
    "--with=runtime", pytest.param("--data", marks=needs("valgrind")),
    pytest.param("--files", marks=needs("loop-devices", "perf-fills", "strace", "tmp-on-disk"))])
def test_recordings_tell_no_secrets(frontload, program, tmp_path, how):
    """Nothing of arguments, environment, input or files, which the program has in memory."""
    recorded = tmp_path / "recorded"
    (tmp_path / "secret").write_text(f"{SECRETS['file']}\n")
    result = frontload("record", how, "-o", recorded, "--", program, tmp_path / "secret",
                       SECRETS["argument"], input=f"{SECRETS['input']}\n",
                       env={**os.environ, "VARIABLE": SECRETS["variable"]})
    assert any(recorded.iterdir())
    if how != "--files":
        assert all(secret in result.stdout for secret in SECRETS.values())
        frontload("profile", recorded, "-o", recorded / "app.startup")
    for path in recorded.iterdir():
        assert b"app" in path.read_bytes() and b"Tr0ub4dor" not in path.read_bytes()


@pytest.mark.parametrize("how", [
    pytest.param("trace", marks=needs("ptrace", "built:bin/frontload-trace")), "runtime",
    pytest.param("valgrind", marks=needs("valgrind"))])
def test_traces_are_their_users_alone(build, run, program, tmp_path, how):
    """Whatever the umask; and what stands in a trace's place, also a link, is left alone."""
    traces = tmp_path / "traces"
    traces.mkdir()
    (tmp_path / "kept").write_text("mine")
    (traces / "t").symlink_to(tmp_path / "kept")
    (traces / "t.1").symlink_to(tmp_path / "nowhere")
    (tmp_path / "secret").write_text("x\n")
    recorder = [] if how == "runtime" else [build / f"bin/frontload-{how}",
                                            f"--output={traces}/t", "--"]
    run(*recorder, program, tmp_path / "secret", "y", input="z\n", umask=0,
        env={**os.environ, "VARIABLE": "v",
             **({"FRONTLOAD_TRACE": f"{traces}/t"} if how == "runtime" else {})})
    made = sorted(path for path in traces.iterdir() if not path.is_symlink())
    assert made and {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    assert (tmp_path / "kept").read_text() == "mine" and not (tmp_path / "nowhere").exists()
