"""The tools stand apart from the program: what its environment has for it reaches it, and nothing
else. Its libraries may have the names of ours."""

import os
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
#include <string.h>
#include <unistd.h>
extern char *program_invocation_short_name;
__attribute__((constructor)) static void check(void) {
  const char *expected[] = {"program", "sh", "dirname", "readlink"};
  for (int i = 0; i < 4; ++i)
    if (!strcmp(program_invocation_short_name, expected[i])) return;
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


@pytest.fixture
def environment(tmp_path, program) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "lib"), "GLIBC_TUNABLES": TUNABLES}


@pytest.mark.parametrize("name", ["exec", "run", "trace", "valgrind", "resolve", "predict"])
def test_no_library_of_the_program_reaches_a_tool(name, build, run):
    """They are linked without any, so the loader, which reads these variables, never runs."""
    assert "INTERP" not in run("readelf", "--segments", "--wide",
                               build / f"bin/frontload-{name}").stdout


@pytest.mark.parametrize("data", [pytest.param([], id="code", marks=needs("ptrace")),
                                  pytest.param(["--data"], id="data", marks=needs("valgrind"))])
def test_a_recording(data, environment, program, frontload, tmp_path):
    """The program, and nobody else, finds its libraries and what is preloaded."""
    preloaded = compile_to(tmp_path / "preloaded.so", "gcc", "-shared", "-fPIC", "preloaded.c",
                           sources={"preloaded.c": PRELOADED})
    if not data:
        environment["LD_PRELOAD"] = str(preloaded)
    result = frontload("record", *data, "-o", tmp_path / "traces", "--", program, env=environment)
    assert result.stdout == TUNABLES + "\n"
    assert str(program) in [trace.read(path).main.path for path in trace.find(tmp_path / "traces")]
