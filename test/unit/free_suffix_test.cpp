// The search for a name that is free, among any number that are taken, also while others take them.
#include "base/free_suffix.h"

#include "gtest/gtest.h"

namespace {

struct Found {
  uint32_t suffix;
  unsigned steps;
};

// Where all up to `taken` are, and somebody else is quicker so many times.
Found search(uint32_t taken, uint32_t quicker = 0) {
  free_suffix search = FREE_SUFFIX;
  for (unsigned steps = 1;; ++steps) {
    uint32_t suffix = free_suffix_next(&search);
    if (suffix == 0)
      return {0, steps};
    if (!free_suffix_is_wanted(&search, suffix)) {
      free_suffix_saw(&search, suffix, suffix <= taken);
      continue;
    }
    if (suffix > taken && quicker > 0) {
      --quicker;
      ++taken;
    }
    if (suffix > taken)
      return {suffix, steps};
    free_suffix_saw(&search, suffix, true);
  }
}

TEST(FreeSuffix, IsTheFirst) {
  for (uint32_t taken = 0; taken < 3000; ++taken)
    EXPECT_EQ(search(taken).suffix, taken + 1);
  EXPECT_EQ(search(UINT32_MAX).suffix, 0U); // there is none
}

TEST(FreeSuffix, TakesFewSteps) {
  EXPECT_EQ(search(0).steps, 1U);
  EXPECT_LE(search(10'000).steps, 30U);
  EXPECT_LE(search(100'000'000).steps, 60U);
}

TEST(FreeSuffix, GoesOnWhereOthersAreQuicker) {
  EXPECT_EQ(search(1000, 5).suffix, 1006U);
  EXPECT_EQ(search(0, 100).suffix, 101U);
  EXPECT_EQ(search(0, UINT32_MAX).suffix, 0U); // but it ends
}

} // namespace
