"""Compiles small instrumented programs, runs them recorded, and decodes what they wrote."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled import command_key, compile_to, compiled, kept
from instrumented import COVERAGE, INCLUDE, INSTRUMENT, MANY, PRELUDE, PROGRAMS, TRACER
from runtime_trace import Trace, decode

sys.path.append(str(TRACER))  # kernel_filter is there


@dataclass
class Recording:
    """What one recorded run left behind."""

    traces: dict[Path, Trace]
    result: subprocess.CompletedProcess

    @property
    def only(self) -> Trace:
        assert len(self.traces) == 1, f"{len(self.traces)} traces: {self.result.stderr}"
        return next(iter(self.traces.values()))

    @property
    def printed(self) -> list[Trace]:
        """The traces of the processes whose numbers the program has printed."""
        by_pid = {trace.pid: trace for trace in self.traces.values()}
        assert len(by_pid) == len(self.traces)
        return [by_pid[int(pid)] for pid in self.result.stdout.split()]


@pytest.fixture(scope="session")
def archive(build) -> Path:
    return build / "lib" / "libfrontload-rt.a"


@pytest.fixture(scope="session")
def library(build, preloadable) -> Path:
    return preloadable(build / "lib" / "libfrontload-rt.so")


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


@pytest.fixture
def cc(tmp_path, archive, llvm):
    """cc(source, *flags, compiler=, name=, runtime=): an instrumented program in tmp_path."""

    def cc(source, *flags, compiler="gcc", name="program", runtime=None, instrument=INSTRUMENT):
        file = f"{name}.cpp" if compiler.endswith("++") else f"{name}.c"
        instrument = [instrument] if instrument else []
        runtime = [archive] if runtime is None else runtime
        path = llvm / compiler if compiler.startswith("clang") else compiler
        return compile_to(tmp_path / name, path, "-D_GNU_SOURCE", "-I", INCLUDE,
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
def opener(cc):
    """The program of programs/opener.c: with the runtime, or runtime=[], instrument=None."""
    return lambda *flags, **options: cc((PROGRAMS / "opener.c").read_text(), *flags, name="opener",
                                        **options)


@pytest.fixture
def covered(cc):
    """covered(source, *flags): a program instrumented for functions and data, by clang, of whose
    link the coverage is kept out, as a build with flags of its own for that would."""

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
    """A recording, with no trace of an earlier one; all traces but `skip` are decoded."""
    earlier = set()

    def record(*command, pattern="%m.%p.trace", environment=None, skip=None, **options):
        for path in earlier:
            path.unlink()
        variables = {**os.environ, **(environment or {}), "FRONTLOAD_TRACE": f"{traces}/{pattern}"}
        result = run(*command, env=variables, **options)
        found = {p: decode(p) for p in sorted(traces.iterdir()) if p.name != skip}
        earlier.clear()
        earlier.update(found)
        return Recording(found, result)

    return record


@pytest.fixture
def calls_while(record, strace, tmp_path):
    """How many system calls a program made between its marks, and what was recorded."""
    def calls_while(*command):
        log = tmp_path / "calls"
        recording = record(strace, "-f", "-o", log, *command, cwd=tmp_path)
        _, between, _ = log.read_text().split('write(-1, "often", 5)')
        return len(between.splitlines()) - 2, recording

    return calls_while


@pytest.fixture
def run_with(run):
    """run_with(trace, program, ...): runs it with this in FRONTLOAD_TRACE, or without (None)."""

    def run_with(trace, *command, **options):
        variables = {k: v for k, v in os.environ.items() if k != "FRONTLOAD_TRACE"}
        if trace is not None:
            variables["FRONTLOAD_TRACE"] = str(trace)
        return run(*command, env=variables, **options)

    return run_with


@pytest.fixture
def many(archive) -> Path:
    """The program of programs/many.c."""
    return compiled("gcc", "-D_GNU_SOURCE", "-O1", "-I", INCLUDE, "many.c", archive, output="many",
                    sources={"many.c": MANY})
