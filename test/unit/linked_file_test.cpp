// What is at an address of a linked file is found by its segments, and never outside of them.
#include "elf/linked_file.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;

namespace {

/// 16 bytes and a page of zeros at 0x1000, and 8 bytes at 0x3000.
constexpr FileSegment segments[] = {{0x1000, 0, 16, 0x1000, false}, {0x3000, 16, 8, 8, true}};
const LinkedFile file = {"0123456789abcdefCODECODE", {segments[0], segments[1]}};

TEST(LinkedFile, HasWhatIsBehindAnAddressToTheEndOfItsSegment) {
  EXPECT_EQ(file.at(0x1000), "0123456789abcdef");
  EXPECT_EQ(file.at(0x100f), "f");
  EXPECT_EQ(file.at(0x3004), "CODE");
}

TEST(LinkedFile, HasNothingWhereTheFileHasNothing) {
  for (uint64_t address : {0x0ull, 0xfffull, 0x1010ull, 0x2fffull, 0x3008ull, ~0ull}) {
    EXPECT_EQ(file.at(address), "") << address;
    EXPECT_EQ(file.segmentAt(address), nullptr) << address;
  }
}

TEST(LinkedFile, HasATableOnlyIfAllOfItIsThere) {
  auto entries = [](uint64_t address, uint64_t size) {
    auto table = file.table<uint64_t>(address, size);
    if (table)
      return int(table->size());
    consumeError(table.takeError());
    return -1;
  };
  EXPECT_EQ(entries(0x1000, 16), 2);
  EXPECT_EQ(entries(0x1008, 8), 1);
  EXPECT_EQ(entries(0x1001, 16), -1);
  EXPECT_EQ(entries(0x3000, ~0ull), -1);
  EXPECT_EQ(entries(0x2000, 8), -1);
  EXPECT_EQ(entries(0, 0), 0);
}

} // namespace
