// The order of merged strings, by way of the hashes that the linker takes for them.
#include "startup_set/hot_strings.h"
#include "llvm/Support/xxhash.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;

/// lld's part of the section that a string of this hash goes to: the highest five of the 31 bits
/// that it keeps.
static unsigned shardOf(uint64_t hash) { return (static_cast<uint32_t>(hash) >> 1) >> 26; }

static std::string number(unsigned i) { return "string " + std::to_string(i); }

// Hot strings have the first part for themselves; the others are spread over all the rest. The rest
// of a hash stays: lld tells strings apart by it.
TEST(HotStrings, HaveTheFirstShardForThemselves) {
  HotStrings strings;
  for (unsigned i = 0; i < 1000; i += 10)
    strings.add(number(i));
  std::set<unsigned> others;
  for (unsigned i = 0; i < 1000; ++i) {
    uint64_t hash = xxh3_64bits(number(i)), met = strings.meet(hash);
    EXPECT_EQ((met ^ hash) & ~(uint64_t(31) << 27), 0u);
    if (i % 10 == 0)
      EXPECT_EQ(shardOf(met), 0u) << i;
    else
      others.insert(shardOf(met));
  }
  EXPECT_EQ(others.size(), 31u);
  EXPECT_FALSE(others.count(0));
}

// A hot string counts as placed if it is among those at the beginning of the section, and not
// because it has been hashed: debug information has strings, too.
TEST(HotStrings, KnowWhichTheLinkHas) {
  HotStrings strings;
  for (const char *text : {"here", "gone", "debug"})
    strings.add(text);
  for (const char *text : {"debug", "here"})
    strings.meet(xxh3_64bits(text));
  strings.placePrefix(StringRef("here\0other\0", 11));
  for (auto [text, state] : {std::pair("here", HotStrings::State::Placed),
                             {"debug", HotStrings::State::Elsewhere},
                             {"gone", HotStrings::State::Absent},
                             {"other", HotStrings::State::Absent}})
    EXPECT_EQ(strings.state(text), state) << text;
}

// The hot beginning of a section ends with the first string that is not hot.
TEST(HotStrings, MeasureTheBeginningOfASection) {
  HotStrings strings;
  for (const char *text : {"", "a", "b\xff"})
    strings.add(text);
  EXPECT_EQ(strings.placePrefix(StringRef("a\0b\xff\0\0cold\0a\0", 13)), 6u);
  EXPECT_EQ(strings.placePrefix(StringRef("cold\0a\0", 7)), 0u);
  EXPECT_EQ(strings.placePrefix(StringRef("a\0a", 3)), 2u); // the last one has no end
  EXPECT_EQ(strings.placePrefix(""), 0u);
}
