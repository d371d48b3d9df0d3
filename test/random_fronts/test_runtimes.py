"""Programs in languages whose runtimes know how a program lies in memory: collectors with maps of
frames and roots, handlers of stack overflows, closures written by their addresses, heap images that
are linked. Each is recorded, and does the same with the front of its profile and with random ones.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from abilities import need, needs
from frontload.profile.format import to_bytes
from fronts import random_profile
from in_process import frontload
from linking import ALWAYS, LD_FRONTLOAD, LD_LLD
from names import names_of

pytestmark = [pytest.mark.slow, pytest.mark.spread, needs("ptrace")]
_SOURCES = Path(__file__).parent / "programs" / "runtimes"
_FRONTS = 3
_STACK = 8 << 20  # that some of the programs overflow


@dataclass(frozen=True)
class Runtime:
    """A program, and the shell command that makes `own` of it with $TOOLS/ld or $TOOLS/cc."""

    name: str
    source: str
    compiler: str
    command: str


_OCAML = "ocamlopt {} -cc $TOOLS/cc own.ml -o own"
RUNTIMES = (
    Runtime("ocaml", "own.ml", "ocamlopt", _OCAML.format("")),
    Runtime("ocaml, function sections", "own.ml", "ocamlopt", _OCAML.format("-function-sections")),
    Runtime("ghc", "own.hs", "ghc", "ghc -O1 -pgml $TOOLS/cc -with-rtsopts=-K1m own.hs -o own"),
    Runtime("chicken", "own.scm", "csc", "csc -O2 -ld $TOOLS/cc own.scm -o own"),
    Runtime("ecl", "own.lisp", "ecl", """ecl -norc -eval '(setf c::*ld* "'$TOOLS/cc'")' \
-eval '(compile-file "own.lisp" :system-p t)' -eval '(c:build-program "own" :lisp-files
(list "own.o") :epilogue-code (quote (ext:quit 0)))' -eval '(ext:quit 0)'"""),
    Runtime("poly/ml", "own.sml", "poly", """echo 'use "own.sml"; PolyML.export("own", main);' |
poly -q --error-exit && $TOOLS/cc -no-pie own.o -o own -lpolymain -lpolyml"""),
    Runtime("gnustep", "own.m", "gnustep-config", """gcc -B$TOOLS own.m -o own \
$(gnustep-config --objc-flags) $(gnustep-config --base-libs)"""),
    Runtime("gdc", "own.d", "gdc", "gdc -O1 -B$TOOLS own.d -o own"),
    Runtime("ldc", "own.d", "ldc2", "ldc2 -O1 --gcc=$TOOLS/cc own.d -of=own"),
    Runtime("nim", "own.nim", "nim", """nim c --hints:off --gc:orc --threads:on --stackTrace:on \
--nimcache:cache --cc:gcc --gcc.linkerexe:$TOOLS/cc -o:own own.nim"""),
    Runtime("zig", "own.zig", "zig", "zig build-obj -lc own.zig && $TOOLS/cc own.o -o own"),
    Runtime("ada", "own.adb", "gnatmake",
            "gnatmake -q -O1 -fstack-check own.adb -largs -B$TOOLS"),
    Runtime("fortran", "own.f90", "gfortran", "gfortran -O1 -B$TOOLS own.f90 -o own"),
    Runtime("luajit", "own.c", "luajit", """gcc -O1 -I/usr/include/luajit-2.1 -c own.c &&
$TOOLS/cc -rdynamic own.o -o own -l:libluajit-5.1.a -lm -ldl"""),
)


def _make(runtime: Runtime, folder: Path, linker: Path, *flags) -> Path:
    """The program, in a folder of its own; `flags` are the linker's."""
    tools = folder / "tools"
    tools.mkdir(parents=True)
    words = " ".join(map(str, (linker, '"$@"', *flags)))
    for name, text in {"ld": f"exec {words}", "cc": f'exec gcc -B{tools} "$@"'}.items():
        tools.joinpath(name).write_text(f"#!/bin/sh\n{text}\n")
        tools.joinpath(name).chmod(0o755)
    folder.joinpath(runtime.source).write_bytes(_SOURCES.joinpath(runtime.source).read_bytes())
    made = subprocess.run(["sh", "-c", runtime.command], cwd=folder, text=True, errors="replace",
                          capture_output=True, env={**os.environ, "TOOLS": str(tools)})
    assert made.returncode == 0, f"{made.stdout}{made.stderr}"
    return folder / "own"


def _start(program: Path) -> tuple[int, str]:
    ran = subprocess.run(["prlimit", f"--stack={_STACK}", program], capture_output=True, text=True,
                         errors="replace", stdin=subprocess.DEVNULL, cwd=program.parent)
    return ran.returncode, ran.stdout


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_a_program_does_the_same(tmp_path, runtime):
    need(f"program:{runtime.compiler}")
    plain = _make(runtime, tmp_path / "plain", LD_LLD)
    expected = _start(plain)
    assert expected[1].count("\n") >= 2, expected  # it has not ended in the middle of its beginning
    profile = tmp_path / "own.startup"
    frontload("record", "-o", tmp_path / "traces", "--", "prlimit", f"--stack={_STACK}", plain,
              code=expected[0])
    frontload("profile", tmp_path / "traces", "--binary", plain, "-o", profile)
    names = names_of(plain, ())
    for number in range(-1, _FRONTS):
        if number >= 0:
            profile = tmp_path / f"{number}.startup"
            profile.write_bytes(to_bytes(random_profile(Random(f"{runtime.name} {number}"), names)))
        program = _make(runtime, tmp_path / str(number), LD_FRONTLOAD, ALWAYS, "--min-match=0",
                        f"--startup-profile={profile}")
        assert number >= 0 or b".text.front" in program.read_bytes()
        assert _start(program) == expected, f"front {number}: {profile}"
