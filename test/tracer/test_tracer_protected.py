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


@pytest.mark.parametrize(("arguments", "status", "entered"), [
    ([], 0, ["main", "hot_2_call", "hot_1_add", "cold_add"]),
    (["bare"], 128 + signal.SIGILL, ["main", "hot_3_bare"])], ids=["with landing pads", "without"])
def test_landing_pads_are_breakpoints(arguments, status, entered, program, record):
    """A call that has to find a landing pad does after its breakpoint is gone, and only then."""
    recording = record("--", program, *arguments)
    assert recording.status == status
    assert recording.stdout == "5 kept\n" or arguments
    names = [name for name in Binary(program).named(recording.trace.addresses())
             if name.startswith(("main", "hot_", "cold_"))]
    assert (names[0], names[-1]) == (entered[0], entered[-1])
    assert names == entered or arguments
