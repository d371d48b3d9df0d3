// Roman numerals, both ways, and a table of them.
#pragma once

#include <string>

std::string to_roman(int number);
int from_roman(const std::string &numeral); // throws std::invalid_argument
std::string table(int last);
