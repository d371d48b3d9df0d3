// The register of functions, and those on numbers.
#include "functions.h"
#include "errors.h"
#include "stats.h"
#include "text.h"

namespace tabula {

HashMap<std::string, Function> &functions() {
  static HashMap<std::string, Function> all;
  return all;
}

Registration::Registration(const char *name, unsigned arguments, Value (*call)(const Row &)) {
  functions()[name] = {name, arguments, call};
}

Value callFunction(std::string_view name, const Row &arguments) {
  count(Counter::Calls);
  Function *found = functions().find(std::string(name));
  if (!found)
    failName(name);
  if (found->arguments != arguments.size())
    failType(number(found->arguments) + " arguments", name);
  return found->call(arguments);
}

static Value make(long n) { return Value(&integerType(), n); }

static long wanted(const Row &row, unsigned index) {
  if (row[index].type != &integerType())
    failType("integer", show(row[index]));
  return row[index].number;
}

static long power(long base, long exponent) {
  long result = 1;
  for (; exponent > 0; --exponent)
    result *= base;
  return result;
}

static Value largest(const Row &row) {
  long a = wanted(row, 0), b = wanted(row, 1);
  return make(a < b ? b : a);
}

static Value smallest(const Row &row) {
  long a = wanted(row, 0), b = wanted(row, 1);
  return make(b < a ? b : a);
}

static Registration abs_("abs", 1, [](const Row &row) {
  long n = wanted(row, 0);
  return make(n < 0 ? -n : n);
});
static Registration max_("max", 2, largest);
static Registration min_("min", 2, smallest);
static Registration square("square", 1, [](const Row &row) { return make(power(wanted(row, 0), 2)); });
static Registration cube("cube", 1, [](const Row &row) { return make(power(wanted(row, 0), 3)); });
static Registration sign("sign", 1, [](const Row &row) {
  long n = wanted(row, 0);
  return make(n < 0 ? -1 : n > 0);
});
static Registration romanNumber("roman", 1, [](const Row &row) {
  return Value(&textType(), roman(wanted(row, 0)));
});

} // namespace tabula
