"""--blocks: basic blocks are recorded, each once, and only where the map of them fits the code."""

import re
import subprocess

import pytest
from places import LLVM
from trace_decoder import BLOCK, FUNCTION, decode

# Each function in a page of its own, so that it is at the same address however it is compiled.
FLAGS = ("-fbasic-block-address-map", "-falign-functions=4096", f"--ld-path={LLVM}/ld.lld",
         "-Wl,--build-id")
SOURCE = """
    __attribute__((noinline)) int choose(int x) {
      int sum = 0;
      for (int i = 0; i < x; ++i)
        sum += i % 3 == 0 ? i * 7 : i % 5 == 1 ? i - 9 : 3;
      return sum & 4 ? sum * 3 : sum & 2 ? abs(sum - 40) : sum + 2;
    }
    int main(int argc, char **argv) {
      (void)argv;
      int result = 0, status;
      for (int i = 0; i < 20; ++i)
        result = (result * 31 + choose(i)) % 251;
      if (argc > 1 && !fork())
        _exit(choose(100) & 1);
      wait(&status);
      return result % 100;
    }"""


@pytest.fixture
def mapped(compile):
    return lambda name, *flags: compile(SOURCE, *flags, *FLAGS, cc=str(LLVM / "clang"), name=name)


def events(path):
    trace = decode(path)
    return [(kind, address) for kind, (module, address, _) in
            zip(trace.kinds, trace.events, strict=True)
            if trace.modules[module].path == trace.main.path]


def instructions(program) -> set[int]:
    """The addresses of all instructions, by another reader than the tracer's."""
    said = subprocess.run([LLVM / "llvm-objdump", "-d", "--no-show-raw-insn", program],
                          capture_output=True, text=True, check=True).stdout
    return {int(address, 16) for address in re.findall(r"^ *([0-9a-f]+):", said, re.MULTILINE)}


@pytest.mark.parametrize("kind", [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"]])
def test_each_block_once(mapped, record, kind):
    program = mapped("app", "-O2", *kind)
    status = subprocess.run([program]).returncode
    plain = record("--", program)
    functions = [event for event in events(plain.files[0]) if event[0] == FUNCTION]
    recording = record("--blocks", "--", program)
    assert (recording.status, recording.stderr) == (status, "")
    found = events(recording.files[-1])
    assert len(set(found)) == len(found)
    assert [event for event in found if event[0] == FUNCTION] == functions
    blocks = [address for kind, address in found if kind == BLOCK]
    assert len(blocks) > 8 and set(blocks) <= instructions(program)


def test_blocks_of_a_forked_child(mapped, record):
    """It has those that were not run before; the parent goes on with its own."""
    program = mapped("app", "-O2")
    recording = record("--blocks", "--", program, "fork")
    assert recording.status == subprocess.run([program, "fork"]).returncode
    parent, child = sorted(map(events, recording.files), key=len, reverse=True)
    assert child and not set(child) & set(parent[:len(parent) // 2])


def has_blocks(record, program) -> bool:
    """Whether any basic block has a breakpoint, none of which is executed: the loader ends the
    program."""
    said = record("--blocks", "--", "env", "LD_TRACE_LOADED_OBJECTS=1", program).stderr
    return f"{program}: has no map of its basic blocks that fits its code" not in said


def test_a_map_that_does_not_fit(mapped, record, tmp_path):
    """What moved the code left the map as it was: a breakpoint by it would be in the midst of an
    instruction, and what the program then does nobody knows. So it is not run here."""
    program, other = mapped("app", "-O2", "-no-pie"), mapped("other", "-O0", "-no-pie")
    assert has_blocks(record, program)
    section = f".llvm_bb_addr_map={tmp_path / 'map'}"
    subprocess.run([LLVM / "llvm-objcopy", f"--dump-section={section}", other, "/dev/null"],
                   check=True)
    subprocess.run([LLVM / "llvm-objcopy", f"--update-section={section}", program], check=True)
    assert not has_blocks(record, program)


def test_without_a_map(compile, record):
    program = compile(SOURCE, "-O1", cc="gcc", name="app")
    recording = record("--blocks", "--", program)
    assert recording.status == subprocess.run([program]).returncode
    assert "has no map of its basic blocks that fits its code" in recording.stderr
    assert {kind for kind, _ in events(recording.files[0])} == {FUNCTION}
