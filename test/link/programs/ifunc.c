// An IFUNC whose resolver is on one side and whose implementations are on both.
#include <stdio.h>

static int hot_2_implementation(int x) { return x + 1; }
static int cold_implementation(int x) { return x + 2; }
static int (*hot_1_resolve(void))(int) {
  return __builtin_cpu_supports("sse2") ? hot_2_implementation : cold_implementation;
}
int chosen(int x) __attribute__((ifunc("hot_1_resolve")));
static int (*cold_resolve(void))(int) { return cold_implementation; }
int other(int x) __attribute__((ifunc("cold_resolve")));

int main(void) {
  printf("%d %d\n", chosen(10), other(10));
  return 0;
}
