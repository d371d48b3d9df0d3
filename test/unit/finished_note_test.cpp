// The pages of a start as ranges of a note: by addresses, few, and the first ones where room lacks.
#include "predict/finished_note.h"
#include "gtest/gtest.h"

using namespace frontload;

namespace {
constexpr uint64_t notePage = 4096;

/// Two segments that share the file's page 100: the second is a page further in memory.
const std::vector<FileSegment> segments = {
    {0, 0, 100 * notePage + 16, 100 * notePage + 16, false},
    {101 * notePage + 16, 100 * notePage + 16, 9900 * notePage, 9900 * notePage, true}};

std::vector<FileRange> rangesOf(std::vector<PageRange> pages, size_t room, size_t leftOut = 0) {
  NotedRanges noted = rangesOfPages({{}, segments}, pages, room);
  EXPECT_EQ(noted.leftOut, leftOut);
  uint64_t bytes = 0;
  for (FileRange range : noted.ranges)
    bytes += range.end - range.begin;
  EXPECT_EQ(noted.bytes, bytes);
  return noted.ranges;
}

// In order of first touch, each in its segment; pages that no segment has are left out.
TEST(RangesOfPages, AreAddresses) {
  std::vector<FileRange> expected = {{1000 * notePage + notePage, 1002 * notePage + notePage},
                                     {3 * notePage, 4 * notePage}};
  EXPECT_EQ(rangesOf({{1000, 2}, {3, 1}, {20000, 1}}, 8), expected);
  expected = {{100 * notePage, 100 * notePage + 16}, {101 * notePage + 16, 102 * notePage}};
  EXPECT_EQ(rangesOf({{100, 1}}, 8), expected);
}

// Up to 128 KiB apart they are one, and further apart too, if that reads less than their two faults
// would. More is read around them, in whole pages: a sixth, as long as it is not more either.
TEST(RangesOfPages, AreJoinedWhereTheyAreNear) {
  EXPECT_EQ(rangesOf({{50, 1}, {17, 1}}, 8),
            (std::vector<FileRange>{{15 * notePage, 53 * notePage}}));
  EXPECT_EQ(rangesOf({{60, 1}, {17, 1}}, 8),
            (std::vector<FileRange>{{14 * notePage, 64 * notePage}}));
  EXPECT_EQ(
      rangesOf({{79, 1}, {17, 1}}, 8),
      (std::vector<FileRange>{{79 * notePage, 80 * notePage}, {17 * notePage, 18 * notePage}}));
  EXPECT_EQ(rangesOf({{0, 60}}, 1), (std::vector<FileRange>{{0, 61 * notePage}}));
}

// Of two gaps of 144 KiB, the one is read that saves a request: not the one between parts that are
// too large for one.
TEST(RangesOfPages, AreJoinedWhereItSavesARequest) {
  EXPECT_EQ(rangesOf({{3000, 30}, {3066, 30}, {1000, 128}, {1164, 100}}, 3),
            (std::vector<FileRange>{{2996 * notePage, 3102 * notePage},
                                    {996 * notePage, 1134 * notePage},
                                    {1160 * notePage, 1270 * notePage}}));
}

// What is touched first stays if there is no room for all: a gap as large as a request stays out.
TEST(RangesOfPages, AreTheFirstOnesThatHaveRoom) {
  EXPECT_EQ(rangesOf({{3000, 1}, {2000, 1}, {1000, 1}}, 2, 1),
            (std::vector<FileRange>{{3001 * notePage, 3002 * notePage},
                                    {2001 * notePage, 2002 * notePage}}));
}
} // namespace
