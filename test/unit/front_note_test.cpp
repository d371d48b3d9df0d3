// The note of a front: the object that brings it into a link, and its ranges in the linked file.
#include "frontload_note.h"
#include "plan/front_note.h"
#include "yaml_object.h"
#include "llvm/Support/Endian.h"

using namespace frontload;
using namespace llvm;
using namespace llvm::object;

/// The contents of a section by its name, and its header's type, flags and alignment.
struct FoundSection {
  std::string contents;
  uint64_t type = 0, flags = 0, alignment = 0;
  bool operator==(const FoundSection &) const = default;
};

static FoundSection sectionOf(StringRef bytes, StringRef name) {
  auto file = viewOf(bytes);
  for (ELFSectionRef section : file->sections())
    if (cantFail(section.getName()) == name)
      return {cantFail(section.getContents()).str(), section.getType(), section.getFlags(),
              section.getAlignment().value()};
  return {};
}

static constexpr StringLiteral code =
    "  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Size: 16}\n";

namespace {
struct Kind {
  const char *elfClass, *data, *machine;
  endianness order;
};

class FrontNote : public testing::TestWithParam<Kind> {
protected:
  /// A file of this kind with `sections`.
  std::string elf(StringRef sections, StringRef type = "ET_REL") const {
    const Kind &k = GetParam();
    return toObject(("--- !ELF\nFileHeader: {Class: " + Twine(k.elfClass) + ", Data: " + k.data +
                     ", Type: " + type + ", Machine: " + k.machine + "}\nSections:\n" + sections)
                        .str());
  }
  /// A linked file with a blank note.
  std::string noted() const {
    std::string blank = sectionOf(makeNoteObject(elf(code)), FRONTLOAD_NOTE_SECTION).contents;
    return elf((code + "  - {Name: .note.frontload, Type: SHT_NOTE, Flags: [SHF_ALLOC], Content: " +
                toHex(blank) + "}\n")
                   .str(),
               "ET_DYN");
  }
  uint64_t number(StringRef bytes, size_t at, size_t size) const {
    return size == 4 ? support::endian::read32(bytes.data() + at, GetParam().order)
                     : support::endian::read64(bytes.data() + at, GetParam().order);
  }
};

// The object is of the kind of the one it is made after, and has a note as the format says.
TEST_P(FrontNote, IsInAnObjectOfTheSameKind) {
  std::string like = elf(code), made = makeNoteObject(like);
  EXPECT_EQ(made.substr(0, 16), like.substr(0, 16));
  auto file = viewOf(made), model = viewOf(like);
  EXPECT_EQ(file->getArch(), model->getArch());
  EXPECT_TRUE(file->isRelocatableObject());
  FoundSection note = sectionOf(made, FRONTLOAD_NOTE_SECTION);
  EXPECT_EQ(note.type, ELF::SHT_NOTE);
  EXPECT_EQ(note.flags, ELF::SHF_ALLOC);
  EXPECT_EQ(note.alignment, 4u);
  ASSERT_EQ(note.contents.size(), FRONTLOAD_NOTE_SIZE(FRONTLOAD_NOTE_FRONT_RANGES));
  EXPECT_EQ(number(note.contents, 0, 4), 10u);
  EXPECT_EQ(number(note.contents, 4, 4), 264u);
  EXPECT_EQ(number(note.contents, 8, 4), 1u);
  EXPECT_EQ(note.contents.substr(12, 12), StringRef("Frontload\0\0\0", 12));
  EXPECT_EQ(number(note.contents, 24, 4), 3u);
  EXPECT_EQ(note.contents.substr(28), std::string(260, '\0'));
}

// A linked file only has the features that all of its objects claim, so the note's claims what its
// model does.
TEST_P(FrontNote, ClaimsTheFeaturesOfItsModel) {
  std::string like =
      elf((code + "  - {Name: .note.gnu.property, Type: SHT_NOTE, Flags: [SHF_ALLOC],"
                  " AddressAlign: 8, Content: 01020304}\n"
                  "  - {Name: attributes, Type: 0x70000003, Content: 41}\n")
              .str());
  std::string made = makeNoteObject(like);
  for (const char *name : {".note.gnu.property", "attributes"})
    EXPECT_EQ(sectionOf(made, name), sectionOf(like, name)) << name;
  EXPECT_FALSE(sectionOf(like, ".note.gnu.property").contents.empty());
  EXPECT_EQ(sectionOf(makeNoteObject(elf(code)), ".note.gnu.property"), FoundSection{});
}

// Only the ranges change in the linked file, in the order in which they are given. There is room
// for as many as a note may have; filled in with fewer, it has no more.
TEST_P(FrontNote, IsFilledIn) {
  const std::string before = noted();
  const size_t at = before.find("Frontload") + 16, end = at + 4 + 256;
  std::string bytes = before;
  auto fill = [&](std::vector<FileRange> ranges) {
    EXPECT_TRUE(fillNote({bytes.data(), bytes.size()}, ranges));
    EXPECT_EQ(bytes.substr(0, at), before.substr(0, at));
    EXPECT_EQ(bytes.substr(end), before.substr(end));
    EXPECT_EQ(number(bytes, at, 4), ranges.size());
  };
  std::vector<FileRange> all;
  for (uint64_t i = 0; i < FRONTLOAD_NOTE_FRONT_RANGES; ++i)
    all.push_back({16 * i, 16 * i + 8});
  fill(all);
  EXPECT_EQ(number(bytes, at + 4 + 15 * 16, 8), 240u);
  fill({{0x123456789abcdef0, 0x123456789abcdef8}, {1, 2}});
  EXPECT_EQ(number(bytes, at + 4, 8), 0x123456789abcdef0u);
  EXPECT_EQ(number(bytes, at + 12, 8), 0x123456789abcdef8u);
  EXPECT_EQ(number(bytes, at + 20, 8), 1u);
  EXPECT_EQ(number(bytes, at + 28, 8), 2u);
  EXPECT_EQ(bytes.substr(at + 36, 224), std::string(224, '\0'));
}

// A file without the note, or with one of another size, stays as it is.
TEST_P(FrontNote, IsNotFilledInWhereThereIsNone) {
  for (const std::string &section :
       {std::string(code),
        "  - {Name: .note.frontload, Type: SHT_NOTE, Size: 48}\n" + code.str()}) {
    std::string before = elf(section, "ET_DYN"), bytes = before;
    EXPECT_FALSE(fillNote({bytes.data(), bytes.size()}, {{1, 2}}));
    EXPECT_EQ(bytes, before);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FrontNote,
    testing::Values(Kind{"ELFCLASS64", "ELFDATA2LSB", "EM_X86_64", endianness::little},
                    Kind{"ELFCLASS64", "ELFDATA2MSB", "EM_S390", endianness::big},
                    Kind{"ELFCLASS32", "ELFDATA2LSB", "EM_386", endianness::little},
                    Kind{"ELFCLASS32", "ELFDATA2MSB", "EM_PPC", endianness::big}),
    [](const auto &kind) { return std::string(kind.param.machine); });

// What is no ELF object has no note object.
TEST(FrontNoteObject, IsOnlyMadeAfterAnElfFile) {
  for (const char *bytes : {"", "\177ELF", "BC\xc0\xde no object of ELF"})
    EXPECT_EQ(makeNoteObject(bytes), "");
}
} // namespace
