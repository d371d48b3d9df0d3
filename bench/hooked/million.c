/* Calls the runtime's hook for a million functions, then again and again, beside an empty function.
 *
 * usage: million [FUNCTIONS]
 *
 * Prints the nanoseconds of a first touch, and those that a later call takes more than one of the
 * empty function: the median of some rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_RECORDED __attribute__((no_instrument_function))

__asm__(".globl functions; .type functions, @function;"
        "functions: .skip 1000000; .size functions, . - functions");
extern char functions[];
void __cyg_profile_func_enter(void *function, void *call_site);

typedef void hook(void *function, void *call_site);
enum { CALLS = 1000000, ROUNDS = 51 };

__attribute__((noinline)) NOT_RECORDED static void empty(void *function, void *call_site) {
  __asm__ volatile("" : : "r"(function), "r"(call_site));
}

NOT_RECORDED static double nanoseconds(hook *volatile called, int calls, int among) {
  struct timespec begin, end;
  hook *const function = called;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < calls; ++i)
    function(functions + i % among, 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / calls;
}

NOT_RECORDED static int compare(const void *one, const void *other) {
  const double difference = *(const double *)one - *(const double *)other;
  return (difference > 0) - (difference < 0);
}

NOT_RECORDED int main(int argc, char **argv) {
  const int count = argc > 1 ? atoi(argv[1]) : CALLS;
  printf("%.0f ns of a first touch\n", nanoseconds(__cyg_profile_func_enter, count, count));
  double more[ROUNDS];
  for (int i = 0; i < ROUNDS; ++i)
    more[i] =
        nanoseconds(__cyg_profile_func_enter, CALLS, count) - nanoseconds(empty, CALLS, count);
  qsort(more, ROUNDS, sizeof more[0], compare);
  printf("%.2f ns of a later call more than an empty function's\n", more[ROUNDS / 2]);
}
