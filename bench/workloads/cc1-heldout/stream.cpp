// What nobody trained: C++ with <iostream>, optimized.
#include <iostream>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    std::cout << i << ": " << argv[i] << '\n';
  std::cout << "hello" << std::endl;
  return std::cout.good() ? 0 : 1;
}
