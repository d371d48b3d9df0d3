"""The tools stand apart from the program: what its environment has for it reaches it, and nothing
else. Its libraries may have the names of ours."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import compile_to
from frontload.profile import trace

# Of the tools, if they were linked as others are, and of Python.
OTHERS = ("libLLVM.so.22.1", "libstdc++.so.6", "libz.so.1", "libzstd.so.1", "libgcc_s.so.1",
          "libexpat.so.1", "libpython3.11.so.1.0")
TUNABLES = "glibc.malloc.check=0"


@pytest.fixture
def program(tmp_path) -> Path:
    """A program that needs a library, which only LD_LIBRARY_PATH leads to, and that has another one
    preloaded, which ends each program that does not expect it."""
    (tmp_path / "lib").mkdir()
    compile_to(tmp_path / "lib" / "libmy.so", "gcc", "-shared", "-fPIC", "my.c",
               sources={"my.c": "int my_function(void) { return 3; }"})
    compile_to(tmp_path / "preloaded.so", "gcc", "-shared", "-fPIC", "preloaded.c", sources={
        "preloaded.c": "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
        "extern char *program_invocation_short_name;\n"
        "__attribute__((constructor)) static void check(void) {"
        " if (strcmp(program_invocation_short_name, \"program\")"
        "     && strcmp(program_invocation_short_name, \"sh\")"
        "     && strcmp(program_invocation_short_name, \"dirname\")"
        "     && strcmp(program_invocation_short_name, \"readlink\")) _exit(99); }"})
    made = compile_to(
        tmp_path / "program", "gcc", "-O1", "program.c", f"-L{tmp_path / 'lib'}", "-lmy",
        sources={"program.c": "#include <stdio.h>\n#include <stdlib.h>\nint my_function(void);\n"
                 "int main(void) { puts(getenv(\"GLIBC_TUNABLES\")); return my_function() - 3; }"})
    for name in OTHERS:
        (tmp_path / "lib" / name).write_text("not a library")
    return made


@pytest.fixture
def environment(tmp_path, program) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "lib"), "GLIBC_TUNABLES": TUNABLES}


def is_static(path: Path) -> bool:
    return b"INTERP" not in subprocess.run(["readelf", "--segments", "--wide", path], check=True,
                                           capture_output=True).stdout


@pytest.mark.parametrize("name", ["exec", "run", "trace", "valgrind", "resolve", "predict"])
def test_no_library_of_the_program_reaches_a_tool(name, build, run):
    """They are linked without any, so the loader, which reads these variables, never runs."""
    assert is_static(build / "bin" / f"frontload-{name}")


@pytest.mark.parametrize("data", [False, True])
def test_a_recording(data, environment, program, frontload, tmp_path):
    """The program finds its libraries, and nobody else looks there."""
    if data and not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    result = frontload("record", *["--data"] * data, "-o", tmp_path / "traces", "--", program,
                       env=environment)
    assert result.stdout == TUNABLES + "\n"
    assert [Path(trace.read(path).main.path) for path in trace.find(tmp_path / "traces")
            ][-1] == program


def test_what_is_preloaded(environment, program, frontload, tmp_path):
    """It is loaded into the program, and into no interpreter of ours."""
    frontload("record", "-o", tmp_path / "traces", "--", program,
              env={**environment, "LD_PRELOAD": str(tmp_path / "preloaded.so")})
    assert trace.find(tmp_path / "traces")


def test_a_measurement(environment, program, frontload):
    frontload("measure", "--runs", "1", "--", program, env=environment)


def test_the_environment_is_the_users(environment, frontload, tmp_path):
    """The program sees the variables as they were, and none of ours."""
    result = frontload("run", "--", "/usr/bin/env", env=environment)
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    assert seen["LD_LIBRARY_PATH"] == environment["LD_LIBRARY_PATH"]
    assert not [name for name in seen if name.startswith("FRONTLOAD_KEPT")]
