// The view of input objects that planning uses.
#include "elf/elf_object.h"
#include "yaml_object.h"

using namespace frontload;
using namespace llvm;

// Only sections without a meaning of their own can be moved.
TEST(ElfObject, ClassifiesSections) {
  using namespace llvm::ELF;
  constexpr uint64_t code = SHF_ALLOC | SHF_EXECINSTR, data = SHF_ALLOC | SHF_WRITE;
  struct {
    StringRef name;
    uint64_t flags;
    std::optional<SectionClass> expected;
    uint32_t type = SHT_PROGBITS;
  } cases[] = {{".text", code, SectionClass::Text},
               {".text.f", code, SectionClass::Text},
               {".rodata.str1.1", SHF_ALLOC | SHF_MERGE | SHF_STRINGS, SectionClass::Rodata},
               {".data.rel.ro.x", data, SectionClass::Relro},
               {".data", data, SectionClass::Data},
               {".textual", code, std::nullopt},
               {".rodatabase", SHF_ALLOC, std::nullopt},
               {".init", code, std::nullopt},
               {".init_array", data, std::nullopt},
               {".text.f", SHF_EXECINSTR, std::nullopt},
               {".data.t", data | SHF_TLS, std::nullopt},
               {".rodata.x", SHF_ALLOC, std::nullopt, SHT_NOBITS},
               {".text.f", code | SHF_LINK_ORDER, std::nullopt}};
  for (const auto &c : cases)
    EXPECT_EQ(classifySection(c.name, c.type, c.flags), c.expected) << c.name.str();
}

// A group tells its signature and its sections. One that is no COMDAT group is kept with each
// object, and one without a symbol is damaged.
TEST(ElfObject, TellsGroups) {
  std::string object = x86File("ET_REL", R"(Sections:
  - {Name: .group, Type: SHT_GROUP, Link: .symtab, Info: f,
     Members: [{SectionOrType: GRP_COMDAT}, {SectionOrType: .text.f}, {SectionOrType: .rodata.f}]}
  - {Name: .group1, Type: SHT_GROUP, Link: .symtab, Info: f,
     Members: [{SectionOrType: 0}, {SectionOrType: .text.f}]}
  - {Name: .group2, Type: SHT_GROUP, Link: .symtab, Info: 99,
     Members: [{SectionOrType: GRP_COMDAT}, {SectionOrType: .text.f}]}
  - {Name: .text.f, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR, SHF_GROUP], Size: 16}
  - {Name: .rodata.f, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_GROUP], Size: 8}
Symbols:
  - {Name: f, Type: STT_FUNC, Section: .text.f, Binding: STB_WEAK}
)");
  std::vector<std::pair<std::string, std::vector<uint32_t>>> groups;
  auto elf = ElfObject<llvm::object::ELF64LE>::open(object);
  ASSERT_TRUE(elf);
  elf->forEachGroup([&](StringRef signature, const auto &members) {
    groups.push_back({signature.str(), {members.begin(), members.end()}});
  });
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].first, "f");
  EXPECT_EQ(groups[0].second, (std::vector<uint32_t>{4, 5}));
}

using Targets = std::vector<std::pair<std::string, int64_t>>;

/// What the relocations of the first section of an object refer to: names and addends.
template <class ELFT> static Targets targetsIn(StringRef bytes) {
  Targets result;
  auto elf = ElfObject<ELFT>::open(bytes);
  if (!elf)
    return result;
  elf->forEachRelocationsOf(std::make_pair(0u, 1u), [&](auto relocations, uint32_t) {
    elf->forEachTarget(relocations, [&](uint32_t index, int64_t addend) {
      result.push_back({elf->name(elf->symbols()[index]).str(), addend});
    });
  });
  return result;
}

static std::string objectWith(StringRef header, StringRef contents, StringRef relocations) {
  return toObject(("--- !ELF\nFileHeader: {Type: ET_REL, " + header +
                   "}\nSections:\n"
                   "  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Content: '" +
                   contents + "'}\n  - {Name: .relocations, Link: .symtab, Info: .text, " +
                   relocations + "}\nSymbols:\n  - {Name: f}\n  - {Name: g}\n")
                      .str());
}

// Addends that are not in the relocations are in what is relocated: as words, or spread over an
// instruction; and none where that ends too early.
TEST(ElfObject, ReadsAddendsWhereTheyAre) {
  std::string i386 =
      objectWith("Class: ELFCLASS32, Data: ELFDATA2LSB, Machine: EM_386", "fcffffff0201ff",
                 "Type: SHT_REL, Relocations: [{Offset: 0, Symbol: f, Type: R_386_32}, "
                 "{Offset: 5, Symbol: g, Type: R_386_32}, "
                 "{Offset: 99, Symbol: f, Type: R_386_32}]");
  EXPECT_EQ(targetsIn<object::ELF32LE>(i386), (Targets{{"f", -4}, {"g", 0}, {"f", 0}}));
  std::string arm =
      objectWith("Class: ELFCLASS32, Data: ELFDATA2MSB, Machine: EM_ARM",
                 "00000123" // .word
                 "e30a0bcd" // movw r0, #0xabcd
                 "f2407012" // movw r0, #0x712
                 "e30f0fff",
                 "Type: SHT_REL, Relocations: [{Offset: 0, Symbol: f, Type: R_ARM_ABS32}, "
                 "{Offset: 4, Symbol: f, Type: R_ARM_MOVW_ABS_NC}, "
                 "{Offset: 8, Symbol: g, Type: R_ARM_THM_MOVW_ABS_NC}, "
                 "{Offset: 12, Symbol: g, Type: R_ARM_CALL}]");
  EXPECT_EQ(targetsIn<object::ELF32BE>(arm),
            (Targets{{"f", 0x123}, {"f", int16_t(0xabcd)}, {"g", 0x712}, {"g", 0}}));
}

// MIPS of 64 bits and little endian has the symbol where others have the type.
TEST(ElfObject, ReadsSymbolsOfMips64) {
  for (StringRef order : {"ELFDATA2LSB", "ELFDATA2MSB"}) {
    std::string mips =
        objectWith(("Class: ELFCLASS64, Machine: EM_MIPS, Data: " + order).str(), "00",
                   "Type: SHT_RELA, Relocations: [{Offset: 0, Symbol: g, Type: "
                   "R_MIPS_64, Addend: 7}, {Offset: 8, Symbol: f, Type: R_MIPS_64}]");
    EXPECT_EQ(order == "ELFDATA2LSB" ? targetsIn<object::ELF64LE>(mips)
                                     : targetsIn<object::ELF64BE>(mips),
              (Targets{{"g", 7}, {"f", 0}}));
  }
}

// Tools that edit objects may give a section several tables, of several kinds, anywhere.
TEST(ElfObject, ReadsAllTablesOfASection) {
  auto table = [](StringRef name, StringRef of, StringRef type, StringRef symbol) {
    return ("  - {Name: " + name + ", Link: .symtab, Info: " + of + ", Type: " + type +
            ", Relocations: [{Offset: 0, Type: R_X86_64_64, Symbol: " + symbol + "}]}\n")
        .str();
  };
  std::string text = "  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Size: 8}\n",
              data = "  - {Name: .data, Type: SHT_PROGBITS, Flags: [SHF_ALLOC]}\n",
              ofData = table(".rela.data", ".data", "SHT_RELA", "h"),
              first = table(".rel.text", ".text", "SHT_REL", "f"),
              second = table(".rela.text", ".text", "SHT_RELA", "g");
  for (const std::string &sections :
       {text + first + second + data + ofData, text + first + data + ofData + second,
        text + data + ofData + first + second})
    EXPECT_EQ(targetsIn<object::ELF64LE>(
                  x86File("ET_REL", "Sections:\n" + sections +
                                        "Symbols:\n  - {Name: f}\n  - {Name: g}\n  - {Name: h}\n")),
              (Targets{{"f", 0}, {"g", 0}}));
}

// The header of compact relocations may lie about how many there are.
TEST(ElfObject, ReadsCompactRelocations) {
  constexpr StringLiteral header = "Class: ELFCLASS64, Data: ELFDATA2LSB, Machine: EM_X86_64";
  // Two: symbol 1 of type 1 with addend 5 at 0; symbol 2 with addend 3 at 8.
  EXPECT_EQ(targetsIn<object::ELF64LE>(
                objectWith(header, "00", "Type: SHT_CREL, Content: '140701010545017e'")),
            (Targets{{"f", 5}, {"g", 3}}));
  constexpr StringLiteral lie = "Type: SHT_CREL, Content: 'fcffffffffffffff7f07010105'";
  EXPECT_EQ(targetsIn<object::ELF64LE>(objectWith(header, "00", lie)), (Targets{{"f", 5}}));
}
