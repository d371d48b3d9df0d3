"""What is recorded of a program that is known: exactly the functions entered, in that order."""

import subprocess

import pytest
from traced import PROGRAMS, Binary, calls_all

KINDS = {
    "pie": ["-fPIE", "-pie"],
    "no-pie": ["-fno-pie", "-no-pie"],
    "static": ["-fno-pie", "-static"],
    "static-pie": ["-fPIE", "-static-pie"],
}
EARLY = {"_start", "indirect", "before_constructors", "first_constructor", "second_constructor"}
STEPS = ["main", "outer", "inner", "alias_target", "chosen", "last", "at_exit", "destructor"]


@pytest.fixture
def witness(tmp_path, run):
    """The functions that a program enters, in order, by single-stepping it."""
    stepper = tmp_path / "single_step"
    run("gcc", "-O2", "-o", stepper, PROGRAMS / "single_step.c")

    def witness(binary):
        lines = run(stepper, *(f"{a:x}" for a in (binary.entry, binary.low, binary.high)),
                    binary.path, code=None).stderr
        stepped = [int(line, 16) for line in lines.splitlines()]
        return [a for a in stepped if a in binary.names]

    return witness


@pytest.mark.parametrize(("cc", "kind"), [
    ("gcc", "pie"), ("clang", "static-pie"), pytest.param("gcc", "static", marks=pytest.mark.slow),
    pytest.param("clang", "no-pie", marks=pytest.mark.slow)])
def test_exactly_what_is_entered(cc, kind, compile, record, witness, llvm):
    """The trace is, function by function, what single-stepping the program finds."""
    program = compile("order.c", "-O1", *KINDS[kind], cc=llvm / cc if cc == "clang" else cc)
    recording = record("--", program)
    assert (recording.status, recording.stdout) == (3, "done\n")
    binary = Binary(program)
    touched = recording.trace.addresses()
    assert touched == witness(binary)
    names = binary.named(touched)
    assert "never" not in names and set(names) >= EARLY
    assert [n for n in names if n in STEPS] == STEPS


def test_thirty_thousand_functions(compile, record):
    """However many functions are entered, all are in the trace, in their order."""
    program = compile(calls_all(30000), name="many")
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (3, "")
    names = Binary(program).named(recording.trace.addresses())
    own = [name for name in names if name == "main" or name[1:].isdigit()]
    assert own == ["main", *(f"f{n}" for n in range(30000))]
    assert recording.trace.dropped == 0


@pytest.mark.parametrize("build_id", ["sha1", "none"])
def test_module_is_named(build_id, compile, record):
    """A trace says which file was recorded: its absolute path and its build-id, if any."""
    program = compile("order.c", f"-Wl,--build-id={build_id}")
    trace = record("--", program).trace
    assert trace.main.path == str(program)
    assert trace.main.build_id == Binary(program).build_id
    assert bool(trace.main.build_id) == (build_id == "sha1")
    assert not trace.startup_done and trace.dropped == 0
    assert {thread for _, _, thread in trace.events} == {trace.pid}


def test_resolver_without_a_name_of_its_own(compile, record):
    """An IFUNC symbol alone is enough for its resolver to be recorded."""
    program = compile(r"""
        #ifdef __x86_64__
        #define RETURN_CHOSEN "lea chosen(%rip),%rax\nret\n"
        #else
        #define RETURN_CHOSEN "adrp x0,chosen\nadd x0,x0,:lo12:chosen\nret\n"
        #endif
        __asm__(".text\n.globl chosen\n.type chosen,@function\n"
                "chosen: .cfi_startproc\nret\n.cfi_endproc\n"
                ".globl indirect\n.type indirect,@gnu_indirect_function\n"
                "indirect: " RETURN_CHOSEN);
        void indirect(void);
        int main(void) { indirect(); return 0; }""", "-static", name="ifunc")
    names = Binary(program).named(record("--", program).trace.addresses())
    assert names.index("indirect") < names.index("main") < names.index("chosen")


def test_dynamic_symbols_are_enough(compile, record, run):
    """A stripped program that exports its functions is recorded by its dynamic symbols."""
    program = compile("order.c", "-rdynamic")
    binary = Binary(program)
    run("strip", program)
    names = binary.named(record("--", program).trace.addresses())
    assert names.index("outer") < names.index("inner") < names.index("last")


def test_output_is_unchanged(compile, record):
    """The program's output, input and arguments pass through; "@file" is not expanded."""
    program = compile(r"""
        int main(int argc, char **argv) {
          int c;
          for (int i = 1; i < argc; ++i) puts(argv[i]);
          while ((c = getchar()) != EOF) putchar(c);
          fputs("oops\n", stderr);
          return 0;
        }""")
    recording = record("--", program, "@/etc/passwd", "--", "-o", stdin=subprocess.DEVNULL)
    assert (recording.stdout, recording.stderr) == ("@/etc/passwd\n--\n-o\n", "oops\n")


def test_no_trace_replaces_a_file(compile, record, tmp_path):
    """A name that is taken gets .1, .2 and so on; the file that is there stays as it is."""
    program = compile("order.c")
    taken = tmp_path / "trace"
    taken.write_text("mine")
    for _ in range(3):
        record("-o", taken, "--", program)
    assert taken.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.glob("trace.*")) == [f"trace.{n}" for n in range(1, 4)]
