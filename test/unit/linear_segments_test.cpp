// The segments of a linear file are completed, and those of others are left alone.
#include "plan/linear_segments.h"
#include "yaml_object.h"
#include "llvm/Object/ELFObjectFile.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;

/// A file of three pages: constants, then data that is larger in memory than in the file by
/// `zeros`, then more data; the last segment is at the address `last`.
static std::string file(StringRef zeros, StringRef last, StringRef flags = "PF_R, PF_W") {
  return toObject(
      ("--- !ELF\n"
       "FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_DYN, "
       "Machine: EM_X86_64}\n"
       "ProgramHeaders:\n"
       "  - {Type: PT_LOAD, Flags: [PF_R], VAddr: 0x1000, Align: 0x1000, "
       "FirstSec: .rodata, LastSec: .rodata}\n"
       "  - {Type: PT_LOAD, Flags: [PF_R, PF_W], VAddr: 0x2000, Align: 0x1000, "
       "FirstSec: .data, LastSec: .padding}\n"
       "  - {Type: PT_LOAD, Flags: [" +
       flags + "], VAddr: " + last +
       ", Align: 0x1000, FirstSec: .more, LastSec: .bss}\n"
       "Sections:\n"
       "  - {Name: .rodata, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x1000, "
       "Offset: 0x1000, Size: 0x800}\n"
       "  - {Name: .data, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], "
       "Address: 0x2000, Offset: 0x2000, Size: 0x10}\n"
       "  - {Name: .padding, Type: SHT_NOBITS, Flags: [SHF_ALLOC, SHF_WRITE], "
       "Address: 0x2010, Size: " +
       zeros +
       "}\n"
       "  - {Name: .more, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], "
       "Address: " +
       last +
       ", Offset: 0x3000, Size: 0x1000}\n"
       "  - {Name: .bss, Type: SHT_NOBITS, Flags: [SHF_ALLOC, SHF_WRITE], Size: 0x50}\n")
          .str());
}

struct Loaded {
  uint64_t offset, address, inFile, inMemory;
  bool operator==(const Loaded &) const = default;
};

static std::vector<Loaded> completed(std::string bytes) {
  completeSegments({bytes.data(), bytes.size()});
  std::vector<Loaded> result;
  auto elf = cantFail(object::ELFFile<object::ELF64LE>::create(bytes));
  for (const auto &header : cantFail(elf.program_headers()))
    if (header.p_type == ELF::PT_LOAD)
      result.push_back({header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz});
  return result;
}

// Each reaches up to the next, neighbours with the same rights are one, and the last keeps .bss.
TEST(LinearSegments, AreComplete) {
  std::vector<Loaded> found = completed(file("0xff0", "0x3000"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (Loaded{0x1000, 0x1000, 0x1000, 0x1000}));
  EXPECT_EQ(found[1].offset, 0x2000u);
  EXPECT_EQ(found[1].inFile, 0x2000u);
  EXPECT_GT(found[1].inMemory, found[1].inFile);
}

// What is in memory only becomes a section with contents.
TEST(LinearSegments, HaveContents) {
  std::string bytes = file("0xff0", "0x3000");
  completeSegments({bytes.data(), bytes.size()});
  auto elf = cantFail(object::ELFFile<object::ELF64LE>::create(bytes));
  unsigned withContents = 0;
  for (const auto &section : cantFail(elf.sections()))
    withContents += section.sh_type == ELF::SHT_PROGBITS;
  EXPECT_EQ(withContents, 4u);
}

// Others rights make another segment.
TEST(LinearSegments, WithOtherRightsStayApart) {
  EXPECT_EQ(completed(file("0xff0", "0x3000", "PF_R")).size(), 3u);
}

// Where memory is not as the file is, nothing changes: here a page lies between two segments.
TEST(LinearSegments, ThatAreNotLinearStay) {
  std::vector<Loaded> found = completed(file("0x20", "0x5000"));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].inFile, 0x10u);
  EXPECT_EQ(found[1].inMemory, 0x30u);
}

// What is no ELF file stays as it is.
TEST(LinearSegments, OfNoFileStay) {
  std::string text = "no ELF file";
  completeSegments({text.data(), text.size()});
  EXPECT_EQ(text, "no ELF file");
}
