// Code of a function that was split is found by its blocks.
#include "predict/build_pairs.h"
#include "gtest/gtest.h"
#include <array>

using namespace frontload;

static Block block(uint32_t id, uint64_t address, uint32_t size) {
  return {address, size, id, false};
}

static std::optional<uint64_t> same(uint64_t address) { return address + 0x1000; }

TEST(BlockPairs, BlocksLieElsewhereInAnotherOrder) {
  BlockPairs pairs({{0x100, 7, {block(0, 0x100, 16), block(2, 0x110, 8), block(1, 0x118, 32)}}},
                   {{0x1100, 7, {block(0, 0x1100, 16), block(1, 0x1110, 30), block(2, 0x9000, 8)}}},
                   same);
  EXPECT_EQ(pairs.find(0x100), 0x1100u);
  EXPECT_EQ(pairs.find(0x10f), 0x110fu);
  EXPECT_EQ(pairs.find(0x114), 0x9004u);
  EXPECT_EQ(pairs.find(0x118), 0x1110u);
  // It is shorter by a jump there.
  EXPECT_EQ(pairs.find(0x137), 0x112du);
  EXPECT_EQ(pairs.find(0x138), std::nullopt);
  EXPECT_EQ(pairs.find(0xff), std::nullopt);
}

TEST(BlockPairs, OfPartOfTheProgram) {
  BlockPairs pairs({{0x100, 7, {block(0, 0x100, 16), block(2, 0x110, 8)}},
                    {0x120, 9, {block(0, 0x120, 4), block(1, 0x124, 8)}}},
                   {{0x1100, 7, {block(0, 0x1100, 12), block(2, 0x9000, 8)}},
                    {0x1120, 9, {block(0, 0x1120, 4), block(1, 0x9100, 9)}}},
                   same);
  std::vector<std::array<uint64_t, 3>> found;
  pairs.forEachIn(0x110, 0x124, [&](uint64_t recorded, uint64_t target, uint64_t size) {
    found.push_back({recorded, target, size});
  });
  std::vector<std::array<uint64_t, 3>> expected = {{0x110, 0x9000, 8}, {0x120, 0x1120, 4}};
  EXPECT_EQ(found, expected);
}

TEST(BlockPairs, OnlyOfFunctionsWithTheSameBlocks) {
  std::vector<FunctionBlocks> recorded = {{0x100, 7, {block(0, 0x100, 16)}}};
  EXPECT_EQ(BlockPairs(recorded, {{0x1100, 8, {block(0, 0x1100, 16)}}}, same).find(0x100),
            std::nullopt);
  EXPECT_EQ(BlockPairs(recorded, {}, same).find(0x100), std::nullopt);
  EXPECT_EQ(BlockPairs(recorded, {{0x1100, 7, {block(0, 0x1100, 16)}}},
                       [](uint64_t) { return std::nullopt; })
                .find(0x100),
            std::nullopt);
  EXPECT_EQ(BlockPairs().find(0x100), std::nullopt);
}

TEST(BlockPairs, BlocksWithoutSizeAreNowhere) {
  BlockPairs pairs({{0x100, 7, {block(0, 0x100, 16), block(1, 0x110, 0), block(2, 0x110, 4)}}},
                   {{0x1100, 7, {block(0, 0x1100, 0), block(1, 0x1100, 4), block(2, 0x1104, 4)}}},
                   same);
  EXPECT_EQ(pairs.find(0x100), std::nullopt);
  EXPECT_EQ(pairs.find(0x110), 0x1104u);
}
