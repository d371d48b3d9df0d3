"""The built libraries: what they need, what they allow, and what a call costs in instructions."""

import platform
import re

import pytest
from places import ROOT

HOOKS = {"__cyg_profile_func_enter", "__cyg_profile_func_exit", "__cyg_profile_func_enter_bare",
         "__sanitizer_cov_trace_pc",
         *(f"__sanitizer_cov_load{size}" for size in (1, 2, 4, 8, 16)),
         *(f"__sanitizer_cov_store{size}" for size in (1, 2, 4, 8, 16))}
ALLOWED = {"environ", "getauxval", "dl_iterate_phdr", "_dl_find_object",
           "gnu_get_libc_version", "_GLOBAL_OFFSET_TABLE_"}


def test_needs_nothing(archive, run):
    """The archive needs five symbols of libc: no malloc, no memcpy, no errno, no hook."""
    lines = run("nm", "-g", archive).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines if re.match(r"[0-9a-f ]{16} [A-Za-z] ", line)]
    defined = {name for kind, name in symbols if kind not in "Uw"}
    assert {name for kind, name in symbols if kind in "Uw"} - defined <= ALLOWED
    assert {name for name in defined if not name.startswith("frontload_")} == HOOKS


def test_exports(library, llvm, run):
    """The shared library exports no more than it has to, has no TLS, and is never unloaded."""
    names = run("nm", "-D", "--defined-only", "--format=just-symbols", library).stdout.split()
    assert sorted(names) == sorted(HOOKS | {"frontload_startup_done", "frontload_set_role"})
    headers = run(llvm / "llvm-readelf", "-ldW", library).stdout
    assert "NODELETE" in headers and "TLS" not in headers


def stores(instruction):
    """Whether it writes to memory, in the form of GNU's assembler: the last operand is written."""
    name, _, operands = instruction.partition("\t")
    reads_only = name.startswith(("cmp", "test", "bt", "j", "lea", "nop", "endbr"))
    return operands.partition("#")[0].rstrip().endswith(")") and not reads_only


@pytest.mark.parametrize("hook, limit", [
    ("__cyg_profile_func_enter", 32), ("__sanitizer_cov_load1", 40),
    ("__sanitizer_cov_store8", 45)])
def test_fast_path_is_short(archive, llvm, run, hook, limit):
    """A call for what was touched before runs through few instructions and calls nothing."""
    text = run(llvm / "llvm-objdump", f"--disassemble-symbols={hook}", "--no-show-raw-insn",
               archive).stdout
    body = text.split(">:\n")[1].split("\n\n")[0]
    instructions = [line.split("\t", 1)[1] for line in body.splitlines() if "\t" in line]
    instructions = instructions[:instructions.index("retq") + 1 if "retq" in instructions else None]
    assert len(instructions) < limit and not any("call" in i for i in instructions)
    # Threads that only read have no cache line that moves between them.
    assert not [i for i in instructions if stores(i)]


def test_no_neighbour_in_its_cache_lines(library, run):
    """What each call of a hook reads has its cache lines to itself."""
    lines = [line.split() for line in run("nm", "-S", library).stdout.splitlines()]
    ((start, size),) = [(int(line[0], 16), int(line[1], 16)) for line in lines
                        if line[-1] == "frontload_state"]
    assert start % 128 == 0 and size == 128


@pytest.mark.parametrize("target", ["i386-linux-gnu", "x86_64-linux-gnux32",
                                    "armv7a-linux-gnueabihf", "riscv32-linux-gnu",
                                    "s390x-linux-gnu"])
def test_where_it_does_not_record(llvm, run, target):
    """For a processor that it does not know, or of 32 bits, it does not compile, and says why."""
    result = run(llvm / "clang", f"--target={target}", "-fsyntax-only", "-ffreestanding", "-x", "c",
                 ROOT / "instrument/base/machine.h", code=1)
    errors = [line for line in result.stderr.splitlines() if "error: " in line]
    assert len(errors) == 1 and errors[0].endswith(
        '"frontload records on x86-64, AArch64 and 64-bit RISC-V Linux only"')


def features(path, run):
    known = {"x86_64": "x86 feature: IBT, SHSTK", "aarch64": "AArch64 feature: BTI, PAC"}
    return known[platform.machine()] in run("readelf", "-n", path).stdout


@pytest.mark.parametrize("name", ["rt", "prefetch"])
@pytest.mark.parametrize("linker", ["bfd", "lld"])
def test_takes_no_branch_protection_away(build, cc, run, llvm, linker, name):
    """What is protected by IBT and shadow stacks (or BTI and PAC) stays so with our code."""
    assert features(build / f"lib/libfrontload-{name}.so", run)
    if platform.machine() == "x86_64":
        flags = ["-fcf-protection=full", "-Wl,-z,cet-report=error"]
    else:
        flags = ["-mbranch-protection=standard"]
    start = {"rt": "__cyg_profile_func_enter", "prefetch": "frontload_prefetch_at_start"}[name]
    lld = [f"-B{llvm}", "-fuse-ld=lld"] if linker == "lld" else []
    # The compiler's own start-up code may not be protected.
    program = cc("""
        KEPT void called(void) {}
        #ifdef __x86_64__
        __attribute__((force_align_arg_pointer))
        #endif
        void _start(void) {
          called();
          _exit(0);
        }""", *flags, *lld, "-nostartfiles", f"-Wl,-u,{start}",
        runtime=[build / f"lib/libfrontload-{name}.a"])
    assert features(program, run)
    run(program)
