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
  StringRef file = "";
};
using Names = std::vector<std::string>;

StartupProfile profileWith(ArrayRef<std::pair<StringRef, StringRef>> namesAndFiles) {
  StartupProfile profile;
  for (auto [name, file] : namesAndFiles) {
    profile.entries.emplace_back().name = name;
    profile.entries.back().file = file;
  }
  return profile;
}

/// The symbols, each in an object of its own, that count for each entry of a profile.
struct AllFound {
  AllFound(const StartupProfile &profile, ArrayRef<Symbol> symbols)
      : names(profile.entries.size()), numbers(profile.entries.size()) {
    NameTable table(profile);
    FoundNames found(profile.entries.size());
    bool isStable = false;
    auto forEach = [&](auto f) {
      for (auto [number, symbol] : enumerate(symbols)) {
        CachedHashStringRef file(symbol.file);
        auto mayAgree = ArrayRef(file).take_front(symbol.isLocal);
        auto visit = [&](const NameTable::Match &match) {
          const ProfileEntry &entry = profile.entries[match.entry];
          f(match.entry,
            FindRank(match.likeness, symbol.isLocal, !entry.file.empty(), match.isOfFile),
            Definition{symbol.name, uint32_t(number), symbol.isLocal});
        };
        table.find(HashedName(symbol.name), mayAgree, visit);
        if (isStable)
          table.findStable(symbol.name, mayAgree, visit);
      }
    };
    auto note = [&](uint32_t entry, FindRank rank, const Definition &) { found.note(entry, rank); };
    forEach(note);
    isStable = table.prepareStable([&](uint32_t entry) { return found.isSettled(entry); });
    forEach(note);
    forEach([&](uint32_t entry, FindRank rank, const Definition &definition) {
      if (!found.accept(entry, rank, definition))
        return;
      names[entry].push_back(definition.symbol.str());
      numbers[entry].push_back(definition.object);
    });
    isAmbiguous = found.isAmbiguous(0);
  }

  std::vector<Names> names;
  std::vector<std::vector<uint32_t>> numbers;
  bool isAmbiguous;
};

TEST(FoundNames, AreThoseThatAreMeant) {
  const char *legacy = "_ZN3abc4main17h0123456789abcde0E";
  struct Case {
    StringRef name, file;
    std::vector<Symbol> symbols;
    Names meant;
    bool isAmbiguous = false;
  } cases[] = {
      // The exact name comes before its clones.
      {"f", "", {{"f.constprop.0", true}, {"f", false}, {"f.isra.0", true}}, {"f"}},
      {"f.llvm.1", "", {{"f", false}, {"f.llvm.2", false}}, {"f", "f.llvm.2"}, true},
      // With clang's CFI, the function is where its jump table leads.
      {"f", "", {{"f", true}, {"f.cfi", true}}, {"f", "f.cfi"}, true},
      // A global name is one, however many objects have a copy.
      {"f", "", {{"f", false}, {"f", false}, {"f", true}}, {"f", "f"}},
      // A file comes before likeness, unless the function went to another file.
      {"f", "a.c", {{"f", true}, {"f.constprop.0", true, "a.c"}, {"f", true}}, {"f.constprop.0"}},
      {"f", "a.c", {{"f", true}, {"f.isra.0", true}}, {"f"}},
      // Namesakes all count, up to a number, and are reported.
      {"f", "a.c", {{"f", true}, {"g", true}, {"f", true}}, {"f", "f"}, true},
      {"f", "a.c", std::vector(200, Symbol{"f", true}), Names(128, "f"), true},
      // Another variant stands for a constructor.
      {"_ZN3FooC1Ev", "", {{"_ZN3FooC2Ev", false}}, {"_ZN3FooC2Ev"}},
      {"_ZN3FooC1Ev.cold", "", {{"_ZN3FooC2Ev.cold.7", true}}, {"_ZN3FooC2Ev.cold.7"}},
      {"_ZN3FooD0Ev", "", {{"_ZN3FooD2Ev", false}, {"_ZN3FooD0Ev", false}}, {"_ZN3FooD0Ev"}},
      {"_ZN2C13runEv", "", {{"_ZN2C23runEv", false}}, {}},
      // Names of Rust are found across rebuilds.
      {"_RNvCs1_3abc4main",
       "",
       {{"_RNvCs2_3abc4main.llvm.9", false}},
       {"_RNvCs2_3abc4main.llvm.9"}},
      {"_ZN3abc4main17h0123456789abcdefE",
       "",
       {{legacy, false}, {"_ZN3abc4main", false}},
       {legacy}},
      // The exact ABI tags come before others, and these before none at all.
      {"_ZN1fB2n1Ev", "", {{"_ZN1fB2n2Ev", false}, {"_ZN1fB2n1Ev", false}}, {"_ZN1fB2n1Ev"}},
      {"_ZN1fB2n1Ev", "", {{"_ZN1fB2n2Ev.cold", true}, {"_ZN1fEv", false}}, {"_ZN1fEv"}},
      {"_ZN1fEv",
       "",
       {{"_ZN1fB2n2Ev", false}, {"_ZN1fB2n3Ev", false}},
       {"_ZN1fB2n2Ev", "_ZN1fB2n3Ev"},
       true},
      {"_ZN1FC1B2n1Ev", "", {{"_ZN1FC2B2n2Ev.isra.0", false}}, {"_ZN1FC2B2n2Ev.isra.0"}},
      {"camlA__f_81", "", {{"camlA__f_79", false}, {"camlA__g_81", false}}, {"camlA__f_79"}},
  };
  for (const Case &c : cases) {
    AllFound found(profileWith({{c.name, c.file}}), c.symbols);
    EXPECT_EQ(found.names[0], c.meant) << c.name.str();
    EXPECT_EQ(found.isAmbiguous, c.isAmbiguous) << c.name.str();
  }
}

// Each of thousands of namesakes is the one of its file, whatever it is called now; and where
// nothing tells them apart, this takes no time that grows with their square.
TEST(FoundNames, ManyNamesakesAreToldApartByTheirFiles) {
  constexpr unsigned count = 50000;
  std::deque<std::string> files;
  std::vector<std::pair<StringRef, StringRef>> entries;
  for (unsigned i = 0; i < count; ++i)
    entries.push_back({"init", files.emplace_back("f" + std::to_string(i) + ".c")});
  StartupProfile profile = profileWith(entries);
  NameTable table(profile);
  for (unsigned i = 0; i < count; ++i) {
    bool found = false;
    unsigned visits = 0;
    std::string symbol = "init.__uniq." + std::to_string(i);
    table.find(HashedName(symbol), CachedHashStringRef(files[i]),
               [&](const NameTable::Match &match) {
                 found |= match.entry == i && match.likeness == Likeness::Suffix;
                 ++visits;
               });
    ASSERT_TRUE(found && visits <= 129) << i;
  }
}

// No time or memory that grows with the square of a name's length, or worse.
TEST(FoundNames, NamesThatAreMadeToTakeLongDoNot) {
  std::string constructors = "_ZN", references = "_R";
  for (int i = 0; i < 200000; ++i)
    constructors += "C1";
  for (int i = 0; i < 40; ++i)
    references += "TB" + std::string(i ? std::to_string(3 * i - 1) : "") + "_B_E";
  std::string deep = "_Z" + std::string(1000000, 'P');
  StartupProfile profile = profileWith({{constructors, ""}, {references, ""}, {deep, ""}});
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

// That entries are looked up together does not show: each finds what it finds alone.
TEST(FoundNames, EachEntryFindsWhatItFindsAlone) {
  SmallVector<StringRef> names, files = {"", "a.c", "b.c"};
  StringRef("f f.1 f.2 f.llvm.1 f.llvm.2 f.isra.0 f.constprop.1 f.cold f.part.1 f.isra.0.cold "
            "_ZN1FC1Ev _ZN1FC2Ev.llvm.3 _ZN1FC2Ev _ZN1FC1Ev.llvm.4 "
            "_RNvCs1_3abc1g _RNvCs2_3abc1g _RNvCs3_3abc1g.llvm.1 _ZN1FC2B1aEv _ZN1FC1B1bEv.cold")
      .split(names, ' ');
  std::mt19937 random(1);
  auto oneOf = [&](auto &list) -> StringRef { return list[random() % std::size(list)]; };
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<StringRef, StringRef>> entries;
    for (unsigned n = 1 + random() % 12; n > 0; --n)
      entries.push_back({oneOf(names), oneOf(files)});
    std::vector<Symbol> symbols;
    for (unsigned n = random() % 12; n > 0; --n)
      symbols.push_back({oneOf(names), random() % 2 != 0, oneOf(files)});
    AllFound together(profileWith(entries), symbols);
    for (auto [number, entry] : enumerate(entries))
      EXPECT_EQ(together.numbers[number], AllFound(profileWith({entry}), symbols).numbers[0])
          << entry.first.str() << " of " << entry.second.str();
  }
}
} // namespace
