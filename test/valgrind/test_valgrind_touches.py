"""What is recorded: the code and data that the program itself touches, in order, and no more."""

import random
import re

import pytest
from abilities import needs
from places import ALL
from recorded import Binary
from trace_decoder import CODE, DATA, Trace

LINK_MODES = {"pie": ["-pie", "-fPIE"], "no-pie": ["-no-pie", "-fno-pie"],
              "static": ["-static", "-no-pie"], "static-pie": ["-static-pie", "-fPIE"]}
ORDER = """
    DATA my_before[64] = {1}, my_written[64] = {1}, my_after[64] = {1}, my_zero[64];
    const DATA my_constant[64] = {1};
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


def addresses(trace: Trace, wanted: int) -> list[int]:
    """Of the events of one kind."""
    return [address for kind, (_, address, _) in zip(trace.kinds, trace.events, strict=True)
            if kind == wanted]


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
    assert all(address % 16 == 0 for address in addresses(trace, DATA))
    code = addresses(trace, CODE)
    assert len({address // 4 for address in code}) == len(code)
    assert {binary["main"], binary["my_first"], binary["my_second"]} <= set(code)
    assert any(address % 16 for address in code)
    assert {thread for _, _, thread in trace.events} == {trace.pid}
    assert trace.main.path == str(program)
    assert trace.main.build_id == binary.build_id != ""
    assert recording.files[0].name == f"program.{trace.pid}.fltrace"


@needs("x86-64")
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
    begin = Binary(program)["my_code"]
    assert [address - begin for address in addresses(record("--", program).trace, CODE)
            if begin <= address < begin + 16] == [0, 12, 4, 9]


def test_kinds_of_touches(compile, touches):
    """An access over the edge of a granule touches both, what the C library does for the program
    counts, a huge array costs nothing, and neither an exec that fails nor closed descriptors end
    the recording."""
    assert touches(compile("""
        #define DATA __attribute__((aligned(16)))
        DATA char my_bytes[64] = {1}, my_to[64], my_huge[1 << 29];
        DATA const char my_from[64] = "text";
        DATA my_after_exec[4], my_after_close[4];
        int main(int argc, char **argv) {
          (void)argv;
          *(volatile int *)(my_bytes + 30) = 1;
          memcpy(my_to + 32, my_from + 16, argc * 16);
          ((volatile char *)my_huge)[1 << 28] = 1;
          execl("/no/such/program", "program", (char *)0);
          my_after_exec[0] = 1;
          for (int i = 0; i < 10000; ++i)
            if (close(i) == 0 && i > 2)
              return 1;
          my_after_close[0] = 1;
          return 0;
        }""")) == ["main", "my_bytes+16", "my_bytes+32", "my_from+16", "my_to+32",
                   "my_huge+268435456", "my_after_exec+0", "my_after_close+0"]


@pytest.mark.parametrize("mode", ["pie", "static-pie"])
def test_relocation_is_not_a_touch(mode, compile, touches):
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
    assert [touch for touch in touches(program) if "table" in touch] == ["my_table+32"]


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


GRANULE = 16
PROGRAM = range(0x400000, 0x500000)  # neither the stack nor anything else
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
    for number in range(8):
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
    calls = " ".join(f"f{number}();" for number in range(8) if rng.randrange(3))
    lines.append(f"void _start(void) {{ {calls} __asm__ volatile("
                 '"mov $60, %eax; xor %edi, %edi; syscall"); }')
    return "\n".join(lines)


def granules(begins, sizes=None) -> set[int]:
    return {granule for begin, size in zip(begins, sizes or [1] * len(begins), strict=True)
            for granule in range(begin // GRANULE, (begin + size - 1) // GRANULE + 1)}


@needs("x86-64")
@pytest.mark.parametrize("seed", range(20 if ALL else 4))
def test_what_another_tool_sees(seed, compile, record, run, tmp_path):
    """Valgrind's own tool lackey logs each instruction and access: of a program without a loader,
    not one granule more and not one less is recorded."""
    program = compile(source(seed), *FLAGS)
    trace = record("--", program).trace
    run("valgrind", "--command-line-only=yes", "--tool=lackey", "--trace-mem=yes",
        "--basic-counts=no", f"--log-file={tmp_path / 'log'}", program)
    seen = re.findall(r"^(I | L| S| M) ([0-9a-f]+),(\d+)$", (tmp_path / "log").read_text(), re.M)
    code = [int(address, 16) for kind, address, _ in seen if kind == "I "]
    data = [(int(address, 16), int(size)) for kind, address, size in seen
            if kind != "I " and int(address, 16) in PROGRAM]
    assert granules(addresses(trace, CODE)) == granules(code) != set()
    assert granules(addresses(trace, DATA)) == granules(*zip(*data, strict=True)) != set()
