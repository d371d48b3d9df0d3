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

// Version 5 tells what each of some runs touched.
TEST(StartupProfile, ReadsKeptRuns) {
  StartupProfile p = parse("frontload-startup-profile 5\nprogram x\nruns 9\ndata-runs 2\n"
                           "kept-runs 00000000000a:2:data 0123456789ab:3\n"
                           "function\ttext\t9\t+1\t-\tall\n"
                           "function\ttext\t4=2\t+1\t-\tsome\n"
                           "function\ttext\t1=0\t+1\t-\tanother\n"
                           "data\trodata\t2\t+1\t16\ttable\n");
  ASSERT_EQ(p.keptRuns.size(), 2u);
  EXPECT_EQ(p.keptRuns[0].weight, 2u);
  EXPECT_TRUE(p.keptRuns[0].hasData);
  EXPECT_FALSE(p.keptRuns[1].hasData);
  ASSERT_EQ(p.entries.size(), 4u);
  EXPECT_EQ(p.entries[0].keptBy, 3u);
  EXPECT_EQ(p.entries[1].keptBy, 2u);
  EXPECT_EQ(p.entries[1].runs, 4u);
  EXPECT_EQ(p.entries[2].keptBy, 0u);
  EXPECT_EQ(p.entries[3].keptBy, 1u);
  EXPECT_EQ(p.weightOf(3), 5u);
}

// What the kept runs cannot have done is refused, with its line.
TEST(StartupProfile, RefusesBadKeptRuns) {
  const char *function = "function\ttext\t3\t+1\t-\ta\n";
  auto refuse = [](const std::string &kept, const std::string &entry, const char *what) {
    auto profile = parseStartupProfile("p", "frontload-startup-profile 5\nruns 3\ndata-runs 1\n" +
                                                kept + "\n" + entry);
    EXPECT_FALSE(bool(profile)) << kept << entry;
    EXPECT_NE(llvm::toString(profile.takeError()).find(what), std::string::npos) << kept << entry;
  };
  std::string many = "kept-runs 1:1";
  for (size_t i = 0; i < mostKeptRuns; ++i)
    many += " 1:1";
  for (const std::string &bad :
       {std::string("kept-runs "), std::string("kept-runs 1"), std::string("kept-runs g:1"),
        std::string("kept-runs 1:0"), std::string("kept-runs 1:1:code"),
        std::string("kept-runs 1:1:data:1"), std::string("kept-runs 1:1  2:1"),
        std::string("kept-runs 1:18446744073709551615"), many,
        std::string("kept-runs 1:1\nkept-runs 2:1")})
    refuse(bad, function, "bad number in");
  const std::string two = "kept-runs 1:1 2:2:data";
  for (const char *runs : {"3=1", "3=4", "3=", "3=x", "1", "1=2", "0=0", "4=3"})
    refuse(two, std::string("function\ttext\t") + runs + "\t+1\t-\ta\n", "p:5: ");
  refuse(two, "data\trodata\t1=1\t+1\t16\ta\n", "p:5: ");
}

// Version 5 tells the runs of each generation; those in all, by age, are what counts.
TEST(StartupProfile, ReadsGenerations) {
  StartupProfile p = parse("frontload-startup-profile 5\nprogram x\nruns 11\n"
                           "generations 2.10:2:0 2.9:1:0 -:1:0\n"
                           "function\ttext\t11@2,1,1\t+1\t-\ta\n"
                           "function\ttext\t1@0,0,1\t+0\t-\tb\n");
  ASSERT_EQ(p.entries.size(), 2u);
  EXPECT_EQ(p.share(p.entries[0]), 1);
  EXPECT_EQ(p.entries[1].runs, 1u);
  EXPECT_FALSE(p.entries[0].faded);
  EXPECT_TRUE(p.entries[1].faded);
  // Of data, the newest generation that recorded some decides.
  p = parse("frontload-startup-profile 5\nprogram x\nruns 7\ndata-runs 3\n"
            "generations 3:1:0 2:1:1 1:1:1\n"
            "function\ttext\t3@0,1,1\t+1\t-\ta\n"
            "data\tdata\t2@0,1,0\t+1\t16\tb\n"
            "data\tdata\t1@0,0,1\t+1\t16\tc\n");
  ASSERT_EQ(p.entries.size(), 3u);
  EXPECT_TRUE(p.entries[0].faded);
  EXPECT_FALSE(p.entries[1].faded);
  EXPECT_TRUE(p.entries[2].faded);
  p = parse("frontload-startup-profile 5\nprogram x\nruns 2\ngenerations 2.10:2:0\n"
            "function\ttext\t2\t+1\t-\ta\n");
  ASSERT_EQ(p.entries.size(), 1u);
  EXPECT_EQ(p.entries[0].runs, 2u);
  EXPECT_FALSE(p.entries[0].faded);
  for (const char *bad : {"", "3", "3:1", "3:0:0", "3:x:0", "3:1:-1", "3:1:0 ", "3:1:0  2:1:0"}) {
    auto profile = parseStartupProfile("p", "frontload-startup-profile 5\nruns 1\ngenerations " +
                                                std::string(bad) + "\n");
    EXPECT_FALSE(bool(profile)) << bad;
    EXPECT_NE(llvm::toString(profile.takeError()).find("p:3: bad number"), std::string::npos);
  }
  for (const char *bad : {"11", "11@", "11@2,1", "11@2,1,1,0", "11@2,1,x", "11@2,1,", "@2,1,1",
                          "0@2,1,1", "11@2,1,-1"}) {
    auto profile = parseStartupProfile("p", "frontload-startup-profile 5\nruns 11\n"
                                            "generations 3:2:0 2:1:0 1:1:0\nfunction\ttext\t" +
                                                std::string(bad) + "\t+1\t-\ta\n");
    EXPECT_FALSE(bool(profile)) << bad;
    EXPECT_NE(llvm::toString(profile.takeError()).find("p:4: bad number of runs"),
              std::string::npos);
  }
}

// A profile of a later version is told from a damaged one.
TEST(StartupProfile, SaysThatAVersionIsNewer) {
  auto profile = parseStartupProfile("p", "frontload-startup-profile 6\nruns 1\n");
  ASSERT_FALSE(bool(profile));
  EXPECT_EQ(llvm::toString(profile.takeError()),
            "p:1: profile version 6 is newer than this frontload, which reads versions 2 to 5");
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
      "data-runs 2\nkept-runs a:1:data "
      "b:1:data\nfunction\ttext\t1=2\t+1\t-\tma\\x41in\tfile.c\ndata\tbss\t2\t+7\t9/2\tb\n"
      "data\trodata\t2\t+7@3:1:7,4:1:12\t9@1-99\tc\n"
      "function\ttext\t1=1\t+1\t-\tkept\n";
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
