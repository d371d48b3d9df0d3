"""What other starts are likely to touch: the tail behind a front, and fronts without a profile."""

import json
import struct
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from linking import (
    ALWAYS,
    LD_FRONTLOAD,
    Image,
    check_run,
    compile_text,
    front,
    link,
    write_profile,
)
from places import LLVM

PROGRAM = """
#define F __attribute__((noinline, aligned(1)))
#define BODY __asm__ volatile(".skip 60, 0x90" ::: "memory");
F int unrelated(int x) { BODY return x + 9; }
F int third(int x) { BODY return x + 3; }
F int second(int x) { BODY return third(x) + 2; }
F int first(int x) { BODY return second(x) + 1; }
F int begun(int x) { BODY return x; }
F __attribute__((constructor)) void make(void) { begun(1); }
int (*volatile table)(int) = unrelated;
int main(int c, char **v) { BODY BODY BODY return c > 5 ? first(c) : 0; }
"""
AUTO = "-Wl,--front=auto"


@pytest.fixture
def program(tmp_path):
    return compile_text(tmp_path, "a.c", PROGRAM, "-O1")


def tail_of(path: Path) -> list[tuple[int, int]]:
    """The addresses of the tail's ranges, by the note."""
    with path.open("rb") as stream:
        note = ELFFile(stream).get_section_by_name(".note.frontload").data()
    count, tail = struct.unpack_from("<HH", note, 28)
    numbers = struct.unpack_from(f"<{2 * count}Q", note, 32)
    return list(zip(numbers[::2], numbers[1::2], strict=True))[count - tail:]


def test_likely_functions_follow_in_falling_order(tmp_path, program):
    """What the front calls comes before what that calls in turn, and both before the rest, which
    nothing reaches."""
    image = front(tmp_path, program, entries=("main",)).image
    assert image.is_ordered("main", "first", "second", "third", "unrelated")
    assert image.section_of("main") == ".text.front" != image.section_of("first")


def test_numbers_of_the_model_are_options(tmp_path, program):
    """With one step, what is called by what the front calls stays where it was."""
    image = front(tmp_path, program, "-Wl,-mllvm,-frontload-steps=1", entries=("main",)).image
    assert image.is_ordered("main", "first", "unrelated", "third")


def test_libraries_inside_the_program_are_in_an_untrained_front(tmp_path):
    """They start alike in all programs."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    check_run(LLVM / "clang", f"--ld-path={LD_FRONTLOAD}", "-static", f"{AUTO},{ALWAYS}", program,
              "-o", tmp_path / "out")
    image = Image(tmp_path / "out")
    assert image.sections_of("__libc_start_main", "__libc_setup_tls", "_IO_cleanup") == {
        ".text.front"}
    check_run(tmp_path / "out")


def test_constructors_are_in_an_untrained_front(tmp_path, program):
    """And main(); what these call follows them. The same twice, whatever the threads."""
    outputs = []
    for number, threads in enumerate(("1", "4")):
        output = tmp_path / f"out{number}"
        link(output, program, AUTO, f"-Wl,{ALWAYS},--threads={threads}")
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1]
    image = Image(tmp_path / "out0")
    assert image.sections_of("main", "make") == {".text.front"}
    assert image.sections_of("begun", "first", "unrelated") == {".text"}
    assert image.is_ordered("begun", "unrelated") and image.is_ordered("first", "unrelated")


def test_constructors_of_unneeded_archive_members_are_not(tmp_path):
    """In a large link, which tells whose sections it has."""
    many = "".join(f'.section .text.f{i},"ax"\n.globl f{i}\nf{i}: .skip 64\n' for i in range(5000))
    main = compile_text(tmp_path, "main.s", many + (
        '.section .text.main,"ax"\n.globl main\nmain: call wanted\nret\n'))
    members = [compile_text(tmp_path, f"{name}.c", (
        f"int {name}(void) {{ return 1; }}\nvolatile int {name}_made;\n"
        f"__attribute__((constructor)) static void make_{name}(void) {{ {name}_made = 1; }}\n"))
        for name in ("wanted", "unwanted")]
    check_run(LLVM / "llvm-ar", "rcs", tmp_path / "lib.a", *members)
    link(tmp_path / "out", main, tmp_path / "lib.a", AUTO, f"-Wl,{ALWAYS},--no-gc-sections")
    image = Image(tmp_path / "out")
    assert image.sections_of("make_wanted", "main") == {".text.front"}
    assert not image.matching("unwanted")


def test_the_tail_is_noted_as_far_as_it_costs_nothing(tmp_path):
    """It is asked for behind the front, and a start that needs none of it reads no more than
    without a front: a program that saves little has none."""
    # Each function that runs lies in a window of its own.
    text = ".section .note.GNU-stack,\"\"\n" + "".join(
        f'.section .text.{name}{i},"ax"\n.globl {name}{i}; .type {name}{i},@function\n'
        f"{name}{i}: {body}\n.size {name}{i}, .-{name}{i}\n"
        for i in range(40) for name, body in (
            ("hot", f".skip 2000\ncall likely{i}"), ("likely", ".skip 100"),
            ("rest", ".skip 140000")))
    many = compile_text(tmp_path, "many.s", text)
    main = compile_text(tmp_path, "main.s", '.section .text.main,"ax"\n.globl main\nmain: ret\n')
    tails = []
    for runs in (40, 2):
        profile = write_profile(tmp_path, "main", *(f"hot{i}" for i in range(runs)))
        link(tmp_path / "out", main, many, "-Wl,--no-gc-sections,--front-report="
             f"{tmp_path / 'report'}", profile=profile)
        image, told = Image(tmp_path / "out"), json.loads((tmp_path / "report").read_text())
        ranges = tail_of(tmp_path / "out")
        tails.append(sum(end - begin for begin, end in ranges))
        assert tails[-1] == told["front"]["tail"]
        for i in range(runs if tails[-1] else 0):
            address = image.symbols[f"likely{i}"].address
            assert any(begin <= address < end for begin, end in ranges)
    assert tails[0] >= 4000


@pytest.mark.parametrize("option", ["script", "order", "stdout"])
def test_it_steps_aside(tmp_path, program, option):
    """Where a front cannot be, the file is as lld links it, and why is said: the option may stand
    in the flags of any build."""
    script, order = tmp_path / "layout.ld", tmp_path / "order"
    script.write_text("SECTIONS { .text : { *(.text*) } .data : { *(.data*) } }\n")
    order.write_text("first\n")
    flags, reason = {"script": ((f"-T{script}",), b"decides the layout"),
                     "order": ((f"--symbol-ordering-file={order}",), b"--symbol-ordering-file"),
                     "stdout": ((), b"no file")}[option]
    outputs = []
    for linker, more in ((LD_FRONTLOAD, ["--front=auto"]), (LLVM / "ld.lld", [])):
        output = Path("-") if option == "stdout" else tmp_path / "out"
        linked = subprocess.run([linker, "-e", "main", program, *flags, *more, "-o", output],
                                capture_output=True, check=True)
        outputs.append(linked.stdout or output.read_bytes())
        if more:
            assert b"linked without a front: " in linked.stderr and reason in linked.stderr
    assert outputs[0] == outputs[1]


def test_a_profile_is_better(tmp_path, program):
    """Where there is one, --front=auto changes nothing."""
    profile = write_profile(tmp_path, "main", "first")
    for name, more in (("a", ()), ("b", (AUTO,))):
        link(tmp_path / name, program, *more, profile=profile)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_is_not_auto_is_refused(tmp_path, program):
    result = link(tmp_path / "out", program, "-Wl,--front=always", code=2)
    assert "--front: 'always' is not auto" in result.stderr
