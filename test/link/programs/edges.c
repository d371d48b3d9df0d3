// The symbols that mark the ends of code and data are where programs expect them.
#include <stdio.h>
#include <unistd.h>

extern char data_start, _end, end, _edata, edata, _etext, etext, __bss_start;
extern char **environ; // with -no-pie this and stdout are copied into the program

int initialized = 3;
int zeroes[1000];

int main(int argc, char **argv);
__attribute__((noinline)) void cold_code(void) { puts("cold"); }
__attribute__((noinline)) char *hot_1_break(void) { return sbrk(0); }

// Whether it lies in the C library instead.
static int is_shared(void *p) { return (char *)p < (char *)main - (1 << 24) || (char *)p > &end + (1 << 24); }

int main(int argc, char **argv) {
  if (argc > 5)
    cold_code();
  printf("%d%d ", is_shared(&stdout) || (char *)&stdout < &end, is_shared(&environ) || (char *)&environ < &end);
  printf("%d%d%d%d%d%d%d%d%d\n", &data_start <= (char *)&initialized,
         &edata >= (char *)(&initialized + 1), &edata <= (char *)zeroes,
         &end >= (char *)(zeroes + 1000), &end <= (char *)(zeroes + 1000) + (1 << 16),
         &_end == &end && &_edata == &edata && &_etext == &etext, hot_1_break() >= &end,
         (char *)cold_code < &etext && (char *)main < &etext, &__bss_start <= (char *)zeroes);
  return 0;
}
