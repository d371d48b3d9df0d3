"""Compiles small instrumented programs, runs them recorded, and decodes what they wrote."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled import command_key, compile_to, compiled, kept
from runtime_trace import Trace, decode

INSTRUMENT = "-finstrument-functions"
COVERAGE = "-fsanitize-coverage=func,trace-pc,trace-loads,trace-stores"
PROGRAMS = Path(__file__).parent / "programs"
# Not everything may be instrumented: NOT_RECORDED marks what a test does unseen.
PRELUDE = """
#define _GNU_SOURCE
#define KEPT __attribute__((noinline, noclone))
#define NOT_RECORDED __attribute__((no_instrument_function))
#ifdef __clang__
#undef KEPT
#undef NOT_RECORDED
#define KEPT __attribute__((noinline))
#define NOT_RECORDED __attribute__((no_instrument_function, no_sanitize("coverage")))
#endif
/* HUNDRED(F, 1) is F(100) F(101) ... F(199). */
#define TEN(F, n) \\
  F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(F, n) \\
  TEN(F, n##0) TEN(F, n##1) TEN(F, n##2) TEN(F, n##3) TEN(F, n##4) \\
  TEN(F, n##5) TEN(F, n##6) TEN(F, n##7) TEN(F, n##8) TEN(F, n##9)
"""


@dataclass
class Recording:
    """What one recorded run left behind."""

    traces: dict[Path, Trace]
    result: subprocess.CompletedProcess

    @property
    def only(self) -> Trace:
        assert len(self.traces) == 1, f"{len(self.traces)} traces: {self.result.stderr}"
        return next(iter(self.traces.values()))

    def of(self, pid: int | str) -> Trace:
        (trace,) = (t for t in self.traces.values() if t.pid == int(pid))
        return trace


@pytest.fixture(scope="session")
def archive(build) -> Path:
    return build / "lib" / "libfrontload-rt.a"


@pytest.fixture(scope="session")
def library(build) -> Path:
    return build / "lib" / "libfrontload-rt.so"


def _without_find_object(archive):
    """The runtime as it is with a libc that has no _dl_find_object."""
    command = ["objcopy", "--redefine-sym", "_dl_find_object=no_such_function", archive]

    def make(folder: Path) -> None:
        subprocess.run([*command, folder / "old.a"], check=True)

    return kept(make, *command_key(command)) / "old.a"


@pytest.fixture(params=["find_object", "iterate"])
def runtime(request, archive):
    """Both ways of finding a module: glibc's lock-free one, and dl_iterate_phdr for older libcs."""
    return [archive if request.param == "find_object" else _without_find_object(archive)]


@pytest.fixture(scope="session")
def include() -> Path:
    return Path(__file__).parents[2] / "instrument" / "runtime" / "include"


@pytest.fixture
def compilers(llvm) -> dict[str, Path | str]:
    return {"gcc": "gcc", "g++": "g++", "musl-gcc": "musl-gcc", "clang": llvm / "clang",
            "clang++": llvm / "clang++"}


@pytest.fixture
def cc(tmp_path, archive, include, compilers):
    """cc(source, *flags, compiler=, name=, runtime=): an instrumented program in tmp_path."""

    def cc(source, *flags, compiler="gcc", name="program", runtime=None, instrument=INSTRUMENT):
        file = f"{name}.cpp" if compiler.endswith("++") else f"{name}.c"
        instrument = [instrument] if instrument else []
        runtime = [archive] if runtime is None else runtime
        return compile_to(tmp_path / name, compilers[compiler], "-I", include,
                          "-Wno-unused-command-line-argument", *instrument, file, *flags,
                          *runtime, sources={file: PRELUDE + source})

    return cc


@pytest.fixture
def plugin(cc):
    """plugin(source, name, *flags): an instrumented library that uses the program's hooks."""

    def plugin(source, name, *flags):
        return cc(source, "-shared", "-fPIC", *flags, name=name, runtime=[])

    return plugin


@pytest.fixture
def covered(cc):
    """covered(source, *flags): a program that clang has instrumented for functions and data. Of the
    link, the coverage is kept out, as a build with flags of its own for that would."""

    def covered(source, *flags, instrument=COVERAGE, **options):
        return cc(source, "-fno-sanitize-link-runtime", *flags, instrument=instrument,
                  compiler="clang", **options)

    return covered


@pytest.fixture
def traces(tmp_path) -> Path:
    """The folder that record() has traces written to."""
    folder = tmp_path / "traces"
    folder.mkdir()
    return folder


@pytest.fixture
def record(run, traces):
    """record(program, *arguments, pattern=, code=): runs it and decodes all traces but `skip`."""

    def record(*command, pattern="%m.%p.trace", environment=None, skip=None, **options):
        variables = {**os.environ, **(environment or {}), "FRONTLOAD_TRACE": f"{traces}/{pattern}"}
        result = run(*command, env=variables, **options)
        return Recording({p: decode(p) for p in sorted(traces.iterdir()) if p.name != skip},
                         result)

    return record


@pytest.fixture(scope="session")
def many(archive, llvm) -> Path:
    """A program of 30,000 functions, which it calls in order. See programs/many.c."""
    return compiled(llvm / "clang", "-O0", INSTRUMENT, "many.c", archive, output="many",
                    sources={"many.c": PROGRAMS / "many.c"})


@pytest.fixture
def root():
    """Skips a test that only root can run."""
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture
def tmpfs(root, tmp_path):
    """tmpfs(options): a small file system of its own, unmounted after the test."""
    mounted = []

    def tmpfs(options):
        folder = tmp_path / f"tmpfs{len(mounted)}"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "frontload-test", folder],
                              capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"cannot mount a tmpfs: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield tmpfs
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)
