// The segments of a linear file are completed, and those of others are left alone.
#include "plan/linear_segments.h"
#include "yaml_object.h"
#include "llvm/ADT/STLExtras.h"

using namespace frontload;
using namespace llvm;

/// A file of three pages: constants, then data that is larger in memory than in the file by
/// `zeros`, then more data; the last segment is at the address `last`.
static std::string file(StringRef zeros, StringRef last, StringRef flags = "PF_R, PF_W") {
  return x86File("ET_DYN",
                 R"(ProgramHeaders:
  - {Type: PT_LOAD, Flags: [PF_R], VAddr: 0x1000, Align: 0x1000, FirstSec: .rodata,
     LastSec: .rodata}
  - {Type: PT_LOAD, Flags: [PF_R, PF_W], VAddr: 0x2000, Align: 0x1000, FirstSec: .data,
     LastSec: .padding}
  - {Type: PT_LOAD, Align: 0x1000, FirstSec: .more, LastSec: .bss, Flags: [)" +
                     flags + "], VAddr: " + last + R"(}
Sections:
  - {Name: .rodata, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x1000, Offset: 0x1000,
     Size: 0x800}
  - {Name: .data, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], Address: 0x2000,
     Offset: 0x2000, Size: 0x10}
  - {Name: .padding, Type: SHT_NOBITS, Flags: [SHF_ALLOC, SHF_WRITE], Address: 0x2010, Size: )" +
                     zeros + R"(}
  - {Name: .more, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], Offset: 0x3000,
     Size: 0x1000, Address: )" +
                     last + R"(}
  - {Name: .bss, Type: SHT_NOBITS, Flags: [SHF_ALLOC, SHF_WRITE], Size: 0x50}
)");
}

struct Loaded {
  uint64_t offset, address, inFile, inMemory;
  bool operator==(const Loaded &) const = default;
};

static std::vector<Loaded> completed(std::string &bytes) {
  completeSegments({bytes.data(), bytes.size()});
  std::vector<Loaded> result;
  auto elf = cantFail(object::ELFFile<object::ELF64LE>::create(bytes));
  for (const auto &header : cantFail(elf.program_headers()))
    if (header.p_type == ELF::PT_LOAD)
      result.push_back({header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz});
  return result;
}

// Each reaches up to the next, neighbours with the same rights are one, and the last keeps .bss.
// What is in memory only becomes a section with contents.
TEST(LinearSegments, AreComplete) {
  std::string bytes = file("0xff0", "0x3000");
  std::vector<Loaded> found = completed(bytes);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (Loaded{0x1000, 0x1000, 0x1000, 0x1000}));
  EXPECT_EQ(found[1].offset, 0x2000u);
  EXPECT_EQ(found[1].inFile, 0x2000u);
  EXPECT_GT(found[1].inMemory, found[1].inFile);
  EXPECT_EQ(llvm::count_if(viewOf(bytes)->sections(),
                           [](object::ELFSectionRef section) {
                             return section.getType() == ELF::SHT_PROGBITS;
                           }),
            4);
}

// Other rights make another segment; what is no ELF file stays as it is.
TEST(LinearSegments, WithOtherRightsStayApart) {
  std::string bytes = file("0xff0", "0x3000", "PF_R"), text = "no ELF file";
  EXPECT_EQ(completed(bytes).size(), 3u);
  completeSegments({text.data(), text.size()});
  EXPECT_EQ(text, "no ELF file");
}

// Where memory is not as the file is, nothing changes: here a page lies between two segments.
TEST(LinearSegments, ThatAreNotLinearStay) {
  std::string bytes = file("0x20", "0x5000");
  std::vector<Loaded> found = completed(bytes);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].inFile, 0x10u);
  EXPECT_EQ(found[1].inMemory, 0x30u);
}
