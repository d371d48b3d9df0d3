/* Expressions: sums of products of numbers, calls and expressions in parentheses. */
#include "abacus.h"

#include <ctype.h>
#include <stdlib.h>

struct reader {
  const char *at;
  const char **error;
};

static double sum(struct reader *reader);

static char next(struct reader *reader) {
  while (isspace((unsigned char)*reader->at))
    reader->at++;
  return *reader->at;
}

static double atom(struct reader *reader) {
  char first = next(reader);
  const char *name = reader->at;
  while (isalpha((unsigned char)*reader->at))
    reader->at++;
  int length = (int)(reader->at - name);
  if (next(reader) == '(') {
    reader->at++;
    double value = sum(reader);
    if (next(reader) != ')')
      *reader->error = "a parenthesis is not closed";
    else
      reader->at++;
    return length ? call(name, length, value, reader->error) : value;
  }
  if (first == '-') {
    reader->at++;
    return -atom(reader);
  }
  char *end;
  double value = strtod(reader->at, &end);
  if (length || end == reader->at)
    *reader->error = "there is no number where one is expected";
  reader->at = end;
  return value;
}

static double product(struct reader *reader) {
  double value = atom(reader);
  for (char sign; (sign = next(reader)) == '*' || sign == '/';) {
    reader->at++;
    double other = atom(reader);
    value = sign == '*' ? value * other : value / other;
  }
  return value;
}

static double sum(struct reader *reader) {
  double value = product(reader);
  for (char sign; !*reader->error && ((sign = next(reader)) == '+' || sign == '-');) {
    reader->at++;
    double other = product(reader);
    value = sign == '+' ? value + other : value - other;
  }
  return value;
}

double evaluate(const char *text, const char **error) {
  struct reader reader = {text, error};
  double value = sum(&reader);
  if (!*error && next(&reader))
    *error = "there is more than an expression";
  return value;
}
