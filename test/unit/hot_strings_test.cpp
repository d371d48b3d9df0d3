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

// Hot strings have the first part for themselves; the others are spread over all the rest.
TEST(HotStrings, HaveTheFirstShardForThemselves) {
  HotStrings strings;
  for (unsigned i = 0; i < 1000; i += 10)
    strings.add(number(i));
  std::set<unsigned> others;
  for (unsigned i = 0; i < 1000; ++i) {
    unsigned shard = shardOf(strings.meet(xxh3_64bits(number(i))));
    if (i % 10 == 0)
      EXPECT_EQ(shard, 0u) << i;
    else
      others.insert(shard);
  }
  EXPECT_EQ(others.size(), 31u);
  EXPECT_FALSE(others.count(0));
}

// The rest of a hash stays: lld tells strings apart by it.
TEST(HotStrings, ChangeNothingButTheShard) {
  HotStrings strings;
  strings.add(number(0));
  for (unsigned i = 0; i < 100; ++i) {
    uint64_t hash = xxh3_64bits(number(i));
    EXPECT_EQ((strings.meet(hash) ^ hash) & ~(uint64_t(31) << 27), 0u);
  }
}

// A hot string counts as placed if it is among those at the beginning of the section, and not
// because it has been hashed: debug information has strings, too.
TEST(HotStrings, KnowWhichTheLinkHas) {
  HotStrings strings;
  strings.add("here");
  strings.add("gone");
  strings.add("debug");
  strings.meet(xxh3_64bits("debug"));
  strings.meet(xxh3_64bits("here"));
  strings.placePrefix(StringRef("here\0other\0", 11));
  EXPECT_EQ(strings.state("here"), HotStrings::State::Placed);
  EXPECT_EQ(strings.state("debug"), HotStrings::State::Elsewhere);
  EXPECT_EQ(strings.state("gone"), HotStrings::State::Absent);
  EXPECT_EQ(strings.state("other"), HotStrings::State::Absent);
}

// The hot beginning of a section ends with the first string that is not hot.
TEST(HotStrings, MeasureTheBeginningOfASection) {
  HotStrings strings;
  strings.add("");
  strings.add("a");
  strings.add("b\xff");
  auto bytes = [&](StringRef section) { return strings.placePrefix(section); };
  EXPECT_EQ(bytes(StringRef("a\0b\xff\0\0cold\0a\0", 13)), 6u);
  EXPECT_EQ(bytes(StringRef("cold\0a\0", 7)), 0u);
  EXPECT_EQ(bytes(StringRef("a\0a", 3)), 2u); // the last one has no end
  EXPECT_EQ(bytes(""), 0u);
}
