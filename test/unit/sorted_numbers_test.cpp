//===- sorted_numbers_test.cpp - numbers of all kinds are sorted -----------===//

#include "lld/sorted_numbers.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace frontload;

namespace {
using Numbers = std::vector<uint64_t>;

void expectSorted(Numbers numbers) {
  Numbers expected = numbers;
  std::sort(expected.begin(), expected.end());
  sortNumbers(numbers);
  EXPECT_TRUE(numbers == expected) << numbers.size() << " numbers";
}

TEST(SortedNumbers, AreWhatTheLibraryMakesOfThem) {
  std::mt19937_64 random(1);
  for (size_t count : {0, 1, 2, 100, 2047, 2048, 5000, 100000})
    for (unsigned bits : {1, 11, 12, 22, 33, 63, 64}) {
      Numbers numbers(count);
      for (uint64_t &number : numbers)
        number = random() >> (64 - bits);
      expectSorted(numbers);
      for (uint64_t &number : numbers) // of which the lowest bits are alike
        number = number << 3 | 5;
      expectSorted(numbers);
    }
}

TEST(SortedNumbers, MayBeSortedOrAlikeAlready) {
  Numbers ascending(3000);
  std::iota(ascending.begin(), ascending.end(), 1000);
  expectSorted(ascending);
  expectSorted(Numbers(ascending.rbegin(), ascending.rend()));
  expectSorted(Numbers(3000, 7));
}

TEST(SortedNumbers, MayBeTheLargest) {
  Numbers numbers(3000, std::numeric_limits<uint64_t>::max());
  numbers.back() = 0;
  expectSorted(numbers);
}
} // namespace
