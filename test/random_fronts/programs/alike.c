// Functions and constants that are alike, for --icf: of some the addresses are compared, which only
// --icf=safe has to respect, so they are not told.
#include <stdio.h>

#define ALIKE(name)                                                                                \
  __attribute__((noinline)) static int name(int x) {                                               \
    if (x > 100)                                                                                   \
      printf("large %d\n", x);                                                                     \
    return x * 7 + 3;                                                                              \
  }
ALIKE(one)
ALIKE(two)
ALIKE(three)
__attribute__((noinline)) int via_one(int x) { return one(x) + 1; }
__attribute__((noinline)) int via_two(int x) { return two(x) + 1; }
static const int constants_a[5] = {1, 2, 3, 4, 5}, constants_b[5] = {1, 2, 3, 4, 5};
int (*const volatile table[3])(int) = {one, two, three};
const int *volatile pointers[2] = {constants_a, constants_b};

int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; ++i)
    sum = sum * 10 + table[i](i + sum);
  printf("%d %d %d %d\n", sum, via_one(99), via_two(101), pointers[0][4] + pointers[1][0]);
  return 0;
}
