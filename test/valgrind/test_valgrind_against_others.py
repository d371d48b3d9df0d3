"""What others see of the same start: each instruction by single-stepping, each access by Valgrind's
own tool lackey. Programs without a loader touch exactly that."""

import ctypes
import os
import platform
import random
import re
import shutil
import subprocess

import pytest
from trace_decoder import CODE, DATA

PROGRAMS = 20
GRANULE = 16
PTRACE_TRACEME, PTRACE_PEEKUSER, PTRACE_SINGLESTEP, OFFSET_OF_RIP = 0, 3, 9, 16 * 8
FLAGS = ("-nostdlib", "-static", "-no-pie", "-fno-pie", "-fno-stack-protector", "-msse2",
         "-Wno-unused-value")


def source(seed: int) -> str:
    """A program of random tables, functions and accesses of all sizes."""
    rng = random.Random(seed)
    types = ["char", "short", "int", "long", "double", "struct { long a[5]; }"]
    tables = [(f"table_{i}", rng.choice(types), rng.randrange(4, 200), rng.choice(["const ", ""]))
              for i in range(rng.randrange(3, 9))]
    lines = [f"{const}{kind} {name}[{size}] = {{0}};" for name, kind, size, const in tables]
    lines += ["void *memcpy(void *to, const void *from, unsigned long n) {"
              " char *t = to; const char *f = from; while (n--) *t++ = *f++; return to; }",
              "char buffer[4096]; volatile long sink;"]
    for number in range(rng.randrange(2, 8)):
        body = []
        for _ in range(rng.randrange(1, 6)):
            name, _, size, const = rng.choice(tables)
            at = rng.randrange(size)
            body.append(rng.choice([
                f"memcpy(buffer + {rng.randrange(2000)}, &{name}[{at}], sizeof {name}[0]);",
                f"sink += *(volatile char *)&{name}[{at}];",
                f"*(volatile int *)(buffer + {rng.randrange(4000)}) += {at};",
                f"for (int i = {at}; i < {size}; ++i) sink += *(volatile char *)&{name}[i];",
                "" if const else f"*(volatile char *)&{name}[{at}] = 1;",
                f"__sync_fetch_and_add((int *)(buffer + {4 * rng.randrange(1000)}), 1);",
                f"if (sink == {at}) __builtin_memset(buffer, 1, {8 * rng.randrange(1, 9)});"]))
        lines.append(f"__attribute__((noinline)) void f{number}(void) {{ {' '.join(body)} }}")
    calls = " ".join(f"f{rng.randrange(number + 1)}();" for _ in range(rng.randrange(1, 6)))
    lines.append(f"void _start(void) {{ {calls} __asm__ volatile("
                 '"mov $60, %eax; xor %edi, %edi; syscall"); }')
    return "\n".join(lines)


def granules(addresses) -> set[int]:
    return {address // GRANULE for address in addresses}


def stepped(program) -> set[int]:
    """The addresses of all instructions that a process executes."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype, libc.ptrace.argtypes = ctypes.c_long, [ctypes.c_long] * 4
    child = os.fork()
    if child == 0:
        try:
            libc.ptrace(PTRACE_TRACEME, 0, 0, 0)
            os.execv(program, [str(program)])
        finally:
            os._exit(127)
    found = set()
    while os.WIFSTOPPED(os.waitpid(child, 0)[1]):
        found.add(libc.ptrace(PTRACE_PEEKUSER, child, OFFSET_OF_RIP, 0))
        libc.ptrace(PTRACE_SINGLESTEP, child, 0, 0)
    return found


def logged(program, folder) -> tuple[set[int], set[int]]:
    """The granules of the instructions and of the accesses in a log of lackey."""
    subprocess.run(["valgrind", "--command-line-only=yes", "--tool=lackey", "--trace-mem=yes",
                    "--basic-counts=no", f"--log-file={folder / 'log'}", program], check=True)
    code, data = set(), set()
    for kind, address, size in re.findall(r"^(I | L| S| M) ([0-9a-f]+),(\d+)$",
                                          (folder / "log").read_text(), re.MULTILINE):
        begin = int(address, 16)
        if kind == "I ":
            code.add(begin // GRANULE)
        else:
            data |= set(range(begin // GRANULE, (begin + int(size) - 1) // GRANULE + 1))
    return code, data


@pytest.mark.skipif(platform.machine() != "x86_64", reason="steps on x86-64 only")
def test_the_same_touches(compile, record, tmp_path):
    """Not one granule more, and not one less, of 20 programs."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    for seed in range(PROGRAMS):
        program = compile(source(seed), *FLAGS, name=f"program{seed}")
        recording = record("--", program)
        assert (recording.status, recording.stderr) == (0, "")
        trace = recording.of(program)[0]
        code, data = ({address for kind, (_, address, _) in
                       zip(trace.kinds, trace.events, strict=True) if kind == wanted}
                      for wanted in (CODE, DATA))
        log_code, log_data = logged(program, tmp_path)
        program_begin, program_end = 0x400000, 0x500000  # neither the stack nor anything else
        in_program = {granule for granule in log_data
                      if program_begin <= granule * GRANULE < program_end}
        assert code and data
        assert granules(code) == granules(stepped(program)) == log_code, seed
        assert granules(data) == in_program, seed
