// What no symbol names is found in another build by those who refer to it.
#include "predict/build_pairs.h"
#include "predict/symbol_map.h"
#include "yaml_object.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace frontload;
using namespace llvm;
using namespace llvm::object;

namespace {

constexpr uint64_t text = 0x1000, rodata = 0x2000, data = 0x3000, size = 0x100;

/// One build of a program: a page each of code, constants, and data with the relocations of it.
class Build {
public:
  Build() : code(size, '\x90'), constants(size, '\0'), pointers(size, '\0') {}

  /// lea ADDRESS(%rip), %rax
  void refer(uint64_t offset, uint64_t address) {
    code.replace(offset, 3, "\x48\x8d\x05");
    uint32_t distance = static_cast<uint32_t>(address - (text + offset + 7));
    support::endian::write32le(&code[offset + 3], distance);
  }
  void put(uint64_t address, StringRef bytes) {
    constants.replace(address - rodata, bytes.size(), bytes.str());
  }
  void point(uint64_t place, uint64_t address) {
    support::endian::write64le(&pointers[place - data], address);
    relocations +=
        formatv("      - {{Offset: {0}, Type: R_X86_64_RELATIVE, Addend: {1}}\n", place, address)
            .str();
  }

  const ELFObjectFileBase &link(StringRef symbols, bool isPacked = false) {
    std::string relocated =
        isPacked ? formatv("  - {{Name: .relr.dyn, Type: SHT_RELR, Flags: [SHF_ALLOC], Address: "
                           "0x4000, Entries: [{0}]}\n",
                           data)
                       .str()
                 : "  - Name: .rela.dyn\n    Type: SHT_RELA\n    Flags: [SHF_ALLOC]\n"
                   "    Address: 0x4000\n    Relocations:" +
                       (relocations.empty() ? " []\n" : "\n" + relocations);
    std::string description = R"(ProgramHeaders:
  - {Type: PT_LOAD, Flags: [PF_R, PF_X], VAddr: 0x1000, FirstSec: .text, LastSec: .text}
  - {Type: PT_LOAD, Flags: [PF_R], VAddr: 0x2000, FirstSec: .rodata, LastSec: .rodata}
  - {Type: PT_LOAD, Flags: [PF_R, PF_W], VAddr: 0x3000, FirstSec: .data, LastSec: .init_array}
Sections:
)";
    auto section = [&](StringRef name, StringRef flag, uint64_t address, StringRef contents) {
      description +=
          formatv("  - {{Name: {0}, Type: SHT_PROGBITS, Flags: [SHF_ALLOC{1}], Address: "
                  "{2}, AddressAlign: {3}, Content: \"{4}\"}\n",
                  name, flag, address, name == ".init_array" ? 8 : 0x1000, toHex(contents))
              .str();
    };
    section(".text", ", SHF_EXECINSTR", text, code);
    section(".rodata", "", rodata, constants);
    section(".data", ", SHF_WRITE", data, pointers);
    section(".init_array", ", SHF_WRITE", data + size, std::string(64, '\0'));
    bytes = x86File("ET_DYN", description + relocated + "Symbols:\n" + symbols);
    file = viewOf(bytes);
    return *file;
  }

private:
  std::string code, constants, pointers, relocations, bytes;
  std::unique_ptr<ELFObjectFileBase> file;
};

// One is elsewhere, so that what lies beside it need not be where it was.
constexpr StringLiteral recordedSymbols = R"(
  - {Name: moved, Type: STT_OBJECT, Section: .rodata, Value: 0x20f8, Size: 8, Binding: STB_GLOBAL}
)";
constexpr StringLiteral targetSymbols = R"(
  - {Name: moved, Type: STT_OBJECT, Section: .rodata, Value: 0x20f0, Size: 8, Binding: STB_GLOBAL}
)";
constexpr StringLiteral symbols = R"(
  - {Name: f, Type: STT_FUNC, Section: .text, Value: 0x1000, Size: 0x40, Binding: STB_GLOBAL}
  - {Name: table, Type: STT_OBJECT, Section: .data, Value: 0x3000, Size: 0x40, Binding: STB_GLOBAL}
  - {Name: end, Type: STT_OBJECT, Section: .data, Value: 0x3080, Size: 8, Binding: STB_GLOBAL}
)";

class References : public testing::Test {
protected:
  SymbolMap map() {
    auto created = SymbolMap::create(recorded.link((recordedSymbols + symbols).str()),
                                     target.link((targetSymbols + symbols).str(), isPacked));
    EXPECT_TRUE(bool(created)) << toString(created.takeError());
    created->learn({text});
    return std::move(*created);
  }
  Build recorded, target;
  bool isPacked = false;
};

TEST_F(References, OfTheSameInstructionAreToTheSame) {
  recorded.refer(0x10, rodata + 0x20);
  target.refer(0x10, rodata + 0x88);
  for (auto [build, address] : {std::pair(&recorded, rodata + 0x20), {&target, rodata + 0x88}})
    build->put(address, "a literal of twenty bytes");
  EXPECT_EQ(map().find(rodata + 0x20), rodata + 0x88);
  EXPECT_EQ(map().find(rodata + 0x30), rodata + 0x98); // further on in it
}

// Nobody else's code tells.
TEST_F(References, AreLearntFromWhatRan) {
  recorded.refer(0x50, rodata + 0x20);
  target.refer(0x50, rodata + 0x88);
  EXPECT_EQ(map().find(rodata + 0x20), std::nullopt);
}

TEST_F(References, AreLearntFromPointersOfDataWithOneName) {
  for (bool packs : {false, true}) {
    isPacked = packs;
    uint64_t place = packs ? data : data + 8;
    recorded = {}, target = {};
    recorded.point(place, rodata + 0x20);
    target.point(place, rodata + 0x88);
    EXPECT_EQ(map().find(rodata + 0x20), rodata + 0x88);
  }
}

// A trace tells 16 bytes, in which one string ends and the touched one begins.
TEST_F(References, ToAStringThatEndsBeforeGiveWayToTheNextOfTheGranule) {
  recorded.put(rodata + 0x20, StringRef("first one, which ends here\0second", 33));
  recorded.refer(0x10, rodata + 0x20);
  recorded.refer(0x18, rodata + 0x20 + 27);
  target.put(rodata + 0x80, StringRef("first one, which ends here\0", 27));
  target.put(rodata + 0xc0, "second");
  target.refer(0x10, rodata + 0x80);
  target.refer(0x18, rodata + 0xc0);
  EXPECT_EQ(map().find(rodata + 0x30), rodata + 0x90);
  target.put(rodata + 0x80, StringRef("first one\0 and others now", 25));
  EXPECT_EQ(map().find(rodata + 0x30), rodata + 0xc0);
}

TEST_F(References, AreNotNeededWhereALinkerKeepsTheOrder) {
  EXPECT_EQ(map().find(data + size + 8), data + size + 8);
}

// Both files are untrusted: whatever their bytes are, the search ends, and stays inside of them.
TEST_F(References, AreSoughtInDamagedFiles) {
  isPacked = true;
  recorded.point(data, rodata + 0x20);
  recorded.refer(0x10, rodata + 0x40);
  target.point(data + 8, rodata + 0x30);
  const ELFObjectFileBase &good = recorded.link((recordedSymbols + symbols).str());
  const ELFObjectFileBase &other = target.link((targetSymbols + symbols).str(), isPacked);
  forDamaged(other.getData().str(), [&](StringRef bytes) {
    auto damaged = ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, "damaged"));
    if (!damaged)
      return consumeError(damaged.takeError());
    const auto &file = cast<ELFObjectFileBase>(**damaged);
    for (auto [one, two] : {std::pair(&good, &file), {&file, &good}}) {
      auto map = SymbolMap::create(*one, *two);
      if (!map) {
        consumeError(map.takeError());
        continue;
      }
      map->learn({text, text + 0x10, 0, UINT64_MAX});
      for (uint64_t address : {text, rodata + 0x20, rodata + 0x50, UINT64_MAX})
        map->find(address);
    }
  });
}

TEST(ReferencePairs, AreWhatMostSay) {
  std::vector<AddressPair> pairs = {{8, 1}, {4, 3}, {4, 2}, {4, 3}, {9, 9}};
  sortAndVote(pairs);
  EXPECT_EQ(pairs, (std::vector<AddressPair>{{4, 3}, {8, 1}, {9, 9}}));
}

} // namespace
