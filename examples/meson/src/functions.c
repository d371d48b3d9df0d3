/* Functions that expressions can call, help, and a test: few starts need any of it. */
#include "abacus.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double square(double x) {
  return x * x;
}

static double cube(double x) {
  return x * x * x;
}

static const struct function {
  const char *name;
  double (*value)(double);
  const char *help;
} functions[] = {
    {"abs", fabs, "the value without its sign"}, {"cbrt", cbrt, "the cubic root"},
    {"ceil", ceil, "the next whole number"},     {"cube", cube, "the third power"},
    {"exp", exp, "the power of e"},              {"floor", floor, "the whole number before"},
    {"log", log, "the natural logarithm"},       {"sqrt", sqrt, "the square root"},
    {"square", square, "the second power"},
};
enum { COUNT = sizeof functions / sizeof *functions };

double call(const char *name, int length, double argument, const char **error) {
  for (int i = 0; i < COUNT; i++)
    if ((int)strlen(functions[i].name) == length && !strncmp(functions[i].name, name, length))
      return functions[i].value(argument);
  *error = "there is no such function";
  return 0;
}

void print_help(void) {
  puts("usage: abacus EXPRESSION...\n       abacus --help | --test\n\nfunctions:");
  for (int i = 0; i < COUNT; i++)
    printf("  %-8s%s\n", functions[i].name, functions[i].help);
}

int test_yourself(void) {
  static const struct {
    const char *text;
    double value;
  } cases[] = {{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"-sqrt(16) / 2", -2}, {"cube(2) - 8", 0}};
  int wrong = 0;
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *error = NULL;
    if (evaluate(cases[i].text, &error) != cases[i].value || error)
      wrong += printf("wrong: %s\n", cases[i].text) > 0;
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
