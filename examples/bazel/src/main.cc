// roman: writes numbers as Roman numerals, and the other way round.
#include "src/numerals.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>

namespace {
int usage() {
  std::cerr << "usage: roman NUMBER|NUMERAL...\n       roman --table\n";
  return 2;
}
} // namespace

int main(int argc, char **argv) try {
  if (argc < 2)
    return usage();
  if (!std::strcmp(argv[1], "--table")) {
    std::cout << table(100);
    return 0;
  }
  for (int i = 1; i < argc; i++)
    if (int number = std::atoi(argv[i]))
      std::cout << to_roman(number) << '\n';
    else
      std::cout << from_roman(argv[i]) << '\n';
} catch (const std::exception &problem) {
  std::cerr << "roman: error: " << problem.what() << '\n';
  return 1;
}
