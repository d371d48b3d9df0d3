// What few starts run: many functions, which a linker puts wherever it likes.
#define ONE(n)                                                                                     \
  static int step_##n(int count) {                                                                 \
    volatile int total = count;                                                                    \
    for (int i = 0; i < n % 7 + 2; ++i)                                                            \
      total = total * 31 + n;                                                                      \
    return total;                                                                                  \
  }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)     \
    ONE(n##8) ONE(n##9)
#define CALL(n) step_##n,
#define CALLS(n) CALL(n##0) CALL(n##1) CALL(n##2) CALL(n##3) CALL(n##4) CALL(n##5) CALL(n##6)      \
    CALL(n##7) CALL(n##8) CALL(n##9)
#define ALL(m) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9)

ALL(TEN)
static int (*const steps[])(int) = {ALL(CALLS)};

int rest(int count) {
  for (unsigned i = 0; i < sizeof steps / sizeof *steps; ++i)
    count = steps[i](count);
  return count;
}
