/* Calls the runtime's hook for a million functions, then again and again, beside an empty function.
 *
 * usage: million ROUNDS FUNCTIONS
 *
 * Prints the nanoseconds of a first touch and, in a line for each round, the nanoseconds of a later
 * call and of a call of the empty function.
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
enum { CALLS = 1000000 };

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

NOT_RECORDED int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const int rounds = atoi(argv[1]), count = atoi(argv[2]);
  printf("%f\n", nanoseconds(__cyg_profile_func_enter, count, count));
  for (int i = 0; i < rounds; ++i) {
    const double hooked = nanoseconds(__cyg_profile_func_enter, CALLS, count);
    printf("%f %f\n", hooked, nanoseconds(empty, CALLS, count));
  }
  return 0;
}
