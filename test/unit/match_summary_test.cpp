// What a link says of how much of a profile it has found.
#include "profile/match_summary.h"
#include <gtest/gtest.h>

using namespace frontload;

namespace {
// What neither was found nor is missing is told, so that the figures add up to the profile's.
TEST(MatchSummary, TellsWhatDoesNotCount) {
  MatchSummary summary;
  summary.found = 3;
  EXPECT_EQ(summary.describe(), "3 of 3 names found (100.0%)");
  summary.strings = 2;
  EXPECT_EQ(summary.describe(), "3 of 3 names found (100.0%); not counted: 2 strings");
  summary.kept = 1;
  summary.missing = {"f"};
  EXPECT_EQ(summary.describe(), "3 of 4 names found (75.0%); not counted: 2 strings, 1 name in "
                                "sections that keep their place; missing: f");
  summary = {};
  summary.found = 1;
  summary.faded = 2;
  summary.inlined = 1;
  EXPECT_EQ(summary.describe(),
            "1 of 1 names found (100.0%); not counted: 2 names that starts touch "
            "no more and that are gone, 1 name that only a build with hooks has");
}

// It is an error if too little is found, in words of its own if nothing is; the option that accepts
// less is that of the linker.
TEST(MatchSummary, JudgesByTheLeastShare) {
  MatchSummary summary;
  EXPECT_FALSE(summary.judge("p", 0, "--o").isError);
  EXPECT_EQ(summary.judge("p", 1, "--o").text, "p: it has no names that a link could place");
  summary.missing = {"f"};
  EXPECT_EQ(summary.judge("p", 1, "--o").text, "p: none of its 1 names is in this link");
  summary.found = 1;
  EXPECT_FALSE(summary.judge("p", 50, "--o").isError);
  MatchVerdict verdict = summary.judge("p", 51, "--o");
  EXPECT_TRUE(verdict.isError);
  EXPECT_EQ(verdict.text, "p: 1 of 2 names found (50.0%); missing: f");
  EXPECT_EQ(verdict.note,
            "record the profile again, or accept less with --o=PERCENT; missing:\n  f");
}
} // namespace
