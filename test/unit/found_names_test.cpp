// Which of several finds of a name are meant.
#include "names/found_names.h"
#include "names/name_table.h"
#include <deque>
#include <gtest/gtest.h>
#include <random>

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
                 [&](const NameTable::Match &match) {
                   f(match.group,
                     FindRank(match.likeness, symbol.isLocal, !file.empty(), symbol.agrees),
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
               [&](const NameTable::Match &match) {
                 found |= match.group == i && match.likeness == Likeness::Suffix;
                 ++visits;
               });
    ASSERT_TRUE(found && visits < 3) << i;
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
    table.find(HashedName(name), {}, [&](const NameTable::Match &) { ++visits; });
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

/// The symbols, by their numbers, that count for each entry of a profile.
using FoundNumbers = std::vector<std::vector<uint32_t>>;
static FoundNumbers findAll(const StartupProfile &profile, ArrayRef<Symbol> symbols,
                     ArrayRef<StringRef> files, size_t *numVisits = nullptr) {
  NameTable table(profile);
  FoundNames found(profile.entries.size());
  GroupFinds finds(table.groups(), found);
  auto forEach = [&](auto f) {
    for (auto [number, symbol] : enumerate(symbols)) {
      CachedHashStringRef file(files[number]);
      auto mayAgree = ArrayRef(file).take_front(symbol.isLocal);
      table.find(HashedName(symbol.name), mayAgree, [&](const NameTable::Match &match) {
        const ProfileEntry &entry = profile.entries[table.groups().first(match.group)];
        f(match.group,
          FindRank(match.likeness, symbol.isLocal, !entry.file.empty(), match.isOfFile),
          Definition{symbol.name, uint32_t(number), symbol.isLocal});
        if (numVisits)
          ++*numVisits;
      });
    }
  };
  forEach([&](uint32_t group, FindRank rank, const Definition &) { finds.note(group, rank); });
  finds.endNotes();
  FoundNumbers result(profile.entries.size());
  forEach([&](uint32_t group, FindRank rank, const Definition &definition) {
    finds.accept(group, rank, definition,
                 [&](uint32_t entry) { result[entry].push_back(definition.object); });
  });
  return result;
}

// Symbols and entries of one stem, in thousands: as many finds as there are symbols, not the
// product, and for each entry the first of the link.
TEST(EntryGroups, ManySymbolsAgainstManyEntries) {
  constexpr unsigned numSymbols = 20000, numEntries = 128;
  std::deque<std::string> names;
  for (StringRef file : {"", "a.c", "b.c"}) {
    StartupProfile profile;
    for (unsigned i = 0; i < numEntries; ++i) {
      ProfileEntry &entry = profile.entries.emplace_back();
      entry.name = names.emplace_back("count.llvm." + std::to_string(i));
      entry.file = file;
    }
    std::vector<Symbol> symbols;
    for (unsigned i = 0; i < numSymbols; ++i)
      symbols.push_back({names.emplace_back("count.llvm." + std::to_string(1000 + i)), true});
    std::vector<StringRef> files(numSymbols, "a.c");
    size_t numVisits = 0;
    FoundNumbers found = findAll(profile, symbols, files, &numVisits);
    EXPECT_LE(numVisits, 2 * 2 * numSymbols);
    for (const std::vector<uint32_t> &ofEntry : found) {
      ASSERT_EQ(ofEntry.size(), 128u);
      EXPECT_TRUE(ofEntry.front() == 0 && ofEntry.back() == 127);
    }
  }
}

// That entries are looked up together does not show: each finds what it finds alone.
TEST(EntryGroups, FindWhatEntriesFindAlone) {
  static constexpr StringLiteral names[] = {"f",
                                            "f.1",
                                            "f.2",
                                            "f.llvm.1",
                                            "f.llvm.2",
                                            "f.isra.0",
                                            "f.constprop.1",
                                            "f.cold",
                                            "f.part.1",
                                            "f.isra.0.cold",
                                            "_ZN1FC1Ev",
                                            "_ZN1FC2Ev.llvm.3",
                                            "_ZN1FC2Ev",
                                            "_ZN1FC1Ev.llvm.4",
                                            "_RNvCs1_3abc1g",
                                            "_RNvCs2_3abc1g",
                                            "_RNvCs3_3abc1g.llvm.1"};
  static constexpr StringLiteral files[] = {"", "a.c", "b.c"};
  std::mt19937 random(1);
  auto oneOf = [&](auto &list) -> StringRef { return list[random() % std::size(list)]; };
  for (int round = 0; round < 2000; ++round) {
    StartupProfile profile;
    for (unsigned n = 1 + random() % 12; n > 0; --n) {
      ProfileEntry &entry = profile.entries.emplace_back();
      entry.name = oneOf(names);
      entry.file = oneOf(files);
    }
    std::vector<Symbol> symbols;
    std::vector<StringRef> filesOf;
    for (unsigned n = random() % 12; n > 0; --n) {
      symbols.push_back({oneOf(names), random() % 2 != 0});
      filesOf.push_back(oneOf(files));
    }
    FoundNumbers together = findAll(profile, symbols, filesOf);
    for (auto [number, entry] : enumerate(profile.entries)) {
      StartupProfile alone;
      alone.entries.push_back(entry);
      EXPECT_EQ(together[number], findAll(alone, symbols, filesOf)[0])
          << entry.name.str() << " of " << entry.file.str();
    }
  }
}
} // namespace
