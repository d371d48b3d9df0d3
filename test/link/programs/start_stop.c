// Sections that are found by __start_ and __stop_ symbols stay whole and in place, also those that
// are named like the words in our own section names.
#include <stdio.h>

#define REGISTER(name, number)                                                                     \
  static const int name __attribute__((section("registry"), used)) = number

REGISTER(cold_a, 1);
REGISTER(cold_b, 20);
REGISTER(cold_c, 300);
static int data_a __attribute__((section("data"), used)) = 7;
static int data_b __attribute__((section("data"), used)) = 8;

extern const int __start_registry[], __stop_registry[];
extern int __start_data[], __stop_data[];

__attribute__((noinline)) int hot_1_sum(void) {
  int sum = 0;
  for (const int *p = __start_registry; p < __stop_registry; ++p)
    sum += *p;
  return sum;
}

int main(void) {
  int data = 0;
  for (int *p = __start_data; p < __stop_data; ++p)
    data = data * 10 + *p;
  printf("%d %d %d\n", hot_1_sum(), (int)(__stop_registry - __start_registry), data);
  return 0;
}
