"""The same small programs for every recorder. Each is a file in programs/, whose first comment
says what is to be seen of it: its exit status, and for each process the functions that it entered,
in order of first touch, with the number of the thread that was first, if that is not the first.
What one recorder sees otherwise by design stands there "By" it: a forked child has no breakpoints
where its parent has been, and to Valgrind it is in the middle of a function.

A comment that begins with "in any order", "needs" or "flags:" says so.
"""

import os
import re
import sys
from pathlib import Path

import abilities
import pytest
from compiled import compile_to
from elftools.elf.elffile import ELFFile

# Each recorder's own tests have a decoder, which knows nothing of the package's.
sys.path += [str(Path(__file__).parent.parent / room) for room in ("runtime", "tracer")]
import runtime_trace
import trace_decoder

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c"))
# Of the C library's startup files, beside those whose names begin with "_".
STARTUP_FILES = {"atexit", "call_weak_fn", "deregister_tm_clones", "frame_dummy",
                 "register_tm_clones"}  # call_weak_fn on AArch64


class Runtime:
    """The recorder inside the program."""

    name, flags = "runtime", ("-finstrument-functions",)

    def __init__(self, build):
        # Only by -u does gcc's LTO look into an archive for what its code generator adds.
        self.libraries = ("-Wl,-u,__cyg_profile_func_enter", build / "lib/libfrontload-rt.a")

    def decode(self, path):
        """The process, and of each first touch the file, the address in it and the thread."""
        trace = runtime_trace.decode(path)
        return trace.pid, [(str(trace.modules[event.module].path), event.address, event.thread)
                           for event in trace.events]

    def command(self, traces, program):
        return [program], {"FRONTLOAD_TRACE": f"{traces}/%p"}


class Beside:
    """A recorder that the program does not know of."""

    flags, libraries = (), ()

    def __init__(self, name, build, number):
        self.name, self.number = name, number
        self.recorder = build / f"bin/frontload-{name}"

    def decode(self, path):
        trace = trace_decoder.decode(path, self.number)
        return trace.pid, [(trace.modules[module].path, address, thread)
                           for module, address, thread in trace.events]

    def command(self, traces, program):
        return [self.recorder, "-o", traces / "%p", "--", program], {}


@pytest.fixture(params=["runtime", "trace", "valgrind"])
def recorder(request, build):
    if request.param == "runtime":
        return Runtime(build)
    abilities.need({"trace": "ptrace"}.get(request.param, request.param))
    numbers = {"trace": trace_decoder.TRACER, "valgrind": trace_decoder.VALGRIND}
    return Beside(request.param, build, numbers[request.param])


def functions(program: Path) -> list[tuple[int, int, str]]:
    """Where each function of the program's own begins and ends."""
    with program.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".symtab").iter_symbols()
        return [(s["st_value"], s["st_value"] + s["st_size"], s.name) for s in symbols
                if s["st_info"]["type"] == "STT_FUNC" and s["st_size"]
                and not s.name.startswith("_") and s.name not in STARTUP_FILES]


def told(path: Path, recorder, program: Path, in_any_order: bool) -> str:
    """A trace as text."""
    pid, touches = recorder.decode(path)
    places, threads, seen = functions(program), {pid: 1}, {}
    for file, address, thread in touches:
        names = [name for begin, end, name in places
                 if file == str(program) and begin <= address < end]
        if names and names[0] not in seen:
            number = threads.setdefault(thread, len(threads) + 1)
            seen[names[0]] = names[0] + (f"@{number}" if number > 1 else "")
    is_forked = path.read_bytes()[49]  # in the header (frontload_trace.h)
    shown = sorted(seen) if in_any_order else seen.values()
    return " ".join(["forked:" if is_forked else "process:", *shown])


def expected(comment: str, recorder) -> list[str]:
    """The exit status, and a line for each process."""
    usual, *special = (block.split("\n   ") for block in comment.split("\n\n   ")[1:])
    own = [lines for by, *lines in special if by == f"By {recorder.name}:"]
    return [usual[0], *(own[0] if own else usual[1:])]


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_what_is_seen(source, recorder, run, tmp_path):
    text = source.read_text()
    comment = text[3:text.index(" */")]
    remark = comment.partition(".")[0].partition("\n")[0]
    if needed := re.fullmatch(r"needs (.*)", remark):
        abilities.need(needed[1])
    flags = re.fullmatch(r"flags: (.*)", remark)
    program = compile_to(tmp_path / "program", "gcc", "-O0", "-falign-functions=16", "-pthread",
                         *(flags[1].split() if flags else ()), *recorder.flags, source.name,
                         *recorder.libraries, sources={source.name: text})
    traces = tmp_path / "traces"
    traces.mkdir()
    command, environment = recorder.command(traces, program)
    result = run(*command, code=None, env={**os.environ, **environment}, cwd=tmp_path)
    assert result.stderr == ""
    status = 128 - result.returncode if result.returncode < 0 else result.returncode
    processes = sorted(told(path, recorder, program, remark == "in any order")
                       for path in traces.iterdir())
    assert [f"exit {status}", *processes] == expected(comment, recorder)
