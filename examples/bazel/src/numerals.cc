// Roman numerals. The table is what a start does not need.
#include "src/numerals.h"

#include <stdexcept>

namespace {
const struct {
  int value;
  const char *numeral;
} signs[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
             {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
} // namespace

std::string to_roman(int number) {
  std::string numeral;
  for (const auto &sign : signs)
    for (; number >= sign.value; number -= sign.value)
      numeral += sign.numeral;
  return numeral;
}

int from_roman(const std::string &numeral) {
  int number = 0;
  std::size_t at = 0;
  for (const auto &sign : signs)
    for (; numeral.compare(at, std::string(sign.numeral).size(), sign.numeral) == 0;
         at += std::string(sign.numeral).size())
      number += sign.value;
  if (at != numeral.size() || to_roman(number) != numeral)
    throw std::invalid_argument(numeral + ": is no Roman numeral");
  return number;
}

std::string table(int last) {
  std::string lines;
  for (int number = 1; number <= last; number++)
    lines += std::to_string(number) + '\t' + to_roman(number) + '\n';
  return lines;
}
