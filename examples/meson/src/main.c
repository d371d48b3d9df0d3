/* abacus: calculates its arguments. What every start needs is here and in evaluate.c. */
#include "abacus.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0) {
    print_help();
    return argc < 2;
  }
  if (strcmp(argv[1], "--test") == 0)
    return test_yourself();
  for (int i = 1; i < argc; i++) {
    const char *error = NULL;
    double value = evaluate(argv[i], &error);
    if (error) {
      fprintf(stderr, "abacus: error: %s: %s\n", argv[i], error);
      return 1;
    }
    printf("%s = %.10g\n", argv[i], value);
  }
  return 0;
}
