// What kind of file a command line asks a linker for, in all the spellings that lld knows.
#include "program/command_line.h"
#include <gtest/gtest.h>
#include <vector>

using namespace frontload;

static OutputKind kindOf(std::vector<const char *> args) { return outputKind(args); }

// Each spelling, with one dash or two, means the same; the last one counts.
TEST(OutputKind, Spellings) {
  for (const char *arg : {"-pie", "--pie", "-pic-executable", "--pic-executable"})
    EXPECT_TRUE(kindOf({"-no-pie", arg}).isPie) << arg;
  for (const char *arg : {"-shared", "--shared", "-Bshareable", "--Bshareable"})
    EXPECT_TRUE(kindOf({arg, "-no-pie"}).isShared) << arg;
  for (const char *arg : {"-r", "-relocatable", "--relocatable", "-i"})
    EXPECT_TRUE(kindOf({arg}).isRelocatable) << arg;
  for (const char *arg : {"-no-pie", "--no-pie"})
    EXPECT_FALSE(kindOf({"-pie", "--no-pie", "-pie", arg}).isRelocated()) << arg;
  EXPECT_TRUE(kindOf({"-shared", "-no-pie"}).isRelocated());
  EXPECT_TRUE(kindOf({"-pie"}).isRelocated());
  EXPECT_EQ(kindOf({"-dynamic-linker", "a", "--dynamic-linker=b"}).dynamicLinker, "b");
}

// -static-pie, as gcc and clang say it, is position-independent and has no dynamic linker.
TEST(OutputKind, StaticPie) {
  OutputKind kind = kindOf(
      {"-dynamic-linker", "/lib/ld.so", "-static", "-pie", "--no-dynamic-linker", "-z", "text"});
  EXPECT_TRUE(kind.isPie);
  EXPECT_EQ(kind.dynamicLinker, "");
}

// What only looks like one of them says nothing.
TEST(OutputKind, Others) {
  OutputKind kind = kindOf({"pie", "-pied", "-Bshareables", "--no-pic-executable", "-rpath", "--r",
                            "no-pie", "-dynamic-linker"});
  EXPECT_FALSE(kind.isRelocated() || kind.isRelocatable);
}
