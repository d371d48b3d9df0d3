// Which names of a profile go to the front, and in what order.
#include "profile/tiers.h"
#include "startup_set/front_worth.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace frontload;

static ProfileEntry entry(const char *name, uint64_t runs, EntryKind kind = EntryKind::Function) {
  ProfileEntry e;
  e.name = name;
  e.kind = kind;
  e.runs = runs;
  return e;
}

static std::vector<std::string> namesOf(const StartupProfile &profile) {
  std::vector<std::string> names;
  for (const ProfileEntry &e : profile.entries)
    names.push_back(e.name.str());
  return names;
}

using Names = std::vector<std::string>;

// What all runs touched comes before what half of them did, and that before the rest, whatever
// their ranks; within a tier the first touch decides. A run that has no name in common with the
// others, as one that was aborted, does not count, nor does one of a hundred. Data that every run
// touched that could tell is in the first tier, however few these were.
TEST(Tiers, ComeBeforeFirstTouch) {
  struct {
    uint64_t runs, dataRuns;
    std::vector<ProfileEntry> entries;
    Names sorted;
    size_t sizeOfFirst;
  } cases[] = {{4,
                0,
                {entry("one", 1), entry("three", 3), entry("four", 4), entry("two", 2),
                 entry("more", 4), entry("also one", 1)},
                {"four", "more", "three", "two", "one", "also one"},
                2},
               {201,
                0,
                {entry("few", 2), entry("half", 101), entry("all", 200), entry("nearly", 199)},
                {"all", "nearly", "half", "few"},
                2},
               {10,
                2,
                {entry("f", 2), entry("s", 1, EntryKind::String), entry("d", 2, EntryKind::Data)},
                {"d", "s", "f"},
                1},
               {0, 0, {}, {}, 0}};
  for (const auto &c : cases) {
    StartupProfile profile;
    profile.runs = c.runs;
    profile.dataRuns = c.dataRuns;
    profile.entries = c.entries;
    sortByTier(profile);
    EXPECT_EQ(namesOf(profile), c.sorted);
    EXPECT_EQ(sizeOfFirstTier(profile), c.sizeOfFirst) << c.runs;
  }
}

// Names of a tier that the same kept runs touched lie together, in first-touch order; what all runs
// touched keeps its place, and so does everything if no runs are kept.
TEST(Tiers, BringTogetherWhatTheSameRunsTouch) {
  auto sorted = [](bool keeps) {
    StartupProfile profile;
    profile.runs = 4;
    if (keeps)
      profile.keptRuns = {{1, false}, {1, false}, {1, false}, {1, false}};
    for (const char *name : {"1", "2", "3", "4", "5", "6"})
      for (uint64_t run : {1, 2}) {
        ProfileEntry &e = profile.entries.emplace_back(entry(name, 1));
        e.file = run == 1 ? "one" : "two";
        e.keptBy = keeps ? run : 0;
      }
    profile.entries.push_back(entry("all", 4));
    profile.entries.back().keptBy = keeps ? 15 : 0;
    sortByTier(profile);
    std::vector<std::string> found;
    for (const ProfileEntry &e : profile.entries)
      found.push_back((e.name + e.file).str());
    return found;
  };
  // Which of the runs comes first is of no matter.
  Names one = {"1one", "2one", "3one", "4one", "5one", "6one"};
  Names two = {"1two", "2two", "3two", "4two", "5two", "6two"}, expected = {"all"};
  Names found = sorted(true);
  const bool isOneFirst = found[1] == one[0];
  llvm::append_range(expected, isOneFirst ? one : two);
  llvm::append_range(expected, isOneFirst ? two : one);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(sorted(false), (Names{"all", "1one", "1two", "2one", "2two", "3one", "3two", "4one",
                                  "4two", "5one", "5two", "6one", "6two"}));
}

// Of many names, those that the very same runs touch stay together and in order, also where these
// are all 64 that are kept.
TEST(Tiers, KeepNamesOfTheSameRunsTogether) {
  constexpr size_t many = 500;
  StartupProfile profile;
  profile.runs = 1000;
  for (size_t i = 0; i < many; ++i)
    for (uint64_t runs : {UINT64_MAX, uint64_t{UINT32_MAX}, UINT64_MAX << 32, UINT64_MAX - 1}) {
      ProfileEntry &e = profile.entries.emplace_back(entry("few", 100));
      e.keptBy = runs;
      e.position = i;
    }
  profile.entries.push_back(entry("all", 1000));
  sortByTier(profile);
  ASSERT_EQ(profile.entries.size(), 4 * many + 1);
  EXPECT_EQ(profile.entries[0].name, "all");
  for (size_t i = 0; i < 4 * many; ++i) {
    EXPECT_EQ(profile.entries[1 + i].keptBy, profile.entries[1 + i / many * many].keptBy);
    EXPECT_EQ(profile.entries[1 + i].position, i % many);
  }
}

// A large table of which a few bytes are touched is cheaper to fault in; one that is touched all
// over is not. A section smaller than a window shares one with others, so even few runs are reason
// enough; hardly any are not.
TEST(Density, Decides) {
  EXPECT_FALSE(belongsToFront(1 << 20, 1, 1));
  EXPECT_TRUE(belongsToFront(1 << 20, 16, 1));
  EXPECT_FALSE(belongsToFront(1 << 20, 16 / 16.0, 1 / 16.0));
  EXPECT_TRUE(belongsToFront(512, 1, 1));
  EXPECT_TRUE(belongsToFront(100000, 1, 1));
  EXPECT_TRUE(belongsToFront(512, 0.01, 0.01));
  EXPECT_FALSE(belongsToFront(512, 0.0001, 0.0001));
}
