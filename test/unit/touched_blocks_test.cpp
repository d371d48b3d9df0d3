// Which blocks ran, by the first instruction that ran in each part of 4 bytes.
#include "resolve/touched_blocks.h"
#include "gtest/gtest.h"

using namespace frontload;

static constexpr auto untouched = BlockState::Untouched, perhaps = BlockState::Perhaps,
                      touched = BlockState::Touched;

/// Blocks of these sizes one after the other, from an address on.
static FunctionBlocks functionOf(uint64_t address, std::vector<uint32_t> sizes) {
  FunctionBlocks function{address, 0, {}};
  for (uint32_t size : sizes) {
    function.blocks.push_back({address, size, uint32_t(function.blocks.size()), false});
    address += size;
  }
  return function;
}

TEST(TouchedBlocks, BlocksOfPartsOfTheirOwn) {
  FunctionBlocks function = functionOf(0x1000, {8, 4, 12});
  EXPECT_EQ(blockStates(function, {0x1000, 0x1004, 0x100c}),
            (std::vector{touched, untouched, touched}));
  EXPECT_EQ(blockStates(function, {}), (std::vector{untouched, untouched, untouched}));
}

TEST(TouchedBlocks, OfTwoThatBeginInAPartOnlyTheFirstIsCertain) {
  FunctionBlocks function = functionOf(0x1000, {2, 6, 4});
  EXPECT_EQ(blockStates(function, {0x1000}), (std::vector{touched, perhaps, untouched}));
  EXPECT_EQ(blockStates(function, {0x1002}), (std::vector{perhaps, touched, untouched}));
  // Whatever runs in the second has an instruction of its own further on.
  EXPECT_EQ(blockStates(function, {0x1000, 0x1005}), (std::vector{touched, touched, untouched}));
}

TEST(TouchedBlocks, ALongBlockCannotHide) {
  EXPECT_EQ(blockStates(functionOf(0x1000, {2, 21}), {0x1000}), (std::vector{touched, perhaps}));
  EXPECT_EQ(blockStates(functionOf(0x1000, {2, 22}), {0x1000}), (std::vector{touched, untouched}));
  // One that is left in its middle, by a call that does not come back, ran.
  EXPECT_EQ(blockStates(functionOf(0x1000, {64}), {0x1000}), (std::vector{touched}));
}

TEST(TouchedBlocks, ABlockWithoutSizeIsAsWhatItSharesItsAddressWith) {
  FunctionBlocks function = functionOf(0x1000, {4, 0, 4, 0});
  EXPECT_EQ(blockStates(function, {0x1000}),
            (std::vector{touched, untouched, untouched, untouched}));
  EXPECT_EQ(blockStates(function, {0x1004}), (std::vector{untouched, touched, touched, untouched}));
}
