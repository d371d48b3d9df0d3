// Marks in the names of sections, and which names may have one.
#include "elf/elf_object.h"
#include "other_lld/markable_names.h"
#include "plan/front_link.h"
#include "plan/section_marks.h"
#include "yaml_object.h"

using namespace llvm;
using namespace frontload;

static constexpr Pattern markedPatterns[] = {Pattern::Text,      Pattern::Rodata, Pattern::Relro,
                                             Pattern::Data,      Pattern::Bss,    Pattern::NextText,
                                             Pattern::NextRodata};

static std::string textOf(const Mark &mark) { return std::string(mark.begin(), mark.end()); }

// A linker sorts names by their bytes, and these are in the order that was planned.
TEST(SectionMarks, SortByTheirBytes) {
  for (Pattern pattern : markedPatterns) {
    std::string last;
    uint32_t order = 0;
    for (; auto mark = markFor(pattern, order); ++order) {
      std::string text = textOf(*mark);
      EXPECT_LT(last, text); // as of unsigned bytes
      EXPECT_EQ(text.find('\0'), std::string::npos);
      last = text;
    }
    EXPECT_GT(order, 40000u) << "too few for a large program";
  }
}

// What a linker writes gets the names back, and nothing else in it changes.
TEST(SectionMarks, GiveTheNameBack) {
  for (Pattern pattern : markedPatterns)
    for (uint32_t order : {0, 9, 254, 255, 16319, 16320, 40000}) {
      std::string text = "a~Bc ~" + textOf(*markFor(pattern, order)) + "t.f) ~A\xc3\xa4 ~";
      EXPECT_EQ(withoutMarks(text), "a~Bc ~" + markedStem(pattern).str() + "t.f) ~A\xc3\xa4 ~");
    }
  EXPECT_EQ(withoutMarks("~A\x80"), "~A\x80"); // cut off
}

static constexpr StringLiteral objectText = R"(Sections:
  - {Name: .text.hot, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 4}
  - {Name: .rela.text.hot, Type: SHT_RELA, Info: .text.hot, Link: .symtab}
  - {Name: .init.text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 4}
  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 4}
  - {Name: .rodata.named, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Size: 4}
  - {Name: .data.whole, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], Size: 4}
  - {Name: .rodata.cst4, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_MERGE], EntSize: 4, Size: 4}
Symbols:
  - {Name: hot, Section: .text.hot, Binding: STB_GLOBAL}
  - {Name: local, Section: .text.hot}
  - {Name: odata.named, Section: .rodata.named}
  - {Name: .data.whole, Section: .data.whole}
)";

/// What is found of each section's name.
static MarkableName look(StringRef bytes, StringRef name) {
  auto elf = ElfObject<object::ELF64LE>::open(bytes);
  for (const auto &section : elf->sections())
    if (elf->name(section) == name)
      return lookAtNames(bytes, elf->nameBegin(section).data())[0];
  ADD_FAILURE() << name.str();
  return {};
}

// yaml2obj has a table of names for sections and one for symbols; in both, what ends alike is one.
// By the names of symbols one sees afterwards what a link has taken.
TEST(MarkableNames, ShareNoBytesWithOtherSections) {
  std::string bytes = x86File("ET_REL", objectText);
  EXPECT_TRUE(look(bytes, ".text.hot").isMarkable) << "only its relocations have its name";
  EXPECT_FALSE(look(bytes, ".text").isMarkable) << ".init.text ends in it";
  EXPECT_TRUE(look(bytes, ".data.whole").isMarkable);
  EXPECT_EQ(look(bytes, ".text.hot").symbol, "hot");
  EXPECT_EQ(look(bytes, ".init.text").symbol, "");
  EXPECT_TRUE(look(bytes, ".rodata.cst4").isMerged);
  EXPECT_FALSE(look(bytes, ".text.hot").isMerged);
}

// clang has one table for both.
TEST(MarkableNames, ShareNoBytesWithSymbols) {
  std::string bytes = toObject(("--- !ELF\nFileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, "
                                "Type: ET_REL, Machine: EM_X86_64, SectionHeaderStringTable: "
                                ".strtab}\n" +
                                objectText)
                                   .str());
  EXPECT_TRUE(look(bytes, ".text.hot").isMarkable) << "`hot` begins behind the mark";
  EXPECT_FALSE(look(bytes, ".rodata.named").isMarkable) << "a symbol begins within the mark";
  EXPECT_FALSE(look(bytes, ".data.whole").isMarkable) << "a symbol has that name";
}

// Whatever is in an object, looking at it reads nothing outside of it.
TEST(MarkableNames, SurviveDamage) {
  forDamaged(x86File("ET_REL", objectText), [](StringRef bytes) {
    auto elf = ElfObject<object::ELF64LE>::open(bytes);
    if (!elf)
      return;
    std::vector<const char *> names;
    for (const auto &section : elf->sections())
      if (!elf->nameBegin(section).empty())
        names.push_back(elf->nameBegin(section).data());
    lookAtNames(bytes, names);
  });
}
