"""What is recorded: the code and data that the program itself touches, in order, and no more."""

import platform

import pytest
from recorded import Binary
from trace_decoder import CODE, DATA

LINK_MODES = {"pie": ["-pie", "-fPIE"], "no-pie": ["-no-pie", "-fno-pie"],
              "static": ["-static", "-no-pie"], "static-pie": ["-static-pie", "-fPIE"]}
ORDER = """
    #define ALIGNED __attribute__((aligned(16)))
    #define FUNCTION __attribute__((noinline, aligned(16))) void
    ALIGNED volatile int my_before[64] = {1}, my_written[64] = {1}, my_after[64] = {1};
    ALIGNED volatile int my_zero[64];
    ALIGNED const volatile int my_constant[64] = {1};
    FUNCTION my_unused(void) { my_after[0] = 1; }
    FUNCTION my_second(void) { my_zero[40] = my_constant[9]; }
    FUNCTION my_first(void) { my_written[20] = 2; my_written[63] += 2; }
    int main(int argc, char **argv) {
      (void)argv;
      my_first();
      my_second();
      if (argc > 1)
        my_unused();
      my_first();
      return 0;
    }"""


@pytest.mark.parametrize("mode", LINK_MODES)
def test_order(mode, compile, touches):
    """Code and data come in one order of first touch, in every way of linking; what is beside a
    touched granule is not recorded."""
    assert touches(compile(ORDER, *LINK_MODES[mode])) == [
        "main", "my_first", "my_written+80", "my_written+240", "my_second", "my_constant+32",
        "my_zero+160"]


def test_events(compile, record):
    """A data event is the first byte of a granule; a code event is an instruction, the first one
    executed in its part of four bytes, so a function's is its entry. The thread is the process."""
    program = compile(ORDER)
    recording = record("--", program)
    trace, binary = recording.trace, Binary(program)
    assert all(address % 16 == 0 for kind, (_, address, _) in
               zip(trace.kinds, trace.events, strict=True) if kind == DATA)
    code = [address for kind, (_, address, _) in zip(trace.kinds, trace.events, strict=True)
            if kind == CODE]
    assert len({address // 4 for address in code}) == len(code)
    assert {binary["main"], binary["my_first"], binary["my_second"]} <= set(code)
    assert any(address % 16 for address in code)
    assert {thread for _, _, thread in trace.events} == {trace.pid}
    assert trace.main.path == str(program)
    assert trace.main.build_id == binary.build_id != ""
    assert recording.files[0].name == f"program.{trace.pid}.fltrace"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="in the assembly of x86-64")
def test_branches_in_one_granule(compile, record):
    """Code that shares a granule with other code is told from it, and only what is executed."""
    program = compile("""
        int my_code(int);
        __asm__(".p2align 4\\n.globl my_code\\n.type my_code, @function\\nmy_code:\\n"
                "testl %edi, %edi\\njne 1f\\n"           /* bytes 0 and 2 */
                "movl $1, %eax\\nret\\n.skip 2, 0x90\\n" /* 4 and 9 */
                "1: xorl %eax, %eax\\nret\\n"            /* 12 and 14 */
                ".size my_code, .-my_code");
        int main(int argc, char **argv) { (void)argv; return my_code(argc) + my_code(0) - 1; }
        """)
    recording = record("--", program)
    assert recording.status == 0
    begin = Binary(program)["my_code"]
    trace = recording.trace
    assert [address - begin for kind, (_, address, _) in zip(trace.kinds, trace.events, strict=True)
            if kind == CODE and begin <= address < begin + 16] == [0, 12, 4, 9]


def test_access_over_an_edge(compile, touches):
    """An access that lies in two granules touches both."""
    assert touches(compile("""
        __attribute__((aligned(16))) char my_bytes[64] = {1};
        int main(void) { *(volatile int *)(my_bytes + 30) = 1; return 0; }
        """)) == ["main", "my_bytes+16", "my_bytes+32"]


def test_library_code_touches_for_the_program(compile, touches):
    """What a function of the C library reads or writes for the program is the program's touch."""
    assert touches(compile("""
        #include <string.h>
        __attribute__((aligned(16))) const char my_from[64] = "text";
        __attribute__((aligned(16))) char my_to[64];
        int main(int argc, char **argv) {
          (void)argv;
          memcpy(my_to + 32, my_from + 16, argc * 16);
          return 0;
        }""")) == ["main", "my_from+16", "my_to+32"]


@pytest.mark.parametrize("mode", ["pie", "static-pie"])
def test_relocation_is_not_a_touch(mode, compile, record):
    """A table of pointers is written by the loader from end to end; only the entry that the program
    reads is recorded."""
    program = compile("""
        static int my_a = 1, my_b = 2;
        __attribute__((aligned(16))) int *const my_table[64] = {
            &my_a, &my_b, &my_a, &my_b, &my_a, &my_b, [63] = &my_b};
        int main(int argc, char **argv) {
          (void)argv;
          return *((int *const volatile *)my_table)[argc + 3] - 1;
        }""", *LINK_MODES[mode])
    recording = record("--", program)
    assert recording.status == 0
    assert [t for t in Binary(program).touches(recording.trace) if "table" in t] == ["my_table+32"]


def test_ifunc_resolver_is_the_programs(compile, touches):
    """A resolver is the program's code, although the loader calls it; what the loader does after it
    is the loader's again."""
    names = touches(compile("""
        static volatile int my_choice = 1;
        static int my_one(void) { return 0; }
        static int (*my_resolver(void))(void) { my_choice += 1; return my_one; }
        int my_function(void) __attribute__((ifunc("my_resolver")));
        __attribute__((aligned(16))) int *volatile my_table[4] = {(int *)&my_choice};
        int main(void) { return my_function(); }
        """, "-pie", "-fPIE"))
    assert [n.split("+")[0] for n in names] == ["my_resolver", "my_choice", "main", "my_one"]


def test_large_and_empty_bss(compile, touches):
    """A huge array of which little is touched costs neither memory nor time."""
    assert touches(compile("""
        __attribute__((aligned(16))) char my_huge[1 << 29];
        int main(void) { ((volatile char *)my_huge)[1 << 28] = 1; return 0; }
        """)) == ["main", "my_huge+268435456"]
