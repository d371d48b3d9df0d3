"""Where a branch cannot reach from the front to the rest, the linker's thunks can."""

import re

import pytest
from linking import LLVM, Image, check_run, ld, report_of, write_profile

# The target, its two branches (to a function that returns here, and for good), and the megabytes
# that they cannot span.
MACHINES = {
    "aarch64": ("--target=aarch64-linux-gnu", "bl", "b", 129),
    "arm": ("--target=armv7a-linux-gnueabi", "bl", "b", 33),
    "thumb": ("--target=thumbv7a-linux-gnueabi", "bl", "b.w", 17),
}
# What each function calls, in the order of the sections. The filler is called only to stay between
# near and far: what the front refers to comes first in the rest.
CALLS = {"_start": ["hot", "near"], "hot": ["filler", "near", "warm", "far"], "warm": ["far"],
         "near": ["warm"], "filler": [], "far": ["hot", "near", "warm"]}
FRONT = ["_start", "hot", "warm"]


def assembler(call: str, leave: str, megabytes: int) -> str:
    text = ".syntax unified\n" if leave == "b.w" else ""
    text += ".thumb\n" if leave == "b.w" else ""
    for name, callees in CALLS.items():
        text += (f'.section .text.{name},"ax",%progbits\n.globl {name}\n.type {name},%function\n'
                 f"{name}:\n")
        text += "".join(f"  {call} {callee}\n" for callee in callees[:-1])
        text += "".join(f"  {leave} {callee}\n" for callee in callees[-1:])
        text += f".zero {megabytes << 20}\n" if name == "filler" else ""
        text += f".size {name}, . - {name}\n"
    return text


class Code:
    """The instructions of a linked file, symbol by symbol."""

    def __init__(self, path):
        self.path, self.image = path, Image(path)
        image = self.image
        self.names = {image.symbols[name].address & ~1: name for name in CALLS}
        self.thunks = {name: image.symbols[name] for name in image.matching("Thunk")}
        text = check_run(LLVM / "llvm-objdump", "-d", "--no-show-raw-insn", path,
                         f"--disassemble-symbols={','.join([*CALLS, *self.thunks])}")
        self.lines = dict(re.findall(r"^\w+ <(\w+)>:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S))

    def reached(self, name: str) -> list[str]:
        """Which functions the branches of this one reach, through a thunk or not."""
        found = re.findall(r"\tblx?\t0x\w+ <(\w+)>|\tb(?:\.w)?\t0x\w+ <(\w+)>", self.lines[name])
        return [self.names[self.behind(direct)] if direct in self.thunks else direct
                for direct in ("".join(pair) for pair in found)]

    def behind(self, thunk: str) -> int:
        """The address that a thunk jumps to."""
        text = self.lines[thunk]
        if "ldr\tx16" in text:  # loads it from behind its two instructions
            section = self.image.sections[self.thunks[thunk].section]
            with self.path.open("rb") as file:
                file.seek(self.thunks[thunk].address + 8 - section["sh_addr"]
                          + section["sh_offset"])
                return int.from_bytes(file.read(8), "little")
        if page := re.search(r"adrp\tx16, 0x(\w+)", text):
            return int(page[1], 16) + int(re.search(r"add\tx16, x16, #0x(\w+)", text)[1], 16)
        low, high = (int(re.search(rf"{half}\t(?:r12|ip), #0x(\w+)", text)[1], 16)
                     for half in ("movw", "movt"))
        value = low + (high << 16)
        # It may be relative to an instruction.
        if add := re.search(r"(\w+):\s+add\t(?:r12|ip), (?:(?:r12|ip), )?pc", text):
            value += int(add[1], 16) + (4 if "Thumb" in thunk else 8)
        return value & 0xFFFFFFFE


@pytest.mark.parametrize("pie", [False, True], ids=["fixed", "pie"])
@pytest.mark.parametrize("machine", MACHINES)
def test_front_and_rest_far_apart_reach_each_other(tmp_path, machine, pie):
    """More lies between than a branch can span; thunks lie with those who need them."""
    target, call, leave, megabytes = MACHINES[machine]
    source, program, output = tmp_path / "a.s", tmp_path / "a.o", tmp_path / "out"
    source.write_text(assembler(call, leave, megabytes))
    check_run(LLVM / "clang", target, "-c", source, "-o", program)
    try:
        ld(program, "-o", output, f"--startup-profile={write_profile(tmp_path, *FRONT)}",
           f"--front-report={tmp_path / 'report'}", *(["-pie"] if pie else []))
        code = Code(output)
        assert {name: code.reached(name) for name in CALLS} == CALLS
    finally:  # they are large
        program.unlink(missing_ok=True)
        output.unlink(missing_ok=True)
    image = code.image
    front = image.sections[".text.front"]
    assert [name for name in CALLS if image.section_of(name) == ".text.front"] == FRONT
    assert image.symbols["far"].address - front["sh_addr"] > megabytes << 20
    places = {name: thunk.section for name, thunk in code.thunks.items()}
    assert sorted(places.values()) == [".text", ".text", ".text", ".text.front"]
    # What the thunks of the front take is part of it.
    assert max((thunk.address & ~1) + thunk.size for thunk in code.thunks.values()
               if thunk.section == ".text.front") <= front["sh_addr"] + front["sh_size"]
    assert report_of(tmp_path / "report").end >= front["sh_offset"] + front["sh_size"]
