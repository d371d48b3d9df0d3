// What a trace touched is found in another build by its name.
#include "predict/symbol_map.h"
#include "llvm/ObjectYAML/yaml2obj.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;
using namespace llvm::object;

namespace {

/// A program with these symbols; of the section that they are in, more may be said.
std::unique_ptr<ObjectFile> program(SmallVectorImpl<char> &storage, StringRef symbols,
                                    StringRef ofSymtab = "") {
  return yaml::yaml2ObjectFile(storage,
                               (R"(
--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_DYN, Machine: EM_X86_64}
Sections:
  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x1000, Size: 0x1000}
  - {Name: .symtab, Type: SHT_SYMTAB)" +
                                ofSymtab + R"(}
Symbols:
)" + symbols)
                                   .str(),
                               [](const Twine &m) { ADD_FAILURE() << m.str(); });
}

class TwoBuilds : public testing::Test {
protected:
  void build(StringRef recordedSymbols, StringRef targetSymbols) {
    recorded = program(recordedStorage, recordedSymbols);
    target = program(targetStorage, targetSymbols);
    auto created =
        SymbolMap::create(cast<ELFObjectFileBase>(*recorded), cast<ELFObjectFileBase>(*target));
    ASSERT_TRUE(bool(created)) << toString(created.takeError());
    map = std::move(*created);
  }

  SmallString<0> recordedStorage, targetStorage;
  std::unique_ptr<ObjectFile> recorded, target;
  std::optional<SymbolMap> map;
};

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

TEST_F(TwoBuilds, KeepTheOffsetInASymbol) {
  build(first, second);
  EXPECT_EQ(map->find(0x1034), 0x1834u);
}

// Local symbols of one name are told apart by their source file.
TEST_F(TwoBuilds, KeepLocalSymbolsApart) {
  build(first, second);
  EXPECT_EQ(map->find(0x1004), 0x1904u);
  EXPECT_EQ(map->find(0x1014), 0x1814u);
}

// And those of one file by their order, in which every link of the same objects has them.
TEST_F(TwoBuilds, KeepStaticsOfOneNameApart) {
  build(R"(
  - {Name: a.c, Type: STT_FILE, Index: SHN_ABS}
  - {Name: local, Type: STT_FUNC, Section: .text, Value: 0x1000, Size: 0x10}
  - {Name: 'local (1)', Type: STT_FUNC, Section: .text, Value: 0x1010, Size: 0x10}
)",
        R"(
  - {Name: a.c, Type: STT_FILE, Index: SHN_ABS}
  - {Name: local, Type: STT_FUNC, Section: .text, Value: 0x1410, Size: 0x10}
  - {Name: 'local (1)', Type: STT_FUNC, Section: .text, Value: 0x1800, Size: 0x10}
)");
  EXPECT_EQ(map->find(0x1004), 0x1414u);
  EXPECT_EQ(map->find(0x1014), 0x1804u);
}

// Between the same neighbours, as far apart, is the same nameless constant.
TEST_F(TwoBuilds, FindWhatLiesBetweenTheSameSymbols) {
  build(first, second);
  EXPECT_EQ(map->find(0x1024), 0x1824u);
}

TEST_F(TwoBuilds, MissWhatIsNotInBoth) {
  build(first, second);
  EXPECT_EQ(map->find(0xfff), std::nullopt);  // before all symbols
  EXPECT_EQ(map->find(0x1064), std::nullopt); // gone
  EXPECT_EQ(map->find(0x1040), std::nullopt); // f became shorter
  EXPECT_EQ(map->find(0x1058), std::nullopt); // between f and what is gone
  EXPECT_EQ(map->find(0x1080), std::nullopt); // behind all symbols
}

TEST_F(TwoBuilds, NeedSymbols) {
  recorded = program(recordedStorage, first);
  target = program(targetStorage, "  []");
  auto created =
      SymbolMap::create(cast<ELFObjectFileBase>(*recorded), cast<ELFObjectFileBase>(*target));
  ASSERT_FALSE(bool(created));
  EXPECT_NE(toString(created.takeError()).find("has no symbols"), std::string::npos);
}

// A damaged table is not gone through without end: 2^32 symbols, which 32 bits count as none.
TEST_F(TwoBuilds, NeedSymbolsThatAreInTheFile) {
  recorded = program(recordedStorage, first);
  target = program(targetStorage, first, ", ShSize: 0x1800000000");
  auto created =
      SymbolMap::create(cast<ELFObjectFileBase>(*recorded), cast<ELFObjectFileBase>(*target));
  ASSERT_FALSE(bool(created));
  EXPECT_NE(toString(created.takeError()).find("has no symbols"), std::string::npos);
}

} // namespace
