"""The order of what runs before and after main, and of what threads do at the same time."""

import pytest
from recorded import Binary
from test_valgrind_touches import LINK_MODES
from trace_decoder import DATA

AROUND_MAIN = """
    #include <stdlib.h>
    #define DATA __attribute__((aligned(16))) volatile int
    #define STEP(name, ...) \\
      DATA my_data_of_##name[4]; \\
      __attribute__((noinline, aligned(16), used, ##__VA_ARGS__)) void my_##name(void) { \\
        my_data_of_##name[0] = 1; \\
      }
    STEP(preinit)
    STEP(second_preinit)
    STEP(exit)
    STEP(first_exit)
    STEP(first_constructor, constructor(101))
    STEP(second_constructor, constructor(102))
    STEP(constructor, constructor)
    STEP(destructor, destructor)
    STEP(second_destructor, destructor(102))
    STEP(first_destructor, destructor(101))
    typedef void (*function)(void);
    __attribute__((section(".preinit_array"), used)) static function preinits[] = {
        my_preinit, my_second_preinit};
    int main(void) {
      atexit(my_exit);
      atexit(my_first_exit);
      return 0;
    }"""
STEPS = ["preinit", "second_preinit", "first_constructor", "second_constructor", "constructor",
         "main", "first_exit", "exit", "destructor", "second_destructor", "first_destructor"]


@pytest.mark.parametrize("mode", LINK_MODES)
def test_before_and_after_main(mode, compile, touches):
    """The functions before and after main, and their data, come in the order in which they run."""
    assert touches(compile(AROUND_MAIN, *LINK_MODES[mode])) == [
        name for step in STEPS
        for name in (["main"] if step == "main" else [f"my_{step}", f"my_data_of_{step}+0"])]


def test_quick_exit(compile, touches):
    """Functions that quick_exit() calls are recorded; others that exit() would call do not run."""
    assert touches(compile("""
        #include <stdlib.h>
        __attribute__((noinline, aligned(16))) void my_quick(void) { __asm__ volatile(""); }
        __attribute__((noinline, aligned(16))) void my_exit(void) { __asm__ volatile(""); }
        int main(void) {
          at_quick_exit(my_quick);
          atexit(my_exit);
          quick_exit(0);
        }""")) == ["main", "my_quick"]


THREADS, TURNS = 5, 40


def test_threads_order(compile, record):
    """Each datum is touched once, by one of the threads, and what is recorded of a thread is in the
    order in which this thread has done it. Threads that touch the same data, each in another
    order, take turns."""
    program = compile(f"""
        #include <pthread.h>
        #include <stddef.h>
        enum {{ THREADS = {THREADS}, TURNS = {TURNS} }};
        typedef struct {{ __attribute__((aligned(16))) volatile int value; }} granule;
        granule my_own[THREADS * TURNS], my_common[TURNS];
        static pthread_barrier_t barrier;
        static void *run(void *argument) {{
          size_t thread = (size_t)argument;
          for (size_t i = 0; i < TURNS; ++i) {{
            pthread_barrier_wait(&barrier);
            my_own[thread * TURNS + i].value = 1;
            my_common[(i * (thread + 1) + 7 * thread) % TURNS].value = 1;
          }}
          return NULL;
        }}
        int main(void) {{
          pthread_t threads[THREADS];
          pthread_barrier_init(&barrier, NULL, THREADS);
          for (size_t i = 0; i < THREADS; ++i)
            pthread_create(&threads[i], NULL, run, (void *)i);
          for (size_t i = 0; i < THREADS; ++i)
            pthread_join(threads[i], NULL);
          return 0;
        }}""", "-pthread")
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (0, "")
    binary = Binary(program)
    own, common = binary["my_own"], binary["my_common"]
    # By their threads: the numbers of own[] and common[], in the order of the trace.
    order: dict[int, list[tuple[int, int]]] = {}
    found = []
    for kind, (_, address, thread) in zip(recording.trace.kinds, recording.trace.events,
                                          strict=True):
        for start, size in ((own, THREADS * TURNS), (common, TURNS)):
            number = (address - start) // 16
            if kind == DATA and 0 <= number < size:
                order.setdefault(thread, []).append((start, number))
                found.append((start, number))
    assert sorted(found) == sorted([*((own, n) for n in range(THREADS * TURNS)),
                                    *((common, n) for n in range(TURNS))])
    assert len(order) == THREADS
    for touched in order.values():
        thread = touched[0][1] // TURNS
        done = [step for i in range(TURNS) for step in (
            (own, thread * TURNS + i), (common, (i * (thread + 1) + 7 * thread) % TURNS))]
        places = [done.index(step) for step in touched]
        assert places == sorted(places)
    # They did take turns: none had ended before another one began.
    firsts = [found.index(touched[0]) for touched in order.values()]
    lasts = [found.index(touched[-1]) for touched in order.values()]
    assert max(firsts) < min(lasts)
