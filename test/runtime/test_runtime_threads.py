"""Threads and signals."""

import os
import shutil
import subprocess

import numpy as np
import pytest
from conftest import COVERAGE, INSTRUMENT, PROGRAMS
from places import ROOT, WHOLE_STORM
from runtime_trace import datum, many_functions

COUNT = 400
THREADED = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define F(n) KEPT void f##n(void) {}
#define ENTRY(n) f##n,
HUNDRED(F, 1) HUNDRED(F, 2) HUNDRED(F, 3) HUNDRED(F, 4)
void (*const functions[])(void) = {
    HUNDRED(ENTRY, 1) HUNDRED(ENTRY, 2) HUNDRED(ENTRY, 3) HUNDRED(ENTRY, 4)};
enum { COUNT = sizeof functions / sizeof *functions, THREADS = 8 };
static pthread_barrier_t barrier;
NOT_RECORDED void *work(void *argument) {
  long first = (long)argument / 4 * COUNT / 2;
  printf("%d %ld\\n", gettid(), first);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < COUNT; ++i)
    functions[(first + i) % COUNT]();
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


def check_threads(recording):
    trace = recording.only
    names = trace.names()
    assert sorted(names) == [f"f{n}" for n in range(100, 100 + COUNT)]
    assert trace.claimed >= COUNT + 1 + sum(  # more, where two came at the same time
        (len(m.build_id) // 2 + len(str(m.path)) + 15) // 16 for m in trace.modules.values())
    for line in recording.result.stdout.splitlines():
        thread, first = map(int, line.split())
        order = [(int(name[1:]) - 100 - first) % COUNT
                 for name, event in zip(names, trace.events, strict=True)
                 if event.thread == thread]
        assert order == sorted(order)


# The same with data: table[n] is what f<100 + n> is above.
THREADED_DATA = """
volatile const int table[400][4] __attribute__((aligned(16))) = {{1}};
""" + THREADED.replace("NOT_RECORDED void *work", "void *work").replace(
    "functions[(first + i) % COUNT]()", "table[(first + i) % COUNT][i % 4]")


def check_threaded_data(recording):
    trace = recording.only
    assert sorted(trace.granules("table")) == list(range(0, 16 * COUNT, 16))
    start, _ = datum(next(m.path for m in trace.modules.values() if m.main), "table")
    for line in recording.result.stdout.splitlines():
        thread, first = map(int, line.split())
        order = [((event.address - start) // 16 - first) % COUNT for event in trace.data
                 if event.thread == thread and start <= event.address < start + 16 * COUNT]
        assert order == sorted(order)


TOGETHER = 100  # programs: on some machines few of their threads touch at the same moment
WAYS = [(THREADED, INSTRUMENT, check_threads), (THREADED_DATA, COVERAGE, check_threaded_data)]


@pytest.mark.parametrize("source, instrument, check", WAYS)
def test_threads(cc, record, source, instrument, check):
    """Eight threads, four of which call the same functions, or read the same data, at the same
    time, make the process's very first touches together: each once, one file, each thread's own
    order."""
    program = cc(source, "-pthread", compiler="clang", instrument=instrument)
    for _ in range(25):
        recording = record(program)
        check(recording)
        for path in recording.traces:
            path.unlink()


@pytest.mark.parametrize("threaded", [False, True])
def test_system_calls_of_a_first_touch(cc, run, strace, traces, threaded):
    """A first touch makes one system call, which asks for the thread's id. In any thread."""
    program = cc("""
        #include <pthread.h>
        __asm__(".globl big; .type big, @function; big: .skip 1000; .size big, . - big");
        void __cyg_profile_func_enter(void *, void *);
        extern char big[];
        NOT_RECORDED void *work(void *unused) {
          for (int i = 0; i < 1000; ++i)
            __cyg_profile_func_enter(big + i, 0);
          return unused;
        }
        NOT_RECORDED int main(int argc, char **argv) {
          (void)argv;
          pthread_t thread;
          if (argc > 1)
            return pthread_create(&thread, 0, work, 0) || pthread_join(thread, 0);
          work(0);
          return 0;
        }""", "-pthread")
    log = traces.parent / "calls"
    run(strace, "-f", "-o", log, program, *(["thread"] if threaded else []),
        env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/t"})
    assert len(many_functions(traces / "t")) == 1000
    assert len(log.read_text().splitlines()) < 1000 + 150


def test_thread_storm(cc, run, traces):
    """64 threads, each with functions of its own and some of another's, all at the same time: each
    function once, each thread's own in its order. FRONTLOAD_STORM=whole has 6.4 million first
    touches."""
    program = cc("""
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        __asm__(".globl big; .type big, @function; big: .skip 64 * 100000; .size big, . - big");
        void __cyg_profile_func_enter(void *, void *);
        extern char big[];
        static pthread_barrier_t barrier;
        static long each;
        NOT_RECORDED void *work(void *argument) {
          long number = (long)argument;
          pthread_barrier_wait(&barrier);
          for (long i = 0; i < each; ++i) {
            __cyg_profile_func_enter(big + number * each + i, 0);
            if (i % 16 == 0)
              __cyg_profile_func_enter(big + (number + 1) % 64 * each + i, 0);
          }
          return 0;
        }
        NOT_RECORDED int main(int argc, char **argv) {
          pthread_t threads[64];
          each = argc > 1 ? atol(argv[1]) : 0;
          pthread_barrier_init(&barrier, 0, 64);
          for (long i = 0; i < 64; ++i)
            pthread_create(&threads[i], 0, work, (void *)i);
          for (int i = 0; i < 64; ++i)
            pthread_join(threads[i], 0);
          return 0;
        }""", "-pthread")
    each = 100_000 if WHOLE_STORM else 5_000
    result = run(program, str(each), env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/t"})
    (trace,) = traces.iterdir()  # "t.1", if a second thread was done before the one that made "t"
    events = many_functions(trace)
    assert result.stderr == "" and len(events) == 64 * each
    numbers = (events["word"] - events["word"].min()).astype(np.int64)
    assert np.array_equal(np.sort(numbers), np.arange(64 * each))
    own = numbers // each
    threads = np.unique(events["thread"])
    assert len(threads) == 64
    for thread in threads:
        by_thread = numbers[events["thread"] == thread]
        mine = np.bincount(own[events["thread"] == thread]).argmax()
        assert (np.diff(by_thread[by_thread // each == mine]) > 0).all()


def test_threads_while_growing(many, record):
    """Two threads that fill one chunk after the other: no event is lost, no slot used twice."""
    trace = record(many, "threads").only
    assert sorted(trace.names()) == sorted(["main", *(f"f{n}" for n in range(10000, 40000))])
    assert trace.dropped == 0
    for thread in {event.thread for event in trace.events}:
        addresses = [event.address for event in trace.events[1:] if event.thread == thread]
        assert len(addresses) == 15000 and addresses == sorted(addresses)


def test_threads_in_a_new_module(cc, plugin, record, tmp_path):
    """Threads that enter a module for the first time together register it once."""
    library = plugin("void a(void) {}", "lib.so", "-Wl,--build-id=none")
    for n in range(100):
        shutil.copy(library, tmp_path / f"lib{n}.so")
    program = cc("""
        #include <dlfcn.h>
        #include <pthread.h>
        #include <stdio.h>
        static void (*functions[100])(void);
        static pthread_barrier_t barrier;
        NOT_RECORDED void *work(void *unused) {
          for (int i = 0; i < 100; ++i) {
            pthread_barrier_wait(&barrier);
            functions[i]();
          }
          return unused;
        }
        int main(void) {
          pthread_t threads[4];
          pthread_barrier_init(&barrier, 0, 4);
          for (int i = 0; i < 100; ++i) {
            char name[20];
            sprintf(name, "./lib%d.so", i);
            functions[i] = (void (*)(void))dlsym(dlopen(name, RTLD_NOW), "a");
          }
          for (int i = 0; i < 4; ++i)
            pthread_create(&threads[i], 0, work, 0);
          for (int i = 0; i < 4; ++i)
            pthread_join(threads[i], 0);
          return 0;
        }""", "-pthread")
    trace = record(program, cwd=tmp_path).only
    assert trace.names() == ["main"] + 100 * ["a"] and len(trace.modules) == 101


@pytest.fixture
def sanitized(cc, compilers, run):
    """sanitized(sanitizers, source, ...): a program with the runtime itself compiled in, both with
    these sanitizers, which the build's own archive, that calls nothing, has not."""
    runtime = ROOT / "instrument/runtime"

    def sanitized(sanitizers, source, *more, **options):
        flags = [f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", "-g", "-O1", "-pthread"]
        empty = cc("int main(void) { return 0; }", *flags, compiler="clang", name="empty",
                   runtime=[], instrument=None)
        if subprocess.run([empty], capture_output=True).returncode:
            pytest.skip(f"-fsanitize={sanitizers} does not work on this machine")
        objects = []
        for file in sorted(runtime.glob("*.c")):
            objects.append(empty.with_name(f"{file.name}.o"))
            run(compilers["clang"], *flags, "-D_GNU_SOURCE", "-I", runtime.parent,
                "-I", runtime / "include", "-c", file, "-o", objects[-1])
        return cc(source, *flags, *more, compiler="clang", runtime=objects, **options)

    return sanitized


@pytest.mark.parametrize("source, instrument, check", WAYS)
def test_thread_sanitizer(sanitized, record, source, instrument, check):
    """The runtime itself, compiled with ThreadSanitizer, has no data race."""
    program = sanitized("thread", source, instrument=instrument)
    for _ in range(5):
        recording = record(program, environment={"TSAN_OPTIONS": "exitcode=66"})
        assert recording.result.stderr == ""
        check(recording)
        for path in recording.traces:
            path.unlink()


@pytest.mark.parametrize("source, instrument, check", WAYS)
def test_address_sanitizer(sanitized, record, source, instrument, check):
    """The runtime itself, compiled with AddressSanitizer and UndefinedBehaviorSanitizer, does
    nothing that they find while threads make its first touches."""
    recording = record(sanitized("address,undefined", source, instrument=instrument))
    assert recording.result.stderr == ""
    check(recording)


def test_address_sanitizer_while_growing(sanitized, record):
    """Nor does it while a trace grows from chunk to chunk."""
    program = sanitized("address,undefined", (PROGRAMS / "many.c").read_text(), "-O0", "-g0",
                        name="many")
    recording = record(program, code=7)
    assert recording.result.stderr == ""
    assert recording.only.names() == ["main", *(f"f{n}" for n in range(10000, 40000))]


def test_signal_handlers(cc, record):
    """A handler that calls functions for the first time has them recorded behind those it
    interrupted, and neither it nor the code it interrupts finds errno changed."""
    program = cc("""
        #include <errno.h>
        #include <signal.h>
        KEPT void in_handler(void) {}
        KEPT void after(void) {}
        static int wrong;
        KEPT void handler(int signal) {
          wrong += errno != 77;
          (void)signal;
          in_handler();
          wrong += errno != 77;
        }
        int main(void) {
          signal(SIGUSR1, handler);
          errno = 77;
          raise(SIGUSR1);
          after();
          return wrong + (errno != 77);
        }""")
    assert record(program).only.names() == ["main", "handler", "in_handler", "after"]


def test_errno_when_recording_fails(cc, record):
    """Also a first touch that cannot open its trace keeps errno."""
    program = cc("""
        #include <errno.h>
        KEPT void touched(void) {}
        NOT_RECORDED int main(void) {
          errno = 77;
          touched();
          return errno;
        }""")
    recording = record(program, code=77, pattern="missing/folder")
    assert "No such file or directory" in recording.result.stderr and not recording.traces


def test_little_stack(cc, record):
    """The first touch of all fits on a small alternate signal stack."""
    program = cc("""
        #include <signal.h>
        #include <sys/mman.h>
        #include <unistd.h>
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


def test_signals_among_first_touches(cc, record):
    """Handlers that interrupt first touches, make some themselves, and leave by longjmp, lose
    nothing."""
    program = cc("""
        #include <setjmp.h>
        #include <signal.h>
        #include <pthread.h>
        #define F(n) KEPT void f##n(void) {}
        #define ENTRY(n) f##n,
        HUNDRED(F, 1) HUNDRED(F, 2) HUNDRED(F, 3) HUNDRED(F, 4)
        void (*const functions[])(void) = {
            HUNDRED(ENTRY, 1) HUNDRED(ENTRY, 2) HUNDRED(ENTRY, 3) HUNDRED(ENTRY, 4)};
        static volatile sig_atomic_t next = 400, armed, stop;
        static sigjmp_buf again;
        NOT_RECORDED void handler(int signal) {
          (void)signal;
          if (!armed)
            return;
          if (next > 200)
            functions[--next]();
          siglongjmp(again, 1);
        }
        NOT_RECORDED void *shoot(void *target) {
          for (int i = 0; !stop; ++i)
            if (i % 64 == 0)
              pthread_kill(*(pthread_t *)target, SIGUSR1);
          return 0;
        }
        NOT_RECORDED int main(void) {
          pthread_t self = pthread_self(), shooter;
          volatile int i = 0;
          signal(SIGUSR1, handler);
          pthread_create(&shooter, 0, shoot, &self);
          sigsetjmp(again, 1);
          armed = 1;
          for (; i < 200; ++i)
            functions[i]();
          while (next > 200) {}
          armed = 0;
          stop = 1;
          return pthread_join(shooter, 0);
        }""", "-pthread")
    for _ in range(10):
        recording = record(program)
        assert set(recording.only.names()) == {f"f{n}" for n in range(100, 500)}
        for path in recording.traces:
            path.unlink()


# main <how> enters functions, each of which programs/interrupt.c interrupts at another instruction:
# there a handler forks and returns in both processes, or leaves by longjmp.
STEPPED = """
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__asm__(".globl big; .type big, %function; big: .skip 4000; .size big, . - big");
void __cyg_profile_func_enter(void *, void *);
extern char big[];
static volatile int forks, count, is_over, failed;
static volatile pid_t child = -1;
static sigjmp_buf away;
NOT_RECORDED static void interrupt(int signal) {
  (void)signal;
  if (!forks)
    siglongjmp(away, 1);
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
  __cyg_profile_func_enter(big, 0);
  while (!is_over) {
    ++count;
    if (sigsetjmp(away, 1) == 0) {
      kill(getpid(), SIGURG);
      __cyg_profile_func_enter(big + count, 0);
      kill(getpid(), SIGWINCH);
    }
    if (child == 0) {
      __cyg_profile_func_enter(big + 3999, 0);
      _exit(0);
    }
    __cyg_profile_func_enter(big + count, 0);
  }
  return failed || count < 100;
}
"""


@pytest.mark.parametrize("how", ["longjmp", "fork"])
def test_interrupted_at_any_instruction(cc, run, traces, tmp_path, how):
    """A handler that interrupts a first touch, wherever it is, may fork and return twice, or never:
    nothing is lost, nobody crashes, and a child has none of its parent's events in its trace."""
    interrupt = tmp_path / "interrupt"
    run("gcc", "-O2", "-o", interrupt, PROGRAMS / "interrupt.c")
    run(interrupt, cc(STEPPED), how, env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/%p"},
        timeout=600)  # emulated machines are slow
    *children, addresses = sorted((many_functions(path)["word"] & (1 << 56) - 1
                                   for path in traces.iterdir()), key=len)
    touched = np.unique(addresses) - addresses.min()
    assert np.array_equal(touched, np.arange(len(touched))) and len(touched) > 100
    assert len(addresses) < len(touched) + 100  # here and there an event is doubled
    assert bool(children) == (how == "fork")
    for own in children:
        assert own.max() == addresses.min() + 3999 and len(own) <= 2


def test_first_touches_together(cc, run, tmp_path):
    """Of threads that make the very first touch together, each makes a file, and one is kept: it
    has the name that was asked for, without a suffix."""
    program = cc(r"""
        #include <pthread.h>
        KEPT void touched(void) {}
        static int started;
        NOT_RECORDED static void *work(void *unused) {
          __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
          while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < 4)
            ;
          touched();
          return unused;
        }
        NOT_RECORDED int main(void) {
          pthread_t threads[4];
          for (int i = 0; i < 4; ++i)
            pthread_create(&threads[i], 0, work, 0);
          for (int i = 0; i < 4; ++i)
            pthread_join(threads[i], 0);
          return 0;
        }""", "-pthread")
    for number in range(TOGETHER):
        run(program, env={**os.environ, "FRONTLOAD_TRACE": f"{tmp_path}/{number}.trace"})
    assert sorted(file.name for file in tmp_path.glob("*.trace*")) == sorted(
        f"{number}.trace" for number in range(TOGETHER))
