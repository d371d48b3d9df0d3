//===- sorted_numbers_test.cpp - numbers of all kinds are sorted -----------===//

#include "lld/sorted_numbers.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace frontload;

namespace {
using Numbers = std::vector<uint64_t>;

TEST(SortedNumbers, AreWhatTheLibraryMakesOfThem) {
  std::vector<Numbers> all;
  std::mt19937_64 random(1);
  for (size_t count : {0, 1, 2, 100, 2047, 2048, 5000, 100000})
    for (unsigned bits : {1, 11, 12, 22, 33, 63, 64}) {
      Numbers numbers(count);
      for (uint64_t &number : numbers)
        number = random() >> (64 - bits);
      all.push_back(numbers);
      for (uint64_t &number : numbers) // of which the lowest bits are alike
        number = number << 3 | 5;
      all.push_back(numbers);
    }
  Numbers ascending(3000), largest(3000, UINT64_MAX);
  std::iota(ascending.begin(), ascending.end(), 1000);
  largest.back() = 0;
  for (const Numbers &numbers :
       {ascending, Numbers(ascending.rbegin(), ascending.rend()), Numbers(3000, 7), largest})
    all.push_back(numbers);
  for (Numbers &numbers : all) {
    Numbers expected = numbers;
    std::sort(expected.begin(), expected.end());
    sortNumbers(numbers);
    EXPECT_TRUE(numbers == expected) << numbers.size() << " numbers";
  }
}
} // namespace
