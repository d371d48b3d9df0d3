static const int factors[4] = {1, 10, 100, 1000};
static int by_ten(int x) { return x * factors[1]; }
static int by_hundred(int x) { return x * factors[2]; }
static int (*choose(void))(int) { return sizeof(long) == 8 ? by_hundred : by_ten; }
int from_library(int x) __attribute__((ifunc("choose")));
static int (*const pointer)(int) = from_library;
int (*library_pointer(void))(int) { return pointer; }
