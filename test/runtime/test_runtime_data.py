"""Data: each granule of a module's data once, and nothing else, under clang's coverage hooks."""

import pytest
from instrumented import COVERAGE
from runtime_trace import DATA

DATA_ONLY = "-fsanitize-coverage=func,trace-loads,trace-stores"
# Names that libc has not, which is linked to static programs.
TABLE = """
static const int table[64] __attribute__((aligned(16))) = {1, 2, 3};
int numbers[64] __attribute__((aligned(16))) = {1, 2, 3};
int zeros[64] __attribute__((aligned(16)));
const int *const relocated[8] __attribute__((aligned(16))) = {table, numbers};
volatile int zero;
"""


@pytest.mark.parametrize("flags", [
    ["-O0", "-pie", "-fPIE"], ["-O2", "-no-pie"], ["-O0", "-static"], ["-O2", "-static-pie"],
    ["-O2", "-fuse-ld=lld", "-Wl,-z,separate-loadable-segments"],
    ["-O2", "-fuse-ld=lld", "-Wl,--no-rosegment"]])
def test_touched_granules_only(covered, record, flags):
    """Granules of all kinds of data that were read or written are there once, no others."""
    program = covered(TABLE + """
        int main(void) {
          for (int i = 0; i < 3; ++i) {
            numbers[10 + zero] = table[21 + zero] + table[5 + zero];
            zeros[63 - zero] = *relocated[3 - 2 - zero];
          }
          return 0;
        }""", *flags)
    trace = record(program).only
    assert trace.granules("table") in ([80, 16], [16, 80])
    assert trace.granules("numbers") in ([32, 0], [0, 32])
    assert (trace.granules("zeros"), trace.granules("relocated")) == ([240], [0])
    assert len(trace.of_kind(DATA)) == 7  # with the one that has `zero`
    assert trace.names() == ["main"]


def test_every_size(covered, record):
    """Loads and stores of all sizes are recorded; one across two granules touches both."""
    types = ("int8_t", "int16_t", "int32_t", "int64_t", "__int128")
    accesses = "".join(f"""
          *({type} *)(numbers + {32 * i}) = 1;
          volatile {type} of_{type} = *({type} *)(numbers + {32 * i + 16});
          (void)of_{type};""" for i, type in enumerate(types))
    program = covered("""
        typedef struct { long value; } __attribute__((packed)) packed;
        char numbers[8192] __attribute__((aligned(4096)));
        KEPT void add(char *to) { ++((packed *)to)->value; }
        int main(void) {""" + accesses + """
          add(numbers + 1004);
          add(numbers + 4095);
          return 0;
        }""")
    assert record(program).only.granules("numbers") == [
        *range(0, 160, 16), 992, 1008, 4080, 4096]


def test_stack_and_heap_are_ignored(covered, record):
    """What belongs to no module is not recorded."""
    program = covered(TABLE + """
        void __sanitizer_cov_load4(const void *);
        _Thread_local int local[64];
        static void *use(void *memory) {
          volatile int on_stack[64];
          for (int i = 0; i < 64; ++i)
            ((volatile int *)memory)[i] = on_stack[i] = local[i] = i;
          return memory;
        }
        int main(void) {
          pthread_t thread;
          use(malloc(256));
          use(malloc(1 << 20));
          use(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
          pthread_create(&thread, 0, use, malloc(256));
          pthread_join(thread, 0);
          for (long address = -64; address < 64; ++address)
            __sanitizer_cov_load4((void *)address);
          return numbers[0] - 1;
        }""", "-pthread")
    trace = record(program).only
    assert trace.granules("numbers") == [0] and len(trace.of_kind(DATA)) == 1


def test_ignoring_makes_no_system_call(covered, calls_while, runtime):
    """What was found to be no module's is ignored at once, as what was touched is."""
    program = covered("""
        int data __attribute__((aligned(16)));
        KEPT void use(volatile int *on_stack) { *on_stack = data; }
        int main(void) {
          int on_stack;
          use(&on_stack);
          write(-1, "often", 5);
          use(&on_stack);
          write(-1, "often", 5);
          return 0;
        }""", "-O1", runtime=runtime)
    calls, recording = calls_while(program)
    assert calls == 0 and recording.only.granules("data") == [0]


def test_nothing_of_its_own_is_no_trace(covered, record):
    """A process that touches no module makes no file."""
    program = covered("int main(void) { volatile int on_stack = 0; return on_stack; }",
                      instrument=DATA_ONLY)
    assert record(program).traces == {}


def test_libraries_data(covered, record):
    """Data of shared libraries, instrumented or not, with code or without, is theirs."""
    rpath = "-Wl,-rpath,$ORIGIN"
    libraries = []
    for name, source, instrument in [
            ("covered", TABLE + "int in_covered(void) { return table[zero + 4]; }", COVERAGE),
            ("plain", "int plain[64] __attribute__((aligned(16))) = {1};", None),
            ("data", "const int only[64] __attribute__((aligned(16))) = {1};", None)]:
        flags = ["-nostdlib", "-fuse-ld=lld"] if name == "data" else []
        libraries.append(covered(source, "-shared", "-fPIC", *flags, instrument=instrument,
                                 name=f"lib{name}.so", runtime=[]))
    program = covered("""
        extern int plain[64];
        extern const int only[64];
        int in_covered(void);
        int main(void) { plain[9] = only[33]; return in_covered(); }
        """, *libraries, rpath, "-pie")
    trace = record(program).only
    assert trace.granules("table", libraries[0]) == [16]
    assert trace.granules("plain", libraries[1]) == [32]
    assert trace.granules("only", libraries[2]) == [128]
    assert trace.names() == ["main", "in_covered"]


@pytest.fixture
def touching(cc, opener, record, tmp_path):
    """What is touched of numbers in lib.so, which is not instrumented; and the recording."""
    def touching(*words, runtime=None, code=0):
        cc("int numbers[4096] __attribute__((aligned(4096))) = {1};", "-shared", "-fPIC",
           "-Wl,--build-id", instrument=None, name="lib.so", runtime=[])
        recording = record(opener("-Wl,-u,__sanitizer_cov_store4", runtime=runtime),
                           "open=./lib.so", *words, cwd=tmp_path, code=code)
        return recording, recording.only.granules("numbers", tmp_path / "lib.so")

    return touching


def test_library_reloaded_elsewhere(touching, runtime):
    """A library opened again elsewhere is one module; its former place is not taken for it."""
    recording, granules = touching(
        "touch=1000", "touch=0", "occupy", "former=4", "former=2000", "open=./lib.so", "elsewhere",
        "touch=8", "touch=1000", "touch=0", runtime=runtime)
    assert granules == [4000, 0, 32] and len(recording.only.modules) == 2


@pytest.mark.parametrize("before", [[], ["touch=1000"]])
def test_library_where_the_heap_was(touching, runtime, before):
    """A library where other memory was is recorded in each page that was not used."""
    recording, granules = touching(
        *before, "occupy", "former=0", "free", "open=./lib.so", "here", "touch=2000", "touch=0",
        runtime=runtime, code=None)
    if recording.result.returncode == 77:
        pytest.skip("the dynamic linker chose another place")
    assert granules == [4000] * len(before) + [8000, 0]


def test_coverage_given_at_the_link(cc, record):
    """Our hooks, not those of the sanitizer that the flags link as well, are called."""
    source = TABLE + "int main(void) { return numbers[8 + zero]; }"
    for instrument, remedy in [(COVERAGE, []), (DATA_ONLY, ["-Wl,-u,__sanitizer_cov_trace_pc"])]:
        program = cc(source, *remedy, compiler="clang", instrument=instrument)
        assert record(program).only.granules("numbers") == [32]


def test_fork(covered, record):
    """A forked child and its parent each record their own, until startup is over."""
    program = covered(TABLE + """
        int main(void) {
          numbers[0] = 1;
          pid_t child = fork();
          if (child == 0) {
            numbers[8] = numbers[0];
            _exit(0);
          }
          waitpid(child, 0, 0);
          numbers[12] = 1;
          frontload_startup_done();
          numbers[16] = 1;
          printf("%d %d", getpid(), child);
          return 0;
        }""")
    parent, child = record(program).printed
    assert (parent.granules("numbers"), child.granules("numbers")) == ([0, 48], [0, 32])
