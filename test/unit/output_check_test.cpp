// The checks of a linked file see what they are there for.
#include "frontload_note.h"
#include "plan/output_check.h"
#include "yaml_object.h"
#include "llvm/ADT/STLExtras.h"

using namespace frontload;
using namespace llvm;

/// A file with a front; `hdr` is the content of .eh_frame_hdr, `first` the name of the section
/// that lies first, `codeSize` that of the front's code, if it is known.
static std::string image(StringRef hdr, StringRef first = ".rodata.front",
                         StringRef second = ".text", int secondSize = 16, StringRef codeSize = "") {
  return x86File(
      "ET_DYN",
      R"(Sections:
  - {Name: )" +
          first +
          R"(, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Address: 0x1000, Size: 16}
  - {Name: .data.front, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], Address: 0x2000, Size: 8}
  - {Name: )" +
          second +
          R"(, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_EXECINSTR], Address: 0x3000, Size: )" +
          std::to_string(secondSize) + R"(}
  - {Name: .eh_frame_hdr, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x4000, Content: ")" +
          hdr + R"("}
  - {Name: .data.padding, Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_WRITE], Address: 0x4800, Content: ")" +
          codeSize + R"("}
  - {Name: .bss, Type: SHT_NOBITS, Flags: [SHF_ALLOC, SHF_WRITE], Address: 0x5000, Size: 16}
)");
}

static HotStrings noStrings;

static std::string errorOf(StringRef bytes) {
  auto front = checkOutput(bytes, {}, noStrings);
  return front ? "" : toString(front.takeError());
}

// Version 1, encodings pcrel|sdata4, udata4, datarel|sdata4; frame pointer; count; (function, FDE).
static constexpr StringLiteral sorted = "011b033b000000000200000000c0ffff1000000000f0ffff20000000";
static constexpr StringLiteral unsorted =
    "011b033b000000000200000000f0ffff1000000000c0ffff20000000";
static constexpr StringLiteral straddling =
    "011b033b000000000200000000f0ffff100000000010000020000000";
static constexpr StringLiteral tooLong = "011b033b00000000ff00000000c0ffff1000000000f0ffff20000000";

// A good file passes, and its front ends with .data.front. If nothing is left for .text, it is
// empty, and in no segment: the end of the front is not there.
TEST(OutputCheck, AcceptsAGoodFile) {
  for (int sizeOfText : {16, 0}) {
    std::string bytes = image(sorted, ".rodata.front", ".text", sizeOfText);
    auto front = checkOutput(bytes, {}, noStrings);
    ASSERT_TRUE(bool(front)) << toString(front.takeError());
    EXPECT_GT(front->bytes, 0u);
    ASSERT_FALSE(front->ranges.empty());
    EXPECT_EQ(front->ranges.back().end, 0x2008u);
  }
}

// .text begins with the front's code.
TEST(OutputCheck, FindsTheEndOfTheCode) {
  for (auto [codeSize, end] :
       {std::pair("0000000000000000", 0x2008u), {"0800000000000000", 0x3008u}}) {
    auto front = checkOutput(image(sorted, ".rodata.front", ".text", 16, codeSize), {}, noStrings);
    ASSERT_TRUE(bool(front)) << toString(front.takeError());
    EXPECT_EQ(front->ranges.back().end, end);
  }
}

/// The ranges of a file with parts of .rodata, which is all zeros, to be read with the front.
static std::vector<FileRange> rangesBehind(std::vector<ExpectedPart> parts, int size = 16) {
  OutputFacts facts;
  facts.parts = parts;
  auto front = checkOutput(image(sorted, ".rodata.front", ".rodata", size), facts, noStrings);
  if (!front) {
    ADD_FAILURE() << toString(front.takeError());
    return {};
  }
  EXPECT_EQ(front->bytes, checkOutput(image(sorted), {}, noStrings)->bytes);
  return {llvm::find_if(front->ranges, [](FileRange range) { return range.begin >= 0x3000; }),
          front->ranges.end()};
}

// What is left out is read where it is expected, unless the file has something else there.
TEST(OutputCheck, FindsPartsBehindTheFront) {
  const std::string zeros(8, '\0');
  using Ranges = std::vector<FileRange>;
  EXPECT_EQ(rangesBehind({{{0, 0, {4, 6}, zeros}, 8}}), (Ranges{{0x300c, 0x300e}}));
  EXPECT_EQ(rangesBehind({{{0, 0, {4, 6}, "another\n"}, 8}}), Ranges{});
  EXPECT_EQ(rangesBehind({{{0, 0, {4, 6}, zeros}, 9}}), Ranges{});
  EXPECT_EQ(rangesBehind({{{0, 0, {4, 6}, zeros}, UINT64_MAX}}), Ranges{});
  // Two that overlap are one.
  EXPECT_EQ(rangesBehind({{{0, 0, {0, 6}, zeros}, 0}, {{0, 0, {4, 8}, zeros}, 0}}),
            (Ranges{{0x3000, 0x3008}}));
}

// The first parts are read; what finds no room in the note is not.
TEST(OutputCheck, FindsAsManyPartsAsTheNoteHasRoomFor) {
  const std::string zeros(8, '\0');
  constexpr uint64_t distance = 1 << 20;
  std::vector<ExpectedPart> parts;
  for (int i = 0; i < 20; ++i)
    parts.push_back({{0, 0, {0, 8}, zeros}, i * distance});
  std::vector<FileRange> found = rangesBehind(parts, 20 * distance);
  auto front = checkOutput(image(sorted), {}, noStrings);
  ASSERT_TRUE(bool(front)) << toString(front.takeError());
  ASSERT_EQ(found.size(), FRONTLOAD_NOTE_FRONT_RANGES - front->ranges.size());
  for (auto [i, range] : llvm::enumerate(found))
    EXPECT_EQ(range, (FileRange{0x3000 + i * distance, 0x3008 + i * distance}));
}

// Each of the known ways in which a front could break a program is refused.
TEST(OutputCheck, RefusesBrokenFiles) {
  for (auto [bytes, problem] :
       {std::pair(image(unsorted), "out of order"),
        {image(straddling), "out of order"},
        {image(tooLong), "longer than the section"},
        {image(sorted, ".text", ".rodata.front"), "lies after what"},
        {image(sorted, ".rodata.front", ".text", 16, "1100000000000000"), "does not end"},
        {"not an ELF file", "not an ELF file"}})
    EXPECT_NE(errorOf(bytes).find(problem), std::string::npos) << problem;
}
