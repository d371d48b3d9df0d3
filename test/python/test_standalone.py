"""The tools stand apart from the program: what its environment has for it reaches it, and nothing
else; its libraries may have the names of ours. What recorders write says nothing of its arguments,
its environment and its files."""

import os
import stat
from pathlib import Path

import pytest
from abilities import needs
from compiled import compile_to
from frontload.profile import trace

# Of the tools, if they were linked as others are, and of Python.
OTHERS = ("libLLVM.so.22.1", "libstdc++.so.6", "libz.so.1", "libzstd.so.1", "libgcc_s.so.1",
          "libexpat.so.1", "libpython3.11.so.1.0")
TUNABLES = "glibc.malloc.check=0"


# It ends each program that does not expect it.
PRELOADED = """
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void check(void) {
  if (!strstr(" program sh dirname readlink ", program_invocation_short_name))
    _exit(99);
}
"""
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
int my_function(void);
int main(void) {
  puts(getenv("GLIBC_TUNABLES"));
  return my_function() - 3;
}
"""


@pytest.fixture
def program(tmp_path) -> Path:
    """A program that needs a library, which only LD_LIBRARY_PATH leads to."""
    library = tmp_path / "lib"
    library.mkdir()
    compile_to(library / "libmy.so", "gcc", "-shared", "-fPIC", "my.c",
               sources={"my.c": "int my_function(void) { return 3; }"})
    made = compile_to(tmp_path / "program", "gcc", "-O1", "program.c", f"-L{library}", "-lmy",
                      sources={"program.c": PROGRAM})
    for name in OTHERS:
        (library / name).write_text("not a library")
    return made


@pytest.mark.parametrize("name", ["cc", "exec", "run", "trace", "valgrind", "resolve", "predict"])
def test_no_library_of_the_program_reaches_a_tool(name, build, run):
    """They are linked without any, so the loader, which reads these variables, never runs."""
    assert "INTERP" not in run("readelf", "--segments", "--wide",
                               build / f"bin/frontload-{name}").stdout


@pytest.mark.parametrize("data", [pytest.param([], id="code", marks=needs("ptrace")),
                                  pytest.param(["--data"], id="data", marks=needs("valgrind"))])
def test_a_recording(data, program, frontload, tmp_path):
    """The program, and nobody else, finds its libraries and what is preloaded."""
    preloaded = compile_to(tmp_path / "preloaded.so", "gcc", "-shared", "-fPIC", "preloaded.c",
                           sources={"preloaded.c": PRELOADED})
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "lib"),
                   "GLIBC_TUNABLES": TUNABLES, **({} if data else {"LD_PRELOAD": str(preloaded)})}
    result = frontload("record", *data, "-o", tmp_path / "traces", "--", program, env=environment)
    assert result.stdout == TUNABLES + "\n"
    assert str(program) in [trace.read(path).main.path for path in trace.find(tmp_path / "traces")]


SECRETS = {place: f"Tr0ub4dor-in-{place}" for place in ("argument", "variable", "file", "input")}
# Keeps all of them in its data, on the heap and on the stack, and forks with them.
KEEPER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char data[200];
__attribute__((noinline)) static void keep(const char *secret) {
  char local[200];
  puts(strdup(strcpy(data, strcpy(local, secret))));
}
int main(int argc, char **argv) {
  char text[200] = "";
  if (fgets(text, sizeof text, fopen(argv[1], "r")))
    keep(text);
  if (fgets(text, sizeof text, stdin)) /* a recorder of files gives none */
    keep(text);
  keep(argv[2]);
  keep(getenv("VARIABLE"));
  if (fork())
    return wait(0) < 0;
  keep(argv[2]);
}
"""


@pytest.fixture
def keeper(tmp_path, build) -> Path:
    return compile_to(tmp_path / "app", "gcc", "-finstrument-functions", "app.c",
                      build / "lib/libfrontload-rt.a", sources={"app.c": KEEPER})


@pytest.mark.parametrize("how", [
    pytest.param("--with=trace", marks=needs("ptrace", "built:bin/frontload-trace")),
    "--with=runtime", pytest.param("--data", marks=needs("valgrind")),
    pytest.param("--all-files", marks=needs("lazy-files", "strace", "tmp-on-disk"))])
def test_recordings_tell_no_secrets(frontload, keeper, tmp_path, how):
    """Nothing of arguments, environment, input or files, which the program has in memory. Traces
    are their user's alone, whatever the umask."""
    recorded = tmp_path / "recorded"
    (tmp_path / "secret").write_text(f"{SECRETS['file']}\n")
    result = frontload("record", how, "-o", recorded, "--", keeper, tmp_path / "secret",
                       SECRETS["argument"], input=f"{SECRETS['input']}\n",
                       umask=0,
                       env={**os.environ, "VARIABLE": SECRETS["variable"]})
    assert any(recorded.iterdir())
    if how != "--all-files":
        assert all(secret in result.stdout for secret in SECRETS.values())
        assert {stat.S_IMODE(path.stat().st_mode) for path in recorded.iterdir()} == {0o600}
        frontload("profile", recorded, "-o", recorded / "app.startup")
    for path in recorded.iterdir():
        assert b"app" in path.read_bytes() and b"Tr0ub4dor" not in path.read_bytes()
