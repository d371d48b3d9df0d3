"""Programs whose branches the processor protects: breakpoints stand where its landing pads are."""

import platform
import signal

import pytest
from places import ROOT
from traced import Binary

SOURCE = ROOT / "test" / "cross" / "programs" / "protected.c"


@pytest.fixture
def program(compile, run, llvm):
    if platform.machine() != "aarch64":
        pytest.skip("Linux protects indirect branches of programs on AArch64 only")
    program = compile(SOURCE.read_text(), "-O1", "-mbranch-protection=standard", "-nostartfiles",
                      f"--ld-path={llvm / 'ld.lld'}", "-Wl,-z,force-bti", cc=llvm / "clang",
                      name="protected")
    assert "BTI" in run(llvm / "llvm-readelf", "-n", program).stdout
    if run(program, "bare", code=None).returncode != -signal.SIGILL:
        pytest.skip("this processor, or its kernel, protects no branches")
    return program


def entered(recording, program) -> list[str]:
    return [name for name in Binary(program).named(recording.trace.addresses())
            if name.startswith(("main", "hot_", "cold_"))]


def test_landing_pads_are_breakpoints(program, record):
    """Each is reached through a call that has to find a landing pad, and does after its breakpoint
    is gone."""
    recording = record("--", program)
    assert (recording.status, recording.stdout) == (0, "5 kept\n")
    assert entered(recording, program) == ["main", "hot_2_call", "hot_1_add", "cold_add"]


def test_a_breakpoint_is_no_landing_pad(program, record):
    """A call of what has no landing pad ends the program as without the tracer."""
    recording = record("--", program, "bare")
    assert recording.status == 128 + signal.SIGILL
    assert entered(recording, program)[-1] == "hot_3_bare"
