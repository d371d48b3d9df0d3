// The reader of startup profiles for linkers. What it refuses, with which line, is also tested
// through the linker in test/link/test_command_line.py.
#include "profile/startup_profile.h"
#include "yaml_object.h"
#include <deque>

using namespace frontload;

namespace {
StartupProfile parsed(const std::string &text) {
  static std::deque<std::string> texts; // a profile's symbols lie in its text
  auto profile = parseStartupProfile("p", texts.emplace_back("frontload-startup-profile " + text));
  if (!profile) {
    ADD_FAILURE() << llvm::toString(profile.takeError());
    return {};
  }
  return std::move(*profile);
}

/// Expects that a profile is refused, whatever of `bad` stands between the two texts.
void refuse(const std::string &before, const std::vector<std::string> &bad,
            const std::string &after, const char *problem) {
  for (const std::string &text : bad) {
    auto profile = parseStartupProfile("p", "frontload-startup-profile " + before + text + after);
    ASSERT_FALSE(bool(profile)) << text;
    EXPECT_NE(llvm::toString(profile.takeError()).find(problem), std::string::npos) << text;
  }
}

// Header, comments, empty lines and both lengths of entries are understood.
TEST(StartupProfile, ReadsAllFields) {
  StartupProfile p = parsed("2\nprogram cc1\nruns 3\ndata-runs 2\nfuture-key whatever it means\n\n"
                            "# a comment\n"
                            "function\ttext\t3\t+1\t-\tmain\n"
                            "data\trelro\t1\t+0\t720/3\t_ZTV3Foo\tfoo.cpp\n"
                            "section\trodata\t2\t+1\t48\t.rodata.f\tlibx.a(f.o)\n"
                            "string\trodata\t2\t+1\t6\thello\n");
  ASSERT_EQ(p.entries.size(), 4u);
  const ProfileEntry &function = p.entries[0], &data = p.entries[1];
  EXPECT_EQ(p.share(function), 1);
  EXPECT_EQ(p.share(data), 0.5);
  EXPECT_EQ(function.windows, 1u);
  EXPECT_EQ(data.windows, 3u);
  EXPECT_FALSE(function.measured);
  EXPECT_TRUE(data.measured);
  EXPECT_EQ(function.name, "main");
  EXPECT_EQ(function.file, "");
  EXPECT_EQ(data.file, "foo.cpp");
  EXPECT_EQ(function.sectionClass, SectionClass::Text);
  EXPECT_EQ(data.sectionClass, SectionClass::Relro);
  EXPECT_EQ(data.kind, EntryKind::Data);
  EXPECT_EQ(p.entries[2].kind, EntryKind::Section);
  EXPECT_EQ(p.entries[3].kind, EntryKind::String);
}

// Version 3 tells where large names were touched: long enough for the bytes, not too long, with an
// end that can be calculated with.
TEST(StartupProfile, ReadsStretches) {
  StartupProfile p = parsed("3\nprogram x\nruns 1\ndata-runs 1\n"
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
  refuse("3\nruns 1\ndata-runs 1\ndata\trodata\t1\t+1\t",
         {"112@656-766", "16@656-655", "16@0-16384", "16@0", "16@", "16@-15", "16/2@0-15",
          "16@0-15/2", "16@0-18446744073709551615", "0@0-15",
          "16@18446744073709551600-18446744073709551615"},
         "\tname\n", "p:4: bad number of touched bytes");
}

// Version 4 tells how the positions of a name are spread; the order in the file is what counts.
TEST(StartupProfile, PassesOverSpreads) {
  StartupProfile p = parsed("4\nprogram x\nruns 3\n"
                            "function\ttext\t3\t+1@0:2:0,7:1:99\t-\ta\n"
                            "function\ttext\t3\t+1\t-\tb\n");
  ASSERT_EQ(p.entries.size(), 2u);
  EXPECT_EQ(p.entries[0].runs, 3u);
  EXPECT_EQ(p.entries[1].name, "b");
  refuse("4\nruns 3\nfunction\ttext\t3\t",
         {"+1@", "+1@0:2", "+1@0:2:0:1", "+1@0:2:x", "+1@0:2:0,", "@0:2:0,7:1:99"}, "\t-\ta\n",
         "p:3: bad rank step");
}

// Version 5 tells what each of some runs touched.
TEST(StartupProfile, ReadsKeptRuns) {
  StartupProfile p = parsed("5\nprogram x\nruns 9\ndata-runs 2\n"
                            "kept-runs 00000000000a:2:data 0123456789ab:3\n"
                            "function\ttext\t9\t+1\t-\tall\n"
                            "function\ttext\t4=2\t+1\t-\tsome\n"
                            "function\ttext\t1=0\t+1\t-\tanother\n"
                            "data\trodata\t2\t+1\t16\ttable\n");
  ASSERT_EQ(p.keptRuns.size(), 2u);
  EXPECT_EQ(p.keptRuns[0].weight, 2u);
  EXPECT_TRUE(p.keptRuns[0].hasData);
  EXPECT_FALSE(p.keptRuns[1].hasData);
  std::vector<uint64_t> keptBy;
  for (const ProfileEntry &entry : p.entries)
    keptBy.push_back(entry.keptBy);
  EXPECT_EQ(keptBy, (std::vector<uint64_t>{3, 2, 0, 1}));
  EXPECT_EQ(p.entries[1].runs, 4u);
  EXPECT_EQ(p.weightOf(3), 5u);
}

// What the kept runs cannot have done is refused, with its line.
TEST(StartupProfile, RefusesBadKeptRuns) {
  std::string many = " 1:1";
  for (size_t i = 0; i < mostKeptRuns; ++i)
    many += " 1:1";
  refuse("5\nruns 3\ndata-runs 1\nkept-runs",
         {" ", " 1", " g:1", " 1:0", " 1:1:code", " 1:1:data:1", " 1:1  2:1",
          " 1:18446744073709551615", many, " 1:1\nkept-runs 2:1"},
         "\nfunction\ttext\t3\t+1\t-\ta\n", "bad number in");
  const std::string two = "5\nruns 3\ndata-runs 1\nkept-runs 1:1 2:2:data\n";
  refuse(two + "function\ttext\t", {"3=1", "3=4", "3=", "3=x", "1", "1=2", "0=0", "4=3"},
         "\t+1\t-\ta\n", "p:5: ");
  refuse(two, {"data\trodata\t1=1\t+1\t16\ta\n"}, "", "p:5: ");
}

// Version 5 tells the runs of each generation; those in all, by age, are what counts. Of data, the
// newest generation that recorded some decides.
TEST(StartupProfile, ReadsGenerations) {
  auto faded = [](const StartupProfile &p) {
    std::vector<bool> result;
    for (const ProfileEntry &entry : p.entries)
      result.push_back(entry.faded);
    return result;
  };
  StartupProfile p = parsed("5\nprogram x\nruns 11\ngenerations 2.10:2:0 2.9:1:0 -:1:0\n"
                            "function\ttext\t11@2,1,1\t+1\t-\ta\n"
                            "function\ttext\t1@0,0,1\t+0\t-\tb\n");
  EXPECT_EQ(faded(p), (std::vector{false, true}));
  EXPECT_EQ(p.share(p.entries[0]), 1);
  EXPECT_EQ(p.entries[1].runs, 1u);
  p = parsed("5\nprogram x\nruns 7\ndata-runs 3\ngenerations 3:1:0 2:1:1 1:1:1\n"
             "function\ttext\t3@0,1,1\t+1\t-\ta\n"
             "data\tdata\t2@0,1,0\t+1\t16\tb\n"
             "data\tdata\t1@0,0,1\t+1\t16\tc\n");
  EXPECT_EQ(faded(p), (std::vector{true, false, true}));
  p = parsed("5\nprogram x\nruns 2\ngenerations 2.10:2:0\nfunction\ttext\t2\t+1\t-\ta\n");
  EXPECT_EQ(faded(p), std::vector{false});
  EXPECT_EQ(p.entries[0].runs, 2u);
  refuse("5\nruns 1\ngenerations ",
         {"", "3", "3:1", "3:0:0", "3:x:0", "3:1:-1", "3:1:0 ", "3:1:0  2:1:0"}, "\n",
         "p:3: bad number");
  refuse("5\nruns 11\ngenerations 3:2:0 2:1:0 1:1:0\nfunction\ttext\t",
         {"11", "11@", "11@2,1", "11@2,1,1,0", "11@2,1,x", "11@2,1,", "@2,1,1", "0@2,1,1",
          "11@2,1,-1"},
         "\t+1\t-\ta\n", "p:4: bad number of runs");
}

// A profile of a later version is told from a damaged one.
TEST(StartupProfile, SaysThatAVersionIsNewer) {
  refuse("7\nruns 1\n", {""}, "",
         "p:1: profile version 7 is newer than this frontload, which reads versions 2 to 6");
}

// Names carry any byte.
TEST(StartupProfile, UndoesEscapes) {
  StartupProfile p = parsed("2\nfunction\ttext\t1\t+1\t-\ta\\tb\\nc\\\\d\\xffe #f\t\\x00\n");
  ASSERT_EQ(p.entries.size(), 1u);
  EXPECT_EQ(p.entries[0].name, std::string("a\tb\nc\\d\xff") + "e #f");
  EXPECT_EQ(p.entries[0].file, std::string(1, '\0'));
}

// Damaged text gives an error or a profile, never a crash.
TEST(StartupProfile, SurvivesRandomDamage) {
  forDamaged("frontload-startup-profile 5\nprogram x\nruns 2\ndata-runs 2\n"
             "kept-runs a:1:data b:1:data\nfunction\ttext\t1=2\t+1\t-\tma\\x41in\tfile.c\n"
             "data\tbss\t2\t+7\t9/2\tb\ndata\trodata\t2\t+7@3:1:7,4:1:12\t9@1-99\tc\n"
             "function\ttext\t1=1\t+1\t-\tkept\n",
             [](llvm::StringRef text) {
               if (auto profile = parseStartupProfile("p", text); !profile)
                 llvm::consumeError(profile.takeError());
             });
}
} // namespace
