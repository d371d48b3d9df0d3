"""Data: each granule of a module's data once, and nothing else, under clang's coverage hooks."""

import pytest
from conftest import COVERAGE
from test_runtime_modules import OPENER
from test_runtime_processes import WAIT
from test_runtime_storage import limit_file_size

DATA_ONLY = "-fsanitize-coverage=func,trace-loads,trace-stores"
# Names that libc has not, which is linked to static programs.
TABLE = """
#include <stdint.h>
static const int table[64] __attribute__((aligned(16))) = {1, 2, 3};
int numbers[64] __attribute__((aligned(16))) = {1, 2, 3};
int zeros[64] __attribute__((aligned(16)));
const int *const relocated[8] __attribute__((aligned(16))) = {table, numbers};
volatile int zero;
"""


@pytest.mark.parametrize("linking", [
    ["-pie", "-fPIE"], ["-no-pie"], ["-static"], ["-static-pie"],
    ["-fuse-ld=lld", "-Wl,-z,separate-loadable-segments"], ["-fuse-ld=lld", "-Wl,--no-rosegment"]])
@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
def test_touched_granules_only(covered, record, linking, optimize):
    """Of constants, relocated constants, initialised and zero data, the granules that were read or
    written are there once, by their addresses in the file, and their neighbours are not."""
    program = covered(TABLE + """
        int main(void) {
          for (int i = 0; i < 3; ++i) {
            numbers[10 + zero] = table[21 + zero] + table[5 + zero];
            zeros[63 - zero] = *relocated[3 - 2 - zero];
          }
          return 0;
        }""", optimize, *linking)
    trace = record(program).only
    assert trace.granules("table") in ([80, 16], [16, 80])
    assert trace.granules("numbers") in ([32, 0], [0, 32])
    assert (trace.granules("zeros"), trace.granules("relocated")) == ([240], [0])
    assert len(trace.data) == 7 and trace.names() == ["main"]  # and the one that has `zero`


@pytest.mark.parametrize("type, way", [
    (t, w) for t in ("int8_t", "int16_t", "int32_t", "int64_t", "__int128") for w in ("r", "w")])
def test_every_size(covered, record, type, way):
    """Loads and stores of all five sizes are recorded."""
    access = f"*({type} *)(numbers + 8) = 1" if way == "w" else f"sink = *({type} *)(numbers + 8)"
    program = covered(TABLE + f"int main(void) {{ volatile {type} sink = 0; {access};"
                      " return (int)sink & 0; }")
    assert record(program).only.granules("numbers") == [32]


def test_access_across_granules(covered, record):
    """An access that straddles two granules touches both, also where they are on two pages; one
    that ends where the next begins does not."""
    program = covered("""
        typedef struct { long value; } __attribute__((packed)) packed;
        char numbers[8192] __attribute__((aligned(4096)));
        KEPT void add(char *to) { ++((packed *)to)->value; }
        int main(void) {
          add(numbers + 12);
          add(numbers + 40);
          add(numbers + 4095);
          return 0;
        }""")
    assert record(program).only.granules("numbers") == [0, 16, 32, 4080, 4096]


def test_stack_and_heap_are_ignored(covered, record):
    """What belongs to no module (stacks, the heap, mappings, thread-local data, no memory) is
    not recorded."""
    program = covered(TABLE + """
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/mman.h>
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
    assert trace.granules("numbers") == [0] and len(trace.data) == 1


def test_ignoring_makes_no_system_call(covered, record, runtime):
    """What was found to be no module's is ignored at once, as what was touched is."""
    program = covered("""
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <stddef.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        int data __attribute__((aligned(16)));
        KEPT void use(volatile int *on_stack) { *on_stack = data; }
        int main(void) {
          int on_stack;
          use(&on_stack);
          struct sock_filter filter[] = {
              BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
          };
          struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
          prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
          prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
          use(&on_stack);
          return 0;
        }""", "-O1", runtime=runtime)
    assert record(program).only.granules("data") == [0]


def test_nothing_of_its_own_is_no_trace(covered, record):
    """A process that touches no module makes no file."""
    program = covered("int main(void) { volatile int on_stack = 0; return on_stack; }",
                      instrument=DATA_ONLY)
    assert record(program).traces == {}


def test_libraries_data(covered, record):
    """Data of shared libraries, instrumented or not, and of a library without code, belong to those
    modules."""
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


LIBRARY = """
int numbers[4096] __attribute__((aligned(4096))) = {1};
"""
EXPORTED = "-Wl,--export-dynamic-symbol=__sanitizer_cov_*"


@pytest.fixture
def opened(covered):
    """opened(body): a program that opens lib.so, which is not instrumented, into `library`."""

    def opened(body, **options):
        covered(LIBRARY, "-shared", "-fPIC", "-Wl,--build-id", instrument=None, name="lib.so",
                runtime=[])
        return covered(OPENER + """
            static volatile int *numbers;
            NOT_RECORDED static void open_library(void) {
              call("./lib.so", "");
              numbers = dlsym(library, "numbers");
            }
            NOT_RECORDED static void close_and_occupy_numbers(void) {
              void *place = (void *)numbers;
              dlclose(library);
              int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
              if (mmap(place, 16384, PROT_READ | PROT_WRITE, flags, -1, 0) != place)
                exit(98);
            }
            """ + body, **options)

    return opened


def test_library_reloaded_elsewhere(opened, record, runtime, tmp_path):
    """A library that is closed and opened at another address is one module and each granule is
    there once; what is in its former place meanwhile is not taken for it."""
    program = opened("""
        int main(void) {
          open_library();
          char *place = (char *)library->l_addr;
          numbers[0] = numbers[1000] = 1;
          volatile int *former = numbers;
          close_and_occupy_numbers();
          former[4] = former[2000] = 1;
          open_library();
          numbers[0] = numbers[1000] = numbers[8] = 1;
          return (char *)library->l_addr == place;
        }""", runtime=runtime)
    trace = record(program, cwd=tmp_path).only
    assert trace.granules("numbers", tmp_path / "lib.so") == [4000, 0, 32]
    assert len(trace.modules) == 2


@pytest.mark.parametrize("before", [0, 1])
def test_library_where_the_heap_was(opened, record, runtime, tmp_path, before):
    """A library in a place where other memory was used before, be it there for the first time or
    again, is recorded from the first touch on of a page that was not used."""
    program = opened(f"enum {{ BEFORE = {before} }};" + """
        int main(void) {
          open_library();
          if (BEFORE)
            numbers[1000] = 1;
          char *place = (char *)library->l_addr;
          volatile int *former = numbers;
          close_and_occupy_numbers();
          former[0] = 1;
          munmap((void *)former, 16384);
          open_library();
          if ((char *)library->l_addr != place)
            return 77;
          numbers[2000] = 1;
          numbers[0] = 1;
          return 0;
        }""", runtime=runtime)
    recording = record(program, cwd=tmp_path, code=None)
    if recording.result.returncode == 77:
        pytest.skip("the dynamic linker chose another place")
    touched = recording.only.granules("numbers", tmp_path / "lib.so")
    assert touched == [4000] * before + [8000, 0]


def test_instrumented_library_opened(covered, record, tmp_path):
    """An instrumented library that the program opens uses the program's hooks, if those are
    exported."""
    library = covered(TABLE + "int a(void) { return table[zero + 4]; }", "-shared", "-fPIC",
                      name="lib.so", runtime=[])
    program = covered(OPENER + 'int main(void) { call("./lib.so", "a"); return 0; }', EXPORTED)
    trace = record(program, cwd=tmp_path).only
    assert trace.names() == ["main", "a"] and trace.granules("table", library) == [16]


def test_coverage_given_at_the_link(cc, record):
    """Where the flags are given at the link too, which links a sanitizer's runtime that has hooks
    as well, it is this runtime's that are called; without trace-pc, by the header's remedy."""
    source = TABLE + "int main(void) { return numbers[8 + zero]; }"
    for instrument, remedy in [(COVERAGE, []), (DATA_ONLY, ["-Wl,-u,__sanitizer_cov_trace_pc"])]:
        recording = record(cc(source, *remedy, compiler="clang", instrument=instrument))
        assert recording.only.granules("numbers") == [32]
        for path in recording.traces:
            path.unlink()


def test_shared_runtime(covered, record, library):
    """The shared library records data as the archive does."""
    program = covered(TABLE + "int main(void) { return numbers[8 + zero]; }",
                      runtime=[library, f"-Wl,-rpath,{library.parent}"])
    assert record(program).only.granules("numbers") == [32]


def test_fork(covered, record):
    """A forked child records the data it touches itself, in its own file, and the parent's goes
    on."""
    program = covered(WAIT + TABLE + """
        int main(void) {
          numbers[0] = 1;
          pid_t child = fork();
          if (child == 0) {
            numbers[4] = numbers[0];
            _exit(0);
          }
          waitpid(child, 0, 0);
          numbers[8] = numbers[0];
          printf("%d %d", getpid(), child);
          return 0;
        }""")
    recording = record(program)
    parent, child = recording.result.stdout.split()
    assert recording.of(parent).granules("numbers") == [0, 32]
    assert recording.of(child).granules("numbers") == [0, 16]


def test_vfork(covered, record):
    """What a vfork child touches is not recorded, and stays to be recorded by its parent."""
    program = covered(WAIT + TABLE + """
        int main(void) {
          numbers[0] = 1;
          if (vfork() == 0) {
            numbers[4] = 2;
            _exit(0);
          }
          numbers[8] = numbers[4];
          return 0;
        }""")
    trace = record(program).only
    assert trace.granules("numbers") == [0, 16, 32]
    assert {event.thread for event in trace.data} == {trace.pid}


def test_signal_handlers(covered, record):
    """Data that a handler touches first comes behind what it interrupted, and errno stays."""
    program = covered(TABLE + """
        #include <errno.h>
        #include <signal.h>
        static void handler(int signal) { numbers[4] = signal; }
        int main(void) {
          signal(SIGUSR1, handler);
          errno = 77;
          numbers[0] = 1;
          raise(SIGUSR1);
          numbers[8] = 1;
          return errno != 77;
        }""")
    assert record(program).only.granules("numbers") == [0, 16, 32]


def test_startup_done_ends_recording(covered, record):
    """After frontload_startup_done() no data is recorded."""
    program = covered(TABLE + """
        #include <frontload.h>
        int main(void) {
          numbers[0] = 1;
          frontload_startup_done();
          numbers[8] = 1;
          return 0;
        }""")
    assert record(program).only.granules("numbers") == [0]


def test_overflow_is_counted(covered, record):
    """When the trace cannot grow, the earliest granules are kept and each later one counted once,
    however often it is touched."""
    program = covered("""
        char many[1 << 20] __attribute__((aligned(16)));
        int main(void) {
          for (int round = 0; round < 2; ++round)
            for (int i = 0; i < sizeof many; i += 8)
              many[i] = 1;
          return 0;
        }""", "-O1")
    trace = record(program, preexec_fn=limit_file_size(64 << 10)).only
    touched = trace.granules("many")
    assert touched == list(range(0, 16 * len(touched), 16)) and len(touched) > 4000
    assert trace.dropped == (1 << 16) - len(touched)


def test_no_memory_for_a_module(opened, record, tmp_path):
    """When there is no memory for a module's set, one touch of each of its pages is counted, and
    the others cost nothing."""
    program = opened("""
        #include <sys/resource.h>
        int main(void) {
          open_library();
          setrlimit(RLIMIT_AS, &(struct rlimit){0, RLIM_INFINITY});
          for (int i = 0; i < 100; ++i)
            numbers[i] = numbers[1024 + i] = 1;
          return 0;
        }""")
    trace = record(program, cwd=tmp_path).only
    assert trace.dropped == 2 and trace.granules("numbers", tmp_path / "lib.so") == []


def test_profile_names_the_data(covered, record, frontload, tmp_path):
    """The traces become a profile that names the functions and the data that were touched."""
    program = covered(TABLE + """
        KEPT int untouched(void) { return zeros[zero]; }
        int main(int argc, char **argv) {
          (void)argv;
          numbers[8] = argc > 5 ? untouched() : table[4 + zero];
          return 0;
        }""", "-O1")
    (trace,) = record(program).traces
    frontload("profile", trace, "-o", tmp_path / "profile")
    profile = (tmp_path / "profile").read_text()
    assert "main" in profile and "table" in profile and "numbers" in profile
    assert "untouched" not in profile and "zeros" not in profile
