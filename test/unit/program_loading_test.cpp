// The tables of a linked file tell what is touched before the program runs.
#include "cold_start/program_loading.h"
#include "cold_start/start_model.h"
#include "yaml_object.h"
#include "llvm/ADT/StringExtras.h"

using namespace frontload;
using namespace llvm;

namespace {

constexpr uint64_t page = 4096;
/// One that reads single pages, so that each tells a touch.
constexpr DeviceProfile device = {"test", 0, 1, "", 1, 0, 0, page, page};

/// 128 pages: tables at 0x20000, the dynamic section at 0x40000, data at 0x60000.
std::string image(StringRef dynamic, StringRef secondLoad = "VAddr: 0x40000, Offset: 0x40000",
                  StringRef moreHeaders = "") {
  return x86File("ET_DYN", R"(ProgramHeaders:
  - {Type: PT_LOAD, Flags: [PF_R], VAddr: 0, Offset: 0, FileSize: 0x40000, MemSize: 0x40000}
  - {Type: PT_LOAD, Flags: [PF_R, PF_W], FileSize: 0x40000, MemSize: 0x40000, )" +
                               secondLoad + R"(}
  - {Type: PT_DYNAMIC, VAddr: 0x40000, FirstSec: .dynamic, LastSec: .dynamic}
)" + moreHeaders + R"(
Sections:
  - {Name: .relr.dyn, Type: SHT_RELR, Address: 0x20000, Offset: 0x20000, Entries: [0x65c00, 1, 1, 5]}
  - Name: .rela.dyn
    Type: SHT_RELA
    Address: 0x28000
    Offset: 0x28000
    Relocations: [{Offset: 0x6a000, Symbol: 2, Type: R_X86_64_64}, {Offset: 0x6c000, Type: R_X86_64_RELATIVE}]
  - Name: .gnu.hash
    Type: SHT_PROGBITS
    Address: 0x35ff0
    Offset: 0x35ff0
    Content: "01000000010000000100000000000000ffffffffffffffff00000000"
  - {Name: .dynamic, Type: SHT_DYNAMIC, Address: 0x40000, Offset: 0x40000, Entries: [)" +
                               dynamic + R"(, {Tag: DT_NULL, Value: 0}]}
  - {Name: .data, Type: SHT_PROGBITS, Address: 0x60000, Offset: 0x60000, Size: 0x20000}
)");
}

/// The pages that are in memory after the loader has touched what it does, or what is wrong.
std::string touchedPages(StringRef bytes, bool onlyBeforeRelocation = false,
                         const DeviceProfile &on = device) {
  auto segments = readSegments(bytes);
  if (!segments)
    return toString(segments.takeError());
  StartModel model(on, bytes.size(), *segments);
  std::string text;
  auto note = [&] {
    text.clear();
    for (uint64_t i = 0; i < 128; ++i)
      if (model.isCached(i))
        text += (text.empty() ? "" : " ") + utohexstr(i, /*LowerCase=*/true);
  };
  if (Error e = loadProgram(bytes, *segments,
                            {[&](uint64_t address) { model.read(address); },
                             [&](uint64_t address) { model.write(address); }, note}))
    return toString(std::move(e));
  if (!onlyBeforeRelocation)
    note();
  return text;
}

constexpr StringLiteral packed =
    "{Tag: DT_RELR, Value: 0x20000}, {Tag: DT_RELRSZ, Value: 32}, {Tag: DT_RELRENT, Value: 8}";

// An address, and bitmaps of 63 words each behind it: the third one's second word is in the next
// page.
TEST(ElfStart, WritesWhatPackedRelocationsSay) {
  EXPECT_EQ(touchedPages(image(packed)), "20 40 65 66");
}

// Relocations by symbol look it up: its entry, its version, its name.
TEST(ElfStart, WritesWhatOtherRelocationsSayAndReadsTheirSymbols) {
  EXPECT_EQ(
      touchedPages(image("{Tag: DT_RELA, Value: 0x28000}, {Tag: DT_RELASZ, Value: 48}, "
                         "{Tag: DT_SYMTAB, Value: 0x30000}, {Tag: DT_VERSYM, Value: 0x32000}, "
                         "{Tag: DT_STRTAB, Value: 0x34000}")),
      "28 30 32 34 40 6a 6c");
}

// That is where a prefetch by a needed library would come.
TEST(ElfStart, ReadsTheDynamicSectionBeforeItRelocates) {
  EXPECT_EQ(touchedPages(image((packed + ", {Tag: DT_NEEDED, Value: 0x2000}, "
                                         "{Tag: DT_STRTAB, Value: 0x34000}")
                                   .str()),
                         true),
            "36 40");
}

// Libraries behind the prefetch library are relocated before it, and look up what the program
// exports.
TEST(ElfStart, LooksUpASymbolBeforeAPrefetchThatIsNotTheLastLibrary) {
  auto before = [](StringRef needed, char exported, StringRef other = "libz3.so.4") {
    std::string bytes = image(("{Tag: DT_SYMTAB, Value: 0x30000}, {Tag: DT_STRTAB, Value: 0x34000},"
                               "{Tag: DT_GNU_HASH, Value: 0x35ff0}, " +
                               needed)
                                  .str());
    StringRef name = "libfrontload-prefetch.so.1";
    bytes.replace(0x34001, name.size(), name);
    bytes.replace(0x34040, other.size(), other);
    bytes[0x36008] = exported; // the only bucket
    return touchedPages(bytes, true);
  };
  constexpr StringLiteral first = "{Tag: DT_NEEDED, Value: 1}, {Tag: DT_NEEDED, Value: 64}",
                          last = "{Tag: DT_NEEDED, Value: 64}, {Tag: DT_NEEDED, Value: 1}";
  EXPECT_EQ(before(first, 2), "30 34 35 40");
  EXPECT_EQ(before(first, 0), "34 35 40");
  EXPECT_EQ(before(last, 2), "34 35 40");
  EXPECT_EQ(before(first, 2, "libstdc++.so.6"), "34 35 40");
}

// Which of two touches is the first decides what is read around both.
TEST(ElfStart, ReadsTheHashTableBeforeTheNamesOfLibraries) {
  constexpr DeviceProfile reading = {"test", 0, 1, "", 1, 0, 8 * page, page, page};
  EXPECT_EQ(touchedPages(image("{Tag: DT_NEEDED, Value: 0x4000}, {Tag: DT_STRTAB, Value: 0x30000},"
                               "{Tag: DT_GNU_HASH, Value: 0x31000}"),
                         true, reading),
            "2d 2e 2f 30 31 32 33 34 3c 3d 3e 3f 40 41 42 43");
}

// Where functions are bound when they are called, the loader leaves a word in the table of them.
TEST(ElfStart, WritesToTheTableOfFunctionsIfTheyAreBoundLazily) {
  constexpr StringLiteral functions = "{Tag: DT_PLTGOT, Value: 0x70000}, {Tag: DT_JMPREL, Value: "
                                      "0x28000}, {Tag: DT_PLTRELSZ, Value: 0}";
  EXPECT_EQ(touchedPages(image(functions)), "40 70");
  EXPECT_EQ(touchedPages(image(functions), true), "40");
  for (StringRef now : {", {Tag: DT_FLAGS, Value: 8}", ", {Tag: DT_FLAGS_1, Value: 1}",
                        ", {Tag: DT_BIND_NOW, Value: 0}"})
    EXPECT_EQ(touchedPages(image((functions + now).str())), "40");
}

TEST(ElfStart, KnowsWhatTheProgramMayWrite) {
  for (auto [moreHeaders, written] :
       {std::pair("", 0x40000u),
        {"  - {Type: PT_GNU_RELRO, VAddr: 0x40000, Offset: 0x40000, FileSize: 0x20000, "
         "MemSize: 0x20000}",
         0x60000u}}) {
    auto segments =
        cantFail(readSegments(image(packed, "VAddr: 0x40000, Offset: 0x40000", moreHeaders)));
    ASSERT_EQ(segments.size(), 2u);
    EXPECT_EQ(segments[0].written, UINT64_MAX);
    EXPECT_EQ(segments[1].written, written);
  }
}

TEST(ElfStart, RefusesWhatCannotBe) {
  const std::string outside = "a table of the dynamic section is not in the file";
  EXPECT_EQ(
      touchedPages(image("{Tag: DT_RELR, Value: 0x7f000}, {Tag: DT_RELRSZ, Value: 0x100000}")),
      outside);
  EXPECT_EQ(touchedPages(image("{Tag: DT_RELR, Value: 0x900000}, {Tag: DT_RELRSZ, Value: 8}")),
            outside);
  for (auto [secondLoad, problem] :
       {std::pair("VAddr: 0x3f000, Offset: 0x3f000", "its segments overlap, or do not ascend"),
        {"VAddr: 0x41800, Offset: 0x40000",
         "a segment's address does not fit its place in the file"},
        {"VAddr: 0x50000, Offset: 0x50000000", "a segment lies outside the file"}})
    EXPECT_EQ(touchedPages(image(packed, secondLoad)), problem);
  EXPECT_EQ(touchedPages("not a program"), "not an ELF file");
}

// A file is untrusted: whatever its bytes are, the walk ends, and stays inside of it.
TEST(ElfStart, SurvivesDamagedFiles) {
  // Where headers and tables are; the rest are zeros.
  const std::pair<size_t, size_t> places[] = {{0, 256}, {0x20000, 16}, {0x40000, 80}};
  forDamaged(image(packed), [](StringRef bytes) { touchedPages(bytes); }, places, /*times=*/1000);
}

} // namespace
