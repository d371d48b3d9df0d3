// The functions on text. Its helpers have the names of those on numbers.
#include "functions.h"
#include "errors.h"
#include "text.h"

namespace tabula {

static Value make(std::string s) { return Value(&textType(), std::move(s)); }

static const std::string &wanted(const Row &row, unsigned index) {
  if (row[index].type != &textType())
    failType("text", show(row[index]));
  return row[index].text;
}

static Value upperCase(const Row &row) { return make(upper(wanted(row, 0))); }
static Value lowerCase(const Row &row) { return make(lower(wanted(row, 0))); }
static Value trimmed(const Row &row) { return make(std::string(trim(wanted(row, 0)))); }

static Value length(const Row &row) {
  return Value(&integerType(), static_cast<long>(wanted(row, 0).size()));
}

static Value replace(const Row &row) {
  std::string text = wanted(row, 0);
  const std::string &from = wanted(row, 1), &to = wanted(row, 2);
  for (size_t at = 0; !from.empty() && (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return make(std::move(text));
}

static Value reverse(const Row &row) {
  const std::string &text = wanted(row, 0);
  return make(std::string(text.rbegin(), text.rend()));
}

static Registration upper_("upper", 1, upperCase);
static Registration lower_("lower", 1, lowerCase);
static Registration trim_("trim", 1, trimmed);
static Registration length_("length", 1, length);
static Registration replace_("replace", 3, replace);
static Registration reverse_("reverse", 1, reverse);
static Registration initial("initial", 1, [](const Row &row) { return make(wanted(row, 0).substr(0, 1)); });

} // namespace tabula
