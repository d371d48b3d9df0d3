// The view of input objects that planning uses.
#include "elf/elf_object.h"
#include "startup_set/startup_set.h"
#include "yaml_object.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;

static constexpr StringLiteral twoFunctions = R"(
--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64}
Sections:
  - {Name: .text.f, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 16}
  - {Name: .text.g, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 32}
  - {Name: .rodata.f, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Size: 8}
  - {Name: .init, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 4}
  - Name: .rela.text.f
    Type: SHT_RELA
    Link: .symtab
    Info: .text.f
    Relocations:
      - {Offset: 1, Symbol: .rodata.f, Type: R_X86_64_PC32}
      - {Offset: 5, Symbol: outside, Type: R_X86_64_PC32}
Symbols:
  - {Name: .rodata.f, Type: STT_SECTION, Section: .rodata.f}
  - {Name: f, Type: STT_FUNC, Section: .text.f, Binding: STB_GLOBAL}
  - {Name: g, Type: STT_FUNC, Section: .text.g, Binding: STB_GLOBAL}
  - {Name: early, Type: STT_FUNC, Section: .init, Binding: STB_GLOBAL}
  - {Name: outside, Binding: STB_GLOBAL}
)";

static StartupProfile profileOf(std::initializer_list<const char *> names) {
  StartupProfile profile;
  for (const char *name : names)
    profile.entries.emplace_back().name = name;
  return profile;
}

// Only sections without a meaning of their own can be moved.
TEST(ElfObject, ClassifiesSections) {
  using namespace llvm::ELF;
  auto classify = [](StringRef name, uint64_t flags, uint32_t type = SHT_PROGBITS) {
    return classifySection(name, type, flags);
  };
  EXPECT_EQ(classify(".text", SHF_ALLOC | SHF_EXECINSTR), SectionClass::Text);
  EXPECT_EQ(classify(".text.f", SHF_ALLOC | SHF_EXECINSTR), SectionClass::Text);
  EXPECT_EQ(classify(".rodata.str1.1", SHF_ALLOC | SHF_MERGE | SHF_STRINGS), SectionClass::Rodata);
  EXPECT_EQ(classify(".data.rel.ro.x", SHF_ALLOC | SHF_WRITE), SectionClass::Relro);
  EXPECT_EQ(classify(".data", SHF_ALLOC | SHF_WRITE), SectionClass::Data);
  EXPECT_EQ(classify(".textual", SHF_ALLOC | SHF_EXECINSTR), std::nullopt);
  EXPECT_EQ(classify(".rodatabase", SHF_ALLOC), std::nullopt);
  EXPECT_EQ(classify(".init", SHF_ALLOC | SHF_EXECINSTR), std::nullopt);
  EXPECT_EQ(classify(".init_array", SHF_ALLOC | SHF_WRITE), std::nullopt);
  EXPECT_EQ(classify(".text.f", SHF_EXECINSTR), std::nullopt);
  EXPECT_EQ(classify(".data.t", SHF_ALLOC | SHF_WRITE | SHF_TLS), std::nullopt);
  EXPECT_EQ(classify(".rodata.x", SHF_ALLOC, SHT_NOBITS), std::nullopt);
  EXPECT_EQ(classify(".text.f", SHF_ALLOC | SHF_EXECINSTR | SHF_LINK_ORDER), std::nullopt);
}

// A group tells its signature and its sections. One that is no COMDAT group is kept with each
// object, and one without a symbol is damaged.
TEST(ElfObject, TellsGroups) {
  std::string object = toObject(R"(
--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64}
Sections:
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

// Named sections and those they refer to are found, each once; what cannot be moved is known.
TEST(StartupSet, FindsNamedAndReferredSections) {
  std::string bytes = toObject(twoFunctions);
  StartupProfile profile = profileOf({"f", "early", "outside", "nowhere"});
  StartupSet set(profile, /*gathersStrings=*/true);
  auto result = set.find(InputObject{MemoryBufferRef(bytes, "o"), ""});
  ASSERT_EQ(result.size(), 1u);
  std::map<std::string, bool> found;
  for (const StartupSection &section : result[0])
    EXPECT_TRUE(found.emplace(section.name, section.named).second);
  EXPECT_EQ(found, (std::map<std::string, bool>{{".text.f", true}, {".rodata.f", false}}));
  ASSERT_EQ(set.entryPlaces().movable.size(), 1u);
  EXPECT_EQ(set.entryPlaces().movable[0].entry, 0u);
  EXPECT_EQ(set.entryPlaces().movable[0].sectionName, std::string(".text.f"));
  EXPECT_EQ(set.entryPlaces().isKept, (std::vector<bool>{false, true, false, false}));
}

// An object is untrusted: whatever its bytes are, reading it ends, and stays inside of it.
TEST(StartupSet, SurvivesDamagedObjects) {
  std::string good = toObject(twoFunctions);
  StartupProfile profile = profileOf({"f", "g"});
  forDamaged(good, [&](StringRef bytes) {
    StartupSet set(profile, /*gathersStrings=*/true);
    set.find(InputObject{MemoryBufferRef(bytes, "o"), ""});
  });
}

/// What the relocations of the first section of an object refer to: names and addends.
template <class ELFT>
static std::vector<std::pair<std::string, int64_t>> targetsIn(StringRef bytes) {
  std::vector<std::pair<std::string, int64_t>> result;
  auto elf = ElfObject<ELFT>::open(bytes);
  if (!elf)
    return result;
  elf->forEachRelocationsOf(std::make_pair(0u, 1u), [&](const auto &relocations, uint32_t) {
    elf->forEachTarget(relocations, [&](uint32_t index, int64_t addend) {
      result.push_back({elf->name(elf->symbols()[index]).str(), addend});
    });
  });
  return result;
}
using Targets = std::vector<std::pair<std::string, int64_t>>;

static std::string objectWith(StringRef header, StringRef contents, StringRef relocations) {
  return toObject(("--- !ELF\nFileHeader: {Type: ET_REL, " + header +
                   "}\nSections:\n"
                   "  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Content: '" +
                   contents + "'}\n  - {Name: .relocations, Link: .symtab, Info: .text, " +
                   relocations + "}\nSymbols:\n  - {Name: f}\n  - {Name: g}\n")
                      .str());
}

// Addends that are not in the relocations are in what is relocated: as bytes, halfwords, words, or
// spread over an instruction; and none where that ends too early.
TEST(ElfObject, ReadsAddendsWhereTheyAre) {
  std::string i386 =
      objectWith("Class: ELFCLASS32, Data: ELFDATA2LSB, Machine: EM_386", "fcffffff0201ff",
                 "Type: SHT_REL, Relocations: [{Offset: 0, Symbol: f, Type: R_386_32}, "
                 "{Offset: 4, Symbol: g, Type: R_386_16}, "
                 "{Offset: 6, Symbol: g, Type: R_386_8}, "
                 "{Offset: 5, Symbol: g, Type: R_386_32}, "
                 "{Offset: 99, Symbol: f, Type: R_386_32}]");
  EXPECT_EQ(targetsIn<object::ELF32LE>(i386),
            (Targets{{"f", -4}, {"g", 0x102}, {"g", -1}, {"g", 0}, {"f", 0}}));
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

// Compact relocations have addends or not; and their header may lie about how many there are.
TEST(ElfObject, ReadsCompactRelocations) {
  constexpr StringLiteral header = "Class: ELFCLASS64, Data: ELFDATA2LSB, Machine: EM_X86_64";
  // Two: symbol 1 of type 1 with addend 5 at 0; symbol 2 with addend 3 at 8.
  EXPECT_EQ(targetsIn<object::ELF64LE>(
                objectWith(header, "00", "Type: SHT_CREL, Content: '140701010545017e'")),
            (Targets{{"f", 5}, {"g", 3}}));
  // One without: its addend is in the section.
  EXPECT_EQ(targetsIn<object::ELF64LE>(
                objectWith(header, "2a00000000000000", "Type: SHT_CREL, Content: '08030101'")),
            (Targets{{"f", 42}}));
  constexpr StringLiteral lie = "Type: SHT_CREL, Content: 'fcffffffffffffff7f07010105'";
  EXPECT_EQ(targetsIn<object::ELF64LE>(objectWith(header, "00", lie)), (Targets{{"f", 5}}));
}
