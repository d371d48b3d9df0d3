// The reader of startup profiles for linkers. What it refuses, with which line, is tested through
// the linker in test/link/test_command_line.py.
#include "profile/startup_profile.h"
#include <gtest/gtest.h>
#include <random>

using namespace frontload;

static StartupProfile parse(llvm::StringRef text) {
  auto profile = parseStartupProfile("p", text);
  if (!profile) {
    ADD_FAILURE() << llvm::toString(profile.takeError());
    return {};
  }
  return std::move(*profile);
}

// Header, comments, empty lines and both lengths of entries are understood.
TEST(StartupProfile, ReadsAllFields) {
  StartupProfile p = parse("frontload-startup-profile 2\n"
                           "program cc1\nruns 3\ndata-runs 2\nfuture-key whatever it means\n\n"
                           "# a comment\n"
                           "function\ttext\t3\t+1\t-\tmain\n"
                           "data\trelro\t1\t+0\t720/3\t_ZTV3Foo\tfoo.cpp\n"
                           "section\trodata\t2\t+1\t48\t.rodata.f\tlibx.a(f.o)\n"
                           "string\trodata\t2\t+1\t6\thello\n");
  ASSERT_EQ(p.entries.size(), 4u);
  EXPECT_EQ(p.share(p.entries[0]), 1);
  EXPECT_EQ(p.share(p.entries[1]), 0.5);
  EXPECT_EQ(p.entries[0].windows, 1u);
  EXPECT_EQ(p.entries[1].windows, 3u);
  EXPECT_FALSE(p.entries[0].measured);
  EXPECT_TRUE(p.entries[1].measured);
  EXPECT_EQ(p.entries[1].kind, EntryKind::Data);
  EXPECT_EQ(p.entries[2].kind, EntryKind::Section);
  EXPECT_EQ(p.entries[3].kind, EntryKind::String);
  EXPECT_EQ(p.entries[0].name, "main");
  EXPECT_EQ(p.entries[0].sectionClass, SectionClass::Text);
  EXPECT_EQ(p.entries[0].file, "");
  EXPECT_EQ(p.entries[1].sectionClass, SectionClass::Relro);
  EXPECT_EQ(p.entries[1].file, "foo.cpp");
}

// Version 3 tells where large names were touched, and is otherwise like version 2.
TEST(StartupProfile, ReadsStretches) {
  StartupProfile p = parse("frontload-startup-profile 3\nprogram x\nruns 1\ndata-runs 1\n"
                           "data\trodata\t1\t+1\t112@656-799\ta\n"
                           "data\trodata\t1\t+1\t16@0-16383\tb\n"
                           "data\trodata\t1\t+1\t720/3\tc\n");
  ASSERT_EQ(p.entries.size(), 3u);
  EXPECT_EQ(p.entries[0].bytes, 112u);
  EXPECT_EQ(p.entries[0].windows, 1u);
  EXPECT_TRUE(p.entries[0].measured);
  EXPECT_EQ(p.entries[0].stretch, (Stretch{656, 800}));
  EXPECT_EQ(p.entries[1].stretch, (Stretch{0, longestStretch}));
  EXPECT_FALSE(p.entries[2].stretch);
  EXPECT_EQ(p.entries[2].windows, 3u);
}

// A stretch is long enough for the bytes, not too long, and its end can be calculated with.
TEST(StartupProfile, RefusesBadStretches) {
  for (const char *bad : {"112@656-766", "16@656-655", "16@0-16384", "16@0", "16@", "16@-15",
                          "16/2@0-15", "16@0-15/2", "16@0-18446744073709551615", "0@0-15",
                          "16@18446744073709551600-18446744073709551615"}) {
    std::string text = "frontload-startup-profile 3\nruns 1\ndata-runs 1\ndata\trodata\t1\t+1\t";
    auto profile = parseStartupProfile("p", text += std::string(bad) + "\tname\n");
    EXPECT_FALSE(bool(profile)) << bad;
    EXPECT_NE(llvm::toString(profile.takeError()).find("p:4: bad number of touched bytes"),
              std::string::npos);
  }
}

// Version 4 tells how the positions of a name are spread; the order in the file is what counts.
TEST(StartupProfile, PassesOverSpreads) {
  StartupProfile p = parse("frontload-startup-profile 4\nprogram x\nruns 3\n"
                           "function\ttext\t3\t+1@0:2:0,7:1:99\t-\ta\n"
                           "function\ttext\t3\t+1\t-\tb\n");
  ASSERT_EQ(p.entries.size(), 2u);
  EXPECT_EQ(p.entries[0].runs, 3u);
  EXPECT_EQ(p.entries[1].name, "b");
  for (const char *bad :
       {"+1@", "+1@0:2", "+1@0:2:0:1", "+1@0:2:x", "+1@0:2:0,", "@0:2:0,7:1:99"}) {
    auto profile =
        parseStartupProfile("p", "frontload-startup-profile 4\nruns 3\nfunction\ttext\t3\t" +
                                     std::string(bad) + "\t-\ta\n");
    EXPECT_FALSE(bool(profile)) << bad;
    EXPECT_NE(llvm::toString(profile.takeError()).find("p:3: bad rank step"), std::string::npos);
  }
}

// Names carry any byte.
TEST(StartupProfile, UndoesEscapes) {
  StartupProfile p = parse("frontload-startup-profile 2\n"
                           "function\ttext\t1\t+1\t-\ta\\tb\\nc\\\\d\\xffe #f\t\\x00\n");
  ASSERT_EQ(p.entries.size(), 1u);
  EXPECT_EQ(p.entries[0].name, std::string("a\tb\nc\\d\xff") + "e #f");
  EXPECT_EQ(p.entries[0].file, std::string(1, '\0'));
}

// Damaged text gives an error or a profile, never a crash.
TEST(StartupProfile, SurvivesRandomDamage) {
  const std::string good =
      "frontload-startup-profile 2\nprogram x\nruns 2\n"
      "data-runs 2\nfunction\ttext\t1\t+1\t-\tma\\x41in\tfile.c\ndata\tbss\t2\t+7\t9/2\tb\n"
      "data\trodata\t2\t+7@3:1:7,4:1:12\t9@1-99\tc\n";
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (unsigned n = random() % 4 + 1; n > 0; --n)
      text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    if (auto profile = parseStartupProfile("p", text); !profile)
      llvm::consumeError(profile.takeError());
  }
}
