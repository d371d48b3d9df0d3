"""Threads and signals."""

import shutil

import numpy as np
import pytest
from abilities import needs
from compiled import compiled
from instrumented import MANY, PRELUDE, PROGRAMS
from places import ALL, ROOT
from runtime_trace import DATA, FUNCTION, many_touches, numbers_in

# THREADS threads, which call touch_all() with their number at the same time.
THREADED = """
static pthread_barrier_t barrier;
static void touch_all(long thread);
NOT_RECORDED static void *work(void *thread) {
  pthread_barrier_wait(&barrier);
  touch_all((long)thread);
  return 0;
}
NOT_RECORDED int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, 0, THREADS);
  for (long i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], 0);
  return 0;
}
"""
COUNT = 400
# Half of the threads begin in the middle.
SAME = THREADED + """
#ifdef TABLE
char table[400 * 16] __attribute__((aligned(16)));
void __sanitizer_cov_load4(const void *);
#define TOUCH(number) __sanitizer_cov_load4(table + 16 * (number))
#else
BIG(400)
#define TOUCH(number) enter(number)
#endif
NOT_RECORDED static void touch_all(long thread) {
  for (long i = 0; i < 400; ++i)
    TOUCH((thread / 4 * 200 + i) % 400);
}
"""


def test_system_calls_of_a_first_touch(cc, run_with, strace, traces):
    """A first touch makes one system call, which asks for the thread's id."""
    program = cc(THREADED + """
        BIG(1000)
        NOT_RECORDED static void touch_all(long thread) {
          for (long i = thread; i < 1000; ++i)
            enter(i);
        }""", "-DTHREADS=1", "-pthread")
    log = traces.parent / "calls"
    run_with(traces / "t", strace, "-f", "-o", log, program)
    assert len(many_touches(traces / "t")) == 1000
    assert len(log.read_text().splitlines()) < 1000 + 150


def test_thread_storm(cc, run_with, traces):
    """64 threads at the same time: each function once, each thread's own in its order."""
    each = 100_000 if ALL else 5_000
    program = cc(THREADED + f"""
        BIG({64 * each})
        NOT_RECORDED static void touch_all(long thread) {{
          for (long i = 0; i < {each}; ++i) {{
            enter(thread * {each} + i);
            if (i % 16 == 0)
              enter((thread + 1) % 64 * {each} + i);
          }}
        }}""", "-DTHREADS=64", "-pthread")
    assert run_with(traces / "t", program).stderr == ""
    touches = many_touches(traces / "t")
    numbers = numbers_in("big", program, touches)
    assert np.array_equal(np.sort(numbers), np.arange(64 * each))
    threads = np.unique(touches["thread"])
    assert len(threads) == 64
    for thread in threads:
        by_thread = numbers[touches["thread"] == thread]
        mine = np.bincount(by_thread // each).argmax()
        assert (np.diff(by_thread[by_thread // each == mine]) > 0).all()


def test_threads_in_a_new_module(cc, plugin, record, tmp_path):
    """Threads that enter a module for the first time together register it once."""
    library = plugin("void a(void) {}", "lib.so", "-Wl,--build-id=none")
    for n in range(100):
        shutil.copy(library, tmp_path / f"lib{n}.so")
    program = cc(THREADED + """
        static void (*functions[100])(void);
        __attribute__((constructor)) static void open_all(void) {
          for (int i = 0; i < 100; ++i) {
            char name[20];
            sprintf(name, "./lib%d.so", i);
            functions[i] = (void (*)(void))dlsym(dlopen(name, RTLD_NOW), "a");
          }
        }
        NOT_RECORDED static void touch_all(long thread) {
          (void)thread;
          for (int i = 0; i < 100; ++i) {
            pthread_barrier_wait(&barrier);
            functions[i]();
          }
        }""", "-DTHREADS=4", "-pthread")
    trace = record(program, cwd=tmp_path).only
    assert trace.names() == ["open_all"] + 100 * ["a"] and len(trace.modules) == 101


# One thread's accesses to unmapped memory are over when another thread gets the same addresses.
TOLD_TO_TSAN = r"""
    #ifdef __SANITIZE_THREAD__
    void __tsan_acquire(void *address);
    void __tsan_release(void *address);
    #define FOR_THREAD_SANITIZER(action, start, size) \
      for (char *page = (char *)(start); page < (char *)(start) + (size); page += 4096) \
        __tsan_##action(page)
    #endif
"""


@pytest.fixture
def sanitized(llvm):
    """sanitized(sanitizers, source, ...): a program with the runtime in it, both so."""
    instrument = ROOT / "instrument"
    sources = sorted((instrument / "runtime").glob("*.c"))
    # What these folders have decides whether a program that was kept will do.
    folders = [instrument, *(instrument / name for name in
                             ("base", "format", "runtime", "runtime/include"))]

    def sanitized(sanitizers, source, *flags):
        return compiled(llvm / "clang", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all",
                        "-g", "-O1", "-pthread", "-D_GNU_SOURCE", *flags,
                        *(f"-I{each}" for each in folders), "-include", "told.h", "a.c", *sources,
                        output="program", sources={"a.c": source, "told.h": TOLD_TO_TSAN})

    return sanitized


@pytest.mark.parametrize("sanitizers", [None, *(
    pytest.param(each, marks=needs("sanitizers")) for each in ("thread", "address,undefined"))])
@pytest.mark.parametrize("kind", [FUNCTION, DATA], ids=["functions", "data"])
def test_thread_sanitizer(cc, sanitized, record, sanitizers, kind):
    """Very first touches together: each once, each thread's in order; sanitizers find nothing."""
    flags = ["-DTHREADS=8", "-pthread", *(["-DTABLE"] if kind == DATA else [])]
    program = (sanitized(sanitizers, PRELUDE + SAME, *flags) if sanitizers
               else cc(SAME, *flags, instrument=None))
    for _ in range(2 if sanitizers else 10):
        recording = record(program, environment={"TSAN_OPTIONS": "exitcode=66"})
        assert recording.result.stderr == ""
        (path,) = recording.traces
        touches = many_touches(path, kind)
        numbers = (numbers_in("big", program, touches) if kind == FUNCTION
                   else numbers_in("table", program, touches) // 16)
        assert np.array_equal(np.sort(numbers), np.arange(COUNT))
        for thread in np.unique(touches["thread"]):
            own = numbers[touches["thread"] == thread]
            assert any((np.diff((own - first) % COUNT) > 0).all() for first in (0, COUNT // 2))


@needs("sanitizers")
def test_address_sanitizer_while_growing(sanitized, record):
    """Nor does it while a trace grows from chunk to chunk."""
    program = sanitized("address,undefined", MANY)
    recording = record(program, code=7)
    (path,) = recording.traces
    assert recording.result.stderr == ""
    assert np.array_equal(numbers_in("big", program, many_touches(path)), np.arange(30000))


def test_little_stack(cc, record):
    """The first touch of all fits on a small alternate signal stack."""
    program = cc("""
        NOT_RECORDED int main(void);
        KEPT void handler(int signal) { (void)signal; }
        NOT_RECORDED int main(void) {
          long page = sysconf(_SC_PAGESIZE);
          long size = sysconf(_SC_MINSIGSTKSZ) + 1024;
          long pages = (size + page - 1) / page * page;
          char *guarded = mmap(0, page + pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          mprotect(guarded + page, pages, PROT_READ | PROT_WRITE);
          stack_t stack = {.ss_sp = guarded + page, .ss_size = size};
          struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
          if (sigaltstack(&stack, 0) || sigaction(SIGUSR1, &action, 0))
            return 1;
          raise(SIGUSR1);
          return 0;
        }""")
    assert record(program).only.names() == ["handler"]


# main <how> enters functions, each of which programs/interrupt.c interrupts at another instruction:
# there a handler forks and returns in both processes, or enters a function and leaves by longjmp.
STEPPED = """
#include <setjmp.h>
BIG(4000)
static volatile int forks, count, is_over, failed;
static volatile pid_t child = -1;
static sigjmp_buf away;
NOT_RECORDED static void interrupt(int signal) {
  (void)signal;
  if (!forks) {
    enter(3998 - count);
    siglongjmp(away, 1);
  }
  int status;
  child = fork();
  if (child > 0)
    failed |= waitpid(child, &status, 0) != child || status;
}
NOT_RECORDED static void end(int signal) {
  (void)signal;
  is_over = 1;
}
NOT_RECORDED int main(int argc, char **argv) {
  forks = argc > 1 && !strcmp(argv[1], "fork");
  signal(SIGTRAP, interrupt);
  signal(SIGUSR1, end);
  enter(0);
  while (!is_over) {
    ++count;
    if (sigsetjmp(away, 1) == 0) {
      kill(getpid(), SIGURG);
      enter(count);
      kill(getpid(), SIGWINCH);
    }
    if (child == 0) {
      enter(3999);
      _exit(0);
    }
    enter(count);
  }
  return failed || count < 100;
}
"""


@needs("ptrace")
@pytest.mark.parametrize("how", ["longjmp", "fork"])
def test_interrupted_at_any_instruction(cc, run, run_with, traces, tmp_path, how):
    """A handler may fork and return twice, or never, wherever it interrupts a first touch."""
    interrupt, program = tmp_path / "interrupt", cc(STEPPED)
    run("gcc", "-O2", "-o", interrupt, PROGRAMS / "interrupt.c")
    run_with(traces / "%p", interrupt, program, how)
    *children, numbers = sorted((numbers_in("big", program, many_touches(path))
                                 for path in traces.iterdir()), key=len)
    touched = np.unique(numbers)
    in_order = touched[touched < 2000]
    assert np.array_equal(in_order, np.arange(len(in_order))) and len(in_order) > 100
    assert len(numbers) < len(touched) + 100  # here and there an event is doubled
    assert bool(children) == (how == "fork") and (how == "fork" or len(touched) > 200)
    for own in children:
        assert own.max() == 3999 and len(own) <= 2
