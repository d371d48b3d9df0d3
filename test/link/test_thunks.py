"""Where a branch cannot reach from the front to the rest, the linker's thunks can."""

import re

import pytest
from linking import LLVM, bare_front, check_run

# The target, its two branches (to a function that returns here, and for good), and the megabytes
# that they cannot span.
MACHINES = {
    "aarch64": ("--target=aarch64-linux-gnu", "bl", "b", 129),
    "arm": ("--target=armv7a-linux-gnueabi", "bl", "b", 33),
    "thumb": ("--target=thumbv7a-linux-gnueabi", "bl", "b.w", 17),
}
# What each function calls, in the order of the sections. What the front refers to comes first in
# the rest, but for filler and far, which are too large.
CALLS = {"_start": ["hot", "near"], "hot": ["filler", "near", "warm", "far"], "warm": ["far"],
         "near": ["warm"], "filler": [], "far": ["hot", "near", "warm"]}
FRONT = ["_start", "hot", "warm"]


def assembler(call: str, leave: str, megabytes: int) -> str:
    text = ".syntax unified\n.thumb\n" if leave == "b.w" else ""
    for name, callees in CALLS.items():
        text += (f'.section .text.{name},"ax",%progbits\n.globl {name}\n.type {name},%function\n'
                 f"{name}:\n")
        text += "".join(f"  {call} {callee}\n" for callee in callees[:-1])
        text += "".join(f"  {leave} {callee}\n" for callee in callees[-1:])
        size = {"filler": megabytes << 20, "far": 128 << 10}.get(name, 0)
        text += f".zero {size}\n" if size else ""
        text += f".size {name}, . - {name}\n"
    return text


def reached(path) -> dict[str, list[str]]:
    """Which functions the branches of each one reach; a thunk has the name of what it jumps to."""
    text = check_run(LLVM / "llvm-objdump", "-d", "--no-show-raw-insn", path,
                     f"--disassemble-symbols={','.join(CALLS)}")
    lines = re.findall(r"^\w+ <(\w+)>:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
    return {name: [target.rpartition("Thunk_")[2] for target in
                   re.findall(r"\t(?:blx?|b|b\.w)\t0x\w+ <(\w+)>", body)] for name, body in lines}


@pytest.mark.parametrize("pie", [False, True], ids=["fixed", "pie"])
@pytest.mark.parametrize("machine", MACHINES)
def test_front_and_rest_far_apart_reach_each_other(tmp_path, machine, pie):
    """More lies between than a branch can span; thunks lie with those who need them."""
    target, call, leave, megabytes = MACHINES[machine]
    source, program, output = tmp_path / "a.s", tmp_path / "a.o", tmp_path / "out"
    source.write_text(assembler(call, leave, megabytes))
    check_run(LLVM / "clang", target, "-c", source, "-o", program)
    try:
        linked = bare_front(tmp_path, program, *["-pie"] * pie, entry="_start", entries=FRONT)
        image = linked.image
        assert reached(output) == CALLS
    finally:  # they are large
        program.unlink(missing_ok=True)
        output.unlink(missing_ok=True)
    code = image.sections[".text"]
    assert [name for name in CALLS if image.section_of(name) == ".text.front"] == FRONT
    assert image.symbols["far"].address - code["sh_addr"] > megabytes << 20
    thunks = [image.symbols[name] for name in image.matching("Thunk")]
    assert sorted(t.section for t in thunks) == [".text", ".text", ".text", ".text.front"]
    # What the thunks of the front take is part of it.
    assert max((thunk.address & ~1) + thunk.size for thunk in thunks
               if thunk.section == ".text.front") <= image.code_end
    assert linked.end >= image.code_end - code["sh_addr"] + code["sh_offset"]
