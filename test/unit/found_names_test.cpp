// Which of several finds of a name are meant.
#include "names/found_names.h"
#include "names/name_table.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;

namespace {
struct Symbol {
  StringRef name;
  bool isLocal;
  bool agrees = false;
};

/// The symbols, each in an object of its own, that count for the only entry of a profile.
std::vector<std::string> meant(StringRef name, StringRef file, ArrayRef<Symbol> symbols,
                               bool *isAmbiguous = nullptr) {
  StartupProfile profile;
  profile.entries.emplace_back().name = name;
  profile.entries.back().file = file;
  NameTable table(profile);
  FoundNames found(1);
  auto forEach = [&](auto f) {
    for (auto [object, symbol] : enumerate(symbols))
      table.find(HashedName(symbol.name), CachedHashStringRef(symbol.agrees ? file : ""),
                 [&](uint32_t entry, Likeness likeness) {
                   f(entry, FindRank(likeness, symbol.isLocal, !file.empty(), symbol.agrees),
                     Definition{symbol.name, uint32_t(object), symbol.isLocal});
                 });
  };
  forEach([&](uint32_t entry, FindRank rank, const Definition &) { found.note(entry, rank); });
  std::vector<std::string> result;
  forEach([&](uint32_t entry, FindRank rank, const Definition &definition) {
    if (found.accept(entry, rank, definition))
      result.push_back(definition.symbol.str());
  });
  if (isAmbiguous)
    *isAmbiguous = found.isAmbiguous(0);
  return result;
}
using Names = std::vector<std::string>;

TEST(FoundNames, TheExactNameComesBeforeItsClones) {
  EXPECT_EQ(meant("f", "", {{"f.constprop.0", true}, {"f", false}, {"f.isra.0", true}}),
            Names{"f"});
  EXPECT_EQ(meant("f.llvm.1", "", {{"f", false}, {"f.llvm.2", false}}), (Names{"f", "f.llvm.2"}));
}

TEST(FoundNames, AGlobalNameIsOneHoweverManyObjectsHaveACopy) {
  bool isAmbiguous;
  EXPECT_EQ(meant("f", "", {{"f", false}, {"f", false}, {"f", true}}, &isAmbiguous),
            (Names{"f", "f"}));
  EXPECT_FALSE(isAmbiguous);
}

TEST(FoundNames, AFileComesBeforeLikeness) {
  bool isAmbiguous;
  EXPECT_EQ(
      meant("f", "a.c", {{"f", true}, {"f.constprop.0", true, true}, {"f", true}}, &isAmbiguous),
      Names{"f.constprop.0"});
  EXPECT_FALSE(isAmbiguous);
  // The function went to another file.
  EXPECT_EQ(meant("f", "a.c", {{"f", true}, {"f.isra.0", true}}), Names{"f"});
}

TEST(FoundNames, NamesakesAllCountAndAreReported) {
  bool isAmbiguous;
  EXPECT_EQ(meant("f", "a.c", {{"f", true}, {"g", true}, {"f", true}}, &isAmbiguous),
            (Names{"f", "f"}));
  EXPECT_TRUE(isAmbiguous);
  std::vector<Symbol> many(200, Symbol{"f", true});
  EXPECT_EQ(meant("f", "a.c", many).size(), 128u);
}

TEST(FoundNames, AnotherVariantStandsForAConstructor) {
  EXPECT_EQ(meant("_ZN3FooC1Ev", "", {{"_ZN3FooC2Ev", false}}), Names{"_ZN3FooC2Ev"});
  EXPECT_EQ(meant("_ZN3FooC1Ev.cold", "", {{"_ZN3FooC2Ev.cold.7", true}}),
            Names{"_ZN3FooC2Ev.cold.7"});
  EXPECT_EQ(meant("_ZN3FooD0Ev", "", {{"_ZN3FooD2Ev", false}, {"_ZN3FooD0Ev", false}}),
            Names{"_ZN3FooD0Ev"});
  EXPECT_EQ(meant("_ZN2C13runEv", "", {{"_ZN2C23runEv", false}}), Names{});
}

TEST(FoundNames, RustNamesAreFoundAcrossRebuilds) {
  EXPECT_EQ(meant("_RNvCs1_3abc4main", "", {{"_RNvCs2_3abc4main.llvm.9", false}}),
            Names{"_RNvCs2_3abc4main.llvm.9"});
  EXPECT_EQ(meant("_ZN3abc4main17h0123456789abcdefE", "",
                  {{"_ZN3abc4main17h0123456789abcde0E", false}, {"_ZN3abc4main", false}}),
            Names{"_ZN3abc4main17h0123456789abcde0E"});
}

// Each of thousands of namesakes is the one of its file, whatever it is called now; and where
// nothing tells them apart, this takes no time that grows with their square.
TEST(FoundNames, ManyNamesakesAreToldApartByTheirFiles) {
  constexpr unsigned count = 50000;
  StartupProfile profile;
  std::vector<std::string> files;
  for (unsigned i = 0; i < count; ++i)
    files.push_back("f" + std::to_string(i) + ".c");
  for (const std::string &file : files) {
    profile.entries.emplace_back().name = "init";
    profile.entries.back().file = file;
  }
  NameTable table(profile);
  for (unsigned i = 0; i < count; ++i) {
    bool found = false;
    unsigned visits = 0;
    std::string symbol = "init.__uniq." + std::to_string(i);
    table.find(HashedName(symbol), CachedHashStringRef(files[i]),
               [&](uint32_t entry, Likeness likeness) {
                 found |= entry == i && likeness == Likeness::Suffix;
                 ++visits;
               });
    ASSERT_TRUE(found && visits < 300) << i;
  }
}

// No time or memory that grows with the square of a name's length, or worse.
TEST(FoundNames, NamesThatAreMadeToTakeLongDoNot) {
  std::string constructors = "_ZN", references = "_R";
  for (int i = 0; i < 200000; ++i)
    constructors += "C1";
  for (int i = 0; i < 40; ++i)
    references += "TB" + std::string(i ? std::to_string(3 * i - 1) : "") + "_B_E";
  StartupProfile profile;
  profile.entries.emplace_back().name = constructors;
  profile.entries.emplace_back().name = references;
  std::string deep = "_Z" + std::string(1000000, 'P');
  profile.entries.emplace_back().name = deep;
  NameTable table(profile);
  for (const std::string &name : {constructors, references + ".llvm.1", deep}) {
    unsigned visits = 0;
    table.find(HashedName(name), {}, [&](uint32_t, Likeness) { ++visits; });
    EXPECT_EQ(visits, 1u);
  }
}

TEST(FoundNames, ALikelierOneThatComesLaterTakesThePlace) {
  FoundNames found(1);
  Definition clone{"f.isra.0", 0, true}, function{"f", 1, false};
  FindRank cloneRank(Likeness::Clone, true, false, false),
      exact(Likeness::Exact, false, false, false);
  found.note(0, cloneRank);
  EXPECT_TRUE(found.accept(0, cloneRank, clone));
  found.note(0, exact);
  EXPECT_TRUE(found.accept(0, exact, function));
  EXPECT_FALSE(found.accept(0, cloneRank, clone));
  EXPECT_EQ(found.definitions(0).size(), 1u);
  EXPECT_EQ(found.best(0).likeness(), Likeness::Exact);
}
} // namespace
