"""The runtime in programs of other processors, under QEMU's user mode. (It drops the advice by
which the runtime knows a forked child, so children are for test/aarch64.)"""

from pathlib import Path

import crossed
import pytest
from runtime_trace import Trace, decode

CHAIN = """
#include <stdio.h>
#define KEPT __attribute__((noinline)) void
KEPT last(void) { __asm__ volatile(""); }
KEPT first(void) { last(); __asm__ volatile(""); }
KEPT never(void) { __asm__ volatile(""); }
int main(int argc, char **argv) { first(); first(); if (argc > 7) never(); puts("done"); return 3; }
"""
COVERAGE = ("-fsanitize-coverage=func,trace-pc,trace-loads,trace-stores",
            "-fno-sanitize-link-runtime")
INSTRUMENT = ("-finstrument-functions",)


def record(cross, program: Path, folder: Path, *qemu, code=0) -> Trace:
    trace = folder / "trace"
    cross.run(program, qemu=qemu, code=code, environment={
        **cross.library_path, "FRONTLOAD_TRACE": str(trace)})
    return decode(trace)


def linked(cross, source: str, *flags) -> Path:
    return cross.compile(source, *flags, cross.build / "lib/libfrontload-rt.a")


@pytest.mark.parametrize("linking", [*crossed.LINKING, "the shared runtime"])
def test_each_function_once_in_order(cross, linking, tmp_path):
    """However the program is linked; its output and status are its own."""
    if linking in crossed.LINKING:
        program = linked(cross, CHAIN, *INSTRUMENT, *cross.linking(linking))
    else:
        program = cross.compile(CHAIN, *INSTRUMENT, cross.build / "lib/libfrontload-rt.so")
    trace = record(cross, program, tmp_path, code=3)
    assert trace.names() == ["main", "first", "last"]
    assert trace.offsets() == [0, 0, 0]


def test_a_library_that_is_opened(cross, tmp_path):
    """Functions of an instrumented library have a module of their own."""
    library = cross.compile("void opened(void) { __asm__ volatile(\"\"); }", *INSTRUMENT, "-shared",
                            "-fPIC", name="opened.c")
    program = linked(cross, f"""
        #include <dlfcn.h>
        int main(void) {{
          void *library = dlopen("{library}", RTLD_NOW);
          ((void (*)(void))dlsym(library, "opened"))();
          return dlclose(library);
        }}""", *INSTRUMENT, "-rdynamic")
    assert record(cross, program, tmp_path).names(library) == ["opened"]


DATA = """
#include <stdint.h>
volatile int table[64] __attribute__((aligned(16))) = {1};
volatile int other[64] __attribute__((aligned(16)));
__attribute__((noinline)) void put(volatile int *at) { at[9] = 1; }
int main(void) { put((volatile int *)((uintptr_t)table | TAG)); put(table); return other[63]; }
"""


@crossed.only(crossed.AARCH64)
@pytest.mark.parametrize("tag", ["0", "UINT64_C(0xab) << 56"], ids=["plain", "tagged"])
def test_data(cross, tag, tmp_path):
    """clang's coverage gives functions and data. AArch64 ignores the top byte of an address, in
    which HWASan keeps tags of variables: it is no part of it."""
    trace = record(cross, linked(cross, DATA, f"-DTAG=({tag})", *COVERAGE), tmp_path)
    assert trace.names() == ["main", "put"]
    assert (trace.granules("table"), trace.granules("other")) == ([32], [240])


@crossed.only(crossed.AARCH64)
@pytest.mark.parametrize("instrument", [INSTRUMENT, COVERAGE], ids=["functions", "coverage"])
def test_signed_return_addresses(cross, instrument, tmp_path):
    """Where return addresses are signed, hooks that go by theirs give functions nevertheless."""
    program = linked(cross, CHAIN, *instrument, "-mbranch-protection=pac-ret+leaf+bti")
    trace = record(cross, program, tmp_path, code=3)
    assert trace.names() == ["main", "first", "last"]


@crossed.only(crossed.AARCH64)
@pytest.mark.parametrize("instrument", [INSTRUMENT, COVERAGE], ids=["functions", "coverage"])
def test_pages_of_64_kib(cross, instrument, tmp_path):
    """As kernels of some distributions have them; the emulator maps files by such pages then."""
    program = linked(cross, f"""
        #include <unistd.h>
        #define MANY(F) {' '.join(f'F({n})' for n in range(1000))}
        #define DEFINE(n) __attribute__((noinline)) void f##n(void) {{ __asm__ volatile(""); }}
        #define CALL(n) f##n();
        volatile int table[40000] __attribute__((aligned(16)));
        MANY(DEFINE)
        int main(void) {{
          for (int i = 0; i < 40000; i += 4) table[i] = i;
          MANY(CALL)
          return sysconf(_SC_PAGESIZE) >> 10;
        }}""", *instrument)
    trace = record(cross, program, tmp_path, "-p", "65536", code=64)
    assert trace.names() == ["main", *(f"f{n}" for n in range(1000))]
    assert trace.granules("table") == (list(range(0, 160000, 16)) if instrument is COVERAGE else [])
    assert trace.dropped == 0


def test_a_forked_child_is_not_harmed(cross, tmp_path):
    """Where nothing tells the runtime of a fork, a child's calls are not taken for its parent's."""
    trace = record(cross, linked(cross, """
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void child(void) { __asm__ volatile(""); }
        __attribute__((noinline)) void parent(void) { __asm__ volatile(""); }
        int main(void) {
          int status;
          if (fork() == 0) { child(); _exit(7); }
          wait(&status);
          parent();
          return WEXITSTATUS(status);
        }""", *INSTRUMENT), tmp_path, code=7)
    assert trace.names() == ["main", "parent"]
