// What a trace touched is found in another build by its name.
#include "predict/symbol_map.h"
#include "yaml_object.h"

using namespace frontload;
using namespace llvm;

namespace {
/// A program with these symbols; of the section that they are in, more may be said.
std::string program(StringRef symbols, StringRef ofSymtab = "") {
  return x86File("ET_DYN", R"(Sections:
  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x1000, Size: 0x1000}
  - {Name: .symtab, Type: SHT_SYMTAB)" +
                               ofSymtab + "}\nSymbols:\n" + symbols);
}

/// Where addresses of one build are in another; an error's text.
std::string foundIn(const std::string &recorded, const std::string &target,
                    std::vector<uint64_t> addresses) {
  auto from = viewOf(recorded), to = viewOf(target);
  auto map = SymbolMap::create(*from, *to);
  if (!map)
    return toString(map.takeError());
  std::string text;
  for (uint64_t address : addresses) {
    std::optional<uint64_t> found = map->find(address);
    text += found ? utohexstr(*found) + " " : "- ";
  }
  return text;
}

constexpr StringLiteral first = R"(
  - {Name: a.c, Type: STT_FILE, Index: SHN_ABS}
  - {Name: local, Type: STT_FUNC, Section: .text, Value: 0x1000, Size: 0x10}
  - {Name: b.c, Type: STT_FILE, Index: SHN_ABS}
  - {Name: 'local (1)', Type: STT_FUNC, Section: .text, Value: 0x1010, Size: 0x10}
  - {Name: f, Type: STT_FUNC, Section: .text, Value: 0x1030, Size: 0x20, Binding: STB_GLOBAL}
  - {Name: gone, Type: STT_FUNC, Section: .text, Value: 0x1060, Size: 0x10, Binding: STB_GLOBAL}
)";
constexpr StringLiteral second = R"(
  - {Name: b.c, Type: STT_FILE, Index: SHN_ABS}
  - {Name: local, Type: STT_FUNC, Section: .text, Value: 0x1810, Size: 0x10}
  - {Name: a.c, Type: STT_FILE, Index: SHN_ABS}
  - {Name: 'local (1)', Type: STT_FUNC, Section: .text, Value: 0x1900, Size: 0x10}
  - {Name: f, Type: STT_FUNC, Section: .text, Value: 0x1830, Size: 0x8, Binding: STB_GLOBAL}
)";

TEST(SymbolMap, FindsWhatHasOneName) {
  auto find = [](std::vector<uint64_t> addresses) {
    return foundIn(program(first), program(second), addresses);
  };
  EXPECT_EQ(find({0x1034}), "1834 ");              // the offset in a symbol
  EXPECT_EQ(find({0x1004, 0x1014}), "1904 1814 "); // local symbols, by their source file
  // Before all symbols, nameless, gone, where f became shorter, between f and what is gone, behind
  // all.
  EXPECT_EQ(find({0xfff, 0x1024, 0x1064, 0x1040, 0x1058, 0x1080}), "- - - - - - ");
}

// Local symbols of one file have the order in which every link of the same objects has them.
TEST(SymbolMap, KeepsStaticsOfOneNameApart) {
  auto statics = [](StringRef one, StringRef two) {
    return program(("  - {Name: a.c, Type: STT_FILE, Index: SHN_ABS}\n"
                    "  - {Name: local, Type: STT_FUNC, Section: .text, Value: " +
                    one +
                    ", Size: 0x10}\n"
                    "  - {Name: 'local (1)', Type: STT_FUNC, Section: .text, Value: " +
                    two + ", Size: 0x10}\n")
                       .str());
  };
  EXPECT_EQ(foundIn(statics("0x1000", "0x1010"), statics("0x1410", "0x1800"), {0x1004, 0x1014}),
            "1414 1804 ");
}

// A damaged table is not gone through without end: 2^32 symbols, which 32 bits count as none.
TEST(SymbolMap, NeedsSymbols) {
  for (const std::string &target : {program("  []"), program(first, ", ShSize: 0x1800000000")})
    EXPECT_NE(foundIn(program(first), target, {}).find("has no symbols"), std::string::npos);
}

} // namespace
