// What the gold plugin reads of its options and of gold's command line.
#include "gold/options.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace frontload;

static GoldCommandLine parse(std::initializer_list<const char *> words) {
  std::string joined;
  for (const char *word : words)
    joined.append(word).push_back('\0');
  return parseGoldCommandLine(joined);
}

// Options are known with one dash or two, and their values in the same or the next word.
TEST(GoldCommandLine, Options) {
  EXPECT_TRUE(parse({"gold", "-q"}).emitsRelocations);
  EXPECT_TRUE(parse({"gold", "-emit-relocs", "x.o"}).emitsRelocations);
  EXPECT_TRUE(parse({"gold", "--icf=safe"}).foldsCode);
  EXPECT_FALSE(parse({"gold", "--icf", "none"}).foldsCode);
  EXPECT_EQ(parse({"gold", "-section-ordering-file", "f"}).ordering, "--section-ordering-file");
  EXPECT_EQ(parse({"gold", "--sort-section", "name"}).ordering, "--sort-section=name");
}

// What only looks like them is not taken for them, and an end in mid-option is no harm.
TEST(GoldCommandLine, Others) {
  GoldCommandLine line =
      parse({"gold", "-quiet", "emit-relocs", "--sort-section=none", "-o", "-icf.o", "--icf"});
  EXPECT_FALSE(line.emitsRelocations);
  EXPECT_FALSE(line.foldsCode);
  EXPECT_TRUE(line.ordering.empty());
  EXPECT_FALSE(parseGoldCommandLine("").emitsRelocations);
  EXPECT_FALSE(parseGoldCommandLine("-q").emitsRelocations); // cut off
}

// gold has read what a pipe gave.
TEST(GoldCommandLine, PipesAreNotOpened) {
  std::string pipe = testing::TempDir() + "/frontload-pipe";
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(parse({"gold", ("@" + pipe).c_str(), "-q"}).emitsRelocations);
  unlink(pipe.c_str());
}

// Of options that stand several times, the last counts.
TEST(GoldOptions, LastCounts) {
  GoldOptions options;
  EXPECT_FALSE(parseGoldOptions({"profile=a", "min-match=5", "profile=b=c"}, options));
  EXPECT_EQ(options.profile, "b=c");
  EXPECT_EQ(options.minMatch, 5);
  EXPECT_EQ(options.report, "");
}
