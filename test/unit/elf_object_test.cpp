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
    profile.entries.push_back({.name = name, .file = ""});
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
  ASSERT_EQ(set.entryPlaces().size(), 1u);
  EXPECT_EQ(set.entryPlaces()[0].entry, 0u);
  EXPECT_EQ(set.entryPlaces()[0].sectionName, std::string(".text.f"));
  EXPECT_EQ(set.unmovableEntries(), (std::vector<bool>{false, true, false, false}));
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
