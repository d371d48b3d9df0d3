// A program with parts that only some runs take, for PGO: what it does at start is read its arguments
// and make a table; with `late` it goes on to work that no start has. Unlikely branches are large
// enough for compilers to split them off.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static int table[256];
static const char *const words[] = {"zero", "one", "two", "three", "four", "five"};

APART static void complain(const char *what, int x) { fprintf(stderr, "tool: %s: %d\n", what, x); }

APART int check(int x) {
  if (x > 3) {
    complain("many arguments", x);
    for (int i = 0; i < x; ++i)
      table[i & 255] ^= x * i;
    complain("these are", table[x & 255] & 7);
    x %= 4;
  }
  return x + 1;
}

APART int make_table(int seed) {
  for (int i = 0; i < 256; ++i) {
    table[i] = (i * seed) ^ (i >> 1);
    if (table[i] < 0) {
      complain("negative", table[i]);
      table[i] = -table[i];
      complain("now", table[i]);
    }
  }
  return table[seed & 255];
}

// Small: a compiler may take it into its only caller, or not, as its counts are.
static int look_up(const char *word) {
  for (unsigned i = 0; i < sizeof words / sizeof *words; ++i)
    if (!strcmp(words[i], word))
      return (int)i;
  return -1;
}

APART int read_arguments(int count, char **values) {
  int sum = 0;
  for (int i = 1; i < count; ++i) {
    int found = look_up(values[i]);
    sum += found < 0 ? (int)strlen(values[i]) : found;
  }
  return sum;
}

APART int late_sum(int x) {
  int sum = 0;
  for (int i = 0; i < 10000; ++i)
    sum += table[(i * x) & 255];
  return sum;
}

APART int late_work(int x) { return late_sum(x) + late_sum(x + 1); }

// Nothing refers to it.
APART int never(int x) {
  complain("never", x);
  return x * late_sum(x);
}

int main(int count, char **values) {
  int x = make_table(1) + read_arguments(count, values);
  for (int i = 0; i < 5000; ++i)
    x += check(i ? 1 : count);
  if (count > 1 && !strcmp(values[1], "late"))
    x += late_work(x);
  return printf("%d\n", x) < 0;
}
