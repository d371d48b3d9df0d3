// A start with all of its files: what is asked, and what follows for each file.
#include "predict/whole_start.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;

namespace {

constexpr uint64_t page = 4096;
constexpr DeviceProfile device = {"test", 1, 1e6, "", 1, 4 * page, 32 * page, 16 * page, page};

FileOfStart file(std::vector<TouchedPages> touched) {
  return {"/a", 1000 * page, std::move(touched), {{0, 0, 1000 * page, 1000 * page, false}}};
}

std::string start(const std::string &file) {
  return R"({"schema": "frontload-whole-start/1", "files": [)" + file + "]}";
}

// Gaps are read along up to a size, in whatever order the pages are touched.
TEST(WholeStart, AsksForRanges) {
  FileOfStart asItIs = file({{700, 2, false}, {104, 3, true}, {100, 1, false}});
  FileCost unlisted = costOf(asItIs, device, false), listed = costOf(asItIs, device, true);
  EXPECT_EQ(listed.asked, 2u);
  EXPECT_EQ(listed.counts.bytesRead, 9 * page);
  EXPECT_EQ(listed.counts.majorFaults, 0u);
  EXPECT_EQ(unlisted.asked, 0u);
  EXPECT_EQ(unlisted.counts.majorFaults, 2u);
}

// A front has the touched pages side by side.
TEST(WholeStart, PacksAFront) {
  std::vector<TouchedPages> apart;
  for (uint64_t i = 0; i < 20; ++i)
    apart.push_back({i * 50, 1, false});
  FileOfStart front = withFront(file(apart));
  EXPECT_EQ(costOf(file(apart), device, false).counts.majorFaults, 20u);
  FileCost unlisted = costOf(front, device, false), listed = costOf(front, device, true);
  EXPECT_EQ(unlisted.counts.majorFaults, 1u);
  EXPECT_EQ(unlisted.counts.bytesRead, 20 * page);
  EXPECT_EQ(listed.counts.majorFaults, 0u);
  EXPECT_EQ(listed.asked, 1u);
}

TEST(WholeStart, ReadsTheQuestion) {
  auto files = readWholeStart(start(
      R"({"path": "/none", "size": 8193, "is_mapped": true, "touched": [[2, 1, 0], [0, 2, 1]]})"));
  ASSERT_TRUE(bool(files));
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ((*files)[0].touched.size(), 2u);
  EXPECT_TRUE((*files)[0].touched[1].isRead);
  EXPECT_EQ((*files)[0].segments.size(), 1u); // it is not there
}

// A list may be older than the file; segments of another size would lie outside of the model's.
TEST(WholeStart, TakesNoSegmentsOfAFileOfAnotherSize) {
  const std::string asked = start(
      R"({"path": "/proc/self/exe", "size": 4096, "is_mapped": true, "touched": [[0, 1, 0]]})");
  auto files = readWholeStart(asked);
  ASSERT_TRUE(bool(files));
  ASSERT_EQ((*files)[0].segments.size(), 1u);
  EXPECT_EQ((*files)[0].segments[0].fileBytes, 4096u);
}

TEST(WholeStart, RefusesWhatCannotBe) {
  auto isRefused = [](StringRef text) { return errorToBool(readWholeStart(text).takeError()); };
  auto fileWith = [](const char *sizeAndTouched) {
    return R"({"path": "/a", "is_mapped": false, "size": )" + std::string(sizeAndTouched) + "}";
  };
  EXPECT_FALSE(isRefused(start(fileWith(R"(4096, "touched": [[0, 1, 0]])"))));
  for (const std::string &bad :
       {std::string("[]"), std::string("{}"), fileWith("1"), fileWith(R"(-1, "touched": [])"),
        fileWith(R"(99999999999999, "touched": [])"), fileWith(R"(4096, "touched": [[0, 2, 0]])"),
        fileWith(R"(4096, "touched": [[0, 0, 0]])"), fileWith(R"(4096, "touched": [[2, 1, 0]])"),
        fileWith(R"(4096, "touched": [[-1, 1, 0]])"), fileWith(R"(4096, "touched": [[0, 1]])")}) {
    EXPECT_TRUE(isRefused(start(bad))) << bad;
    EXPECT_TRUE(isRefused(bad)) << bad;
  }
  EXPECT_TRUE(isRefused(""));
}

} // namespace
