// IFUNCs of the program and of its library: called, stored in data, compared, static.
#include <stdio.h>

static int state = 3; // relocated before any resolver runs
static int fast(int x) { return x * 2; }
static int slow(int x) { return x * 5; }
static int (*choose(void))(int) { return fast; }
static int (*choose_slow(void))(int) { return slow; }
int chosen(int x) __attribute__((ifunc("choose")));
static int hidden(int x) __attribute__((ifunc("choose_slow")));
int from_library(int x);
int (*library_pointer(void))(int);

int (*stored)(int) = chosen;
static int (*const constant[2])(int) = {hidden, chosen};

int main(void) {
  printf("%d %d %d %d\n", chosen(1), hidden(2), stored(state), constant[0](4) + constant[1](5));
  printf("%d %d %d %d\n", from_library(6), library_pointer()(7), stored == constant[1],
         library_pointer() == from_library);
  return 0;
}
