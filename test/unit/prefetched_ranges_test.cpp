// What a file asks for at its start is what its note says, and nothing if the note is wrong.
#include "cold_start/program_loading.h"
#include "frontload_note.h"
#include "yaml_object.h"
#include "llvm/ADT/StringExtras.h"

using namespace frontload;
using namespace llvm;

namespace {

using Ranges = std::vector<FileRange>;

/// The bytes of a note with these addresses, and room for as many as `room` in all.
std::string note(uint32_t version, uint32_t count, std::vector<uint64_t> addresses, size_t room) {
  std::string bytes;
  auto put = [&](const auto &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  };
  addresses.resize(room);
  put(uint32_t(10));
  put(uint32_t(8 + 8 * room));
  put(uint32_t(FRONTLOAD_NOTE_TYPE));
  bytes.append("Frontload\0\0\0", 12);
  put(version);
  put(count);
  for (uint64_t address : addresses)
    put(address);
  return bytes;
}

/// A file with this note, of two segments that are not equally far in memory from
/// where they are in the file: 0x1000 to 0x2fff at 0x10000, 0x3000 to 0x3fff at 0x13000, and three
/// pages on there another one.
std::string fileWith(const std::string &note) {
  return x86File("ET_DYN", R"(ProgramHeaders:
  - {Type: PT_NOTE, VAddr: 0x10000, Align: 4, FirstSec: .note.frontload, LastSec: .note.frontload}
  - {Type: PT_LOAD, VAddr: 0x10000, FirstSec: .note.frontload, LastSec: .a}
  - {Type: PT_LOAD, VAddr: 0x13000, FirstSec: .b, LastSec: .b}
  - {Type: PT_LOAD, VAddr: 0x17000, FirstSec: .c, LastSec: .c}
Sections:
  - {Name: .note.frontload, Type: SHT_NOTE, Flags: [SHF_ALLOC], Address: 0x10000, Offset: 0x1000,
     AddressAlign: 4, Content: )" +
                               toHex(note) + R"(}
  - {Name: .a, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x11000, Offset: 0x2000, Size: 4096}
  - {Name: .b, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x13000, Offset: 0x3000, Size: 4096}
  - {Name: .c, Type: SHT_PROGBITS, Flags: [SHF_ALLOC], Address: 0x17000, Offset: 0x7000, Size: 4096}
)");
}

AskedRanges askedBy(const std::string &note) {
  std::string bytes = fileWith(note);
  auto segments = readSegments(bytes);
  EXPECT_TRUE(bool(segments)) << toString(segments.takeError());
  return frontRanges({bytes, *segments});
}

/// Those of a note without a tail.
Ranges rangesOfNote(const std::string &note) {
  AskedRanges asked = askedBy(note);
  EXPECT_EQ(asked.tail, Ranges());
  return asked.front;
}

Ranges rangesOf(std::vector<uint64_t> addresses) {
  auto count = static_cast<uint32_t>(addresses.size() / 2);
  return rangesOfNote(note(3, count, std::move(addresses), 32));
}

// They come in the order of the note, and are one where no page lies between them, also in segments
// that are in memory as in the file.
TEST(PrefetchedRanges, AreThoseOfTheNote) {
  struct {
    std::vector<uint64_t> addresses;
    Ranges expected;
  } cases[] = {
      {{0x17800, 0x17900, 0x10010, 0x10020}, {{0x7800, 0x7900}, {0x1010, 0x1020}}},
      {{0x10010, 0x12000, 0x13000, 0x13010, 0x13020, 0x13030}, {{0x1010, 0x3030}}},
      {{0x10010, 0x10fff, 0x11fff, 0x12000}, {{0x1010, 0x3000}}},
      {{0x10010, 0x10fff, 0x13000, 0x13001}, {{0x1010, 0x1fff}, {0x3000, 0x3001}}},
      {{0x11000, 0x11001, 0x10010, 0x10020}, {{0x2000, 0x2001}, {0x1010, 0x1020}}},
      {{0x13800, 0x17800}, {{0x3800, 0x7800}}},
      {{0x17000, 0x17801, 0x17800, 0x17900}, {{0x7000, 0x7801}, {0x7800, 0x7900}}},
      {{0x11800, 0x13800}, {}},
  };
  for (const auto &c : cases)
    EXPECT_EQ(rangesOf(c.addresses), c.expected) << c.addresses[0];
}

// A range of the tail is never one with a range of the front.
TEST(PrefetchedRanges, EndWithTheTail) {
  std::vector<uint64_t> addresses = {0x10010, 0x12000, 0x13000, 0x13010, 0x13020, 0x13030};
  for (uint32_t tail : {1, 2, 3, 4}) {
    AskedRanges asked = askedBy(note(3, 3 | tail << 16, addresses, 32));
    Ranges front = tail == 1 ? Ranges{{0x1010, 0x3010}} : Ranges{{0x1010, 0x3000}};
    Ranges behind = tail == 1 ? Ranges{{0x3020, 0x3030}} : Ranges{{0x3000, 0x3030}};
    EXPECT_EQ(asked.front, tail < 3 ? front : Ranges()) << tail;
    EXPECT_EQ(asked.tail, tail < 3 ? behind : Ranges()) << tail;
  }
}

TEST(PrefetchedRanges, AreNoneIfOneIsWrong) {
  for (auto [begin, end] : {std::pair(0x10010u, 0x10010u),
                            {0x10020u, 0x10010u},
                            {0x12000u, 0x12010u},
                            {0x10000u, 0x12001u},
                            {0xffffu, 0x10001u}})
    EXPECT_EQ(rangesOf({0x17800, 0x17900, begin, end}), Ranges()) << begin << " to " << end;
}

TEST(PrefetchedRanges, AreNoneInANoteOfAnotherShape) {
  std::vector<uint64_t> one = {0x10000, 0x10010};
  for (size_t room : {2, 30, 32, 258})
    EXPECT_EQ(rangesOfNote(note(3, 1, one, room)), (Ranges{{0x1000, 0x1010}}));
  std::string blank = note(3, 0, {}, 6);
  EXPECT_EQ(rangesOfNote(blank + note(3, 1, one, 32)), (Ranges{{0x1000, 0x1010}}));
  for (const std::string &other : {note(4, 1, one, 32), note(3, 0, one, 32), note(3, 17, one, 32),
                                   note(3, 129, std::vector(258, one[0]), 258),
                                   note(3, 1, one, 32).substr(0, 280), note(2, 1, one, 32)})
    EXPECT_EQ(rangesOfNote(other), Ranges());
}

// A damaged table is not gone through without end: 2^32 symbols, which 32 bits count as none.
TEST(AProgramPrefetchesItself, IfItsSymbolsSayIt) {
  auto prefetches = [](const std::string &symbol, const std::string &ofSymtab = "") {
    return prefetchesItself(
        {x86File("ET_DYN", "Sections: [{Name: .symtab, Type: SHT_SYMTAB" + ofSymtab +
                               "}]\nSymbols: [{Name: " + symbol + "}]\n"),
         {}});
  };
  EXPECT_TRUE(prefetches("frontload_prefetch_own_front"));
  EXPECT_FALSE(prefetches("frontload_prefetch"));
  EXPECT_FALSE(prefetches("frontload_prefetch_own_front", ", ShSize: 0x1800000000"));
}

// A damaged file is no reason to crash, and no range is outside of it.
TEST(PrefetchedRanges, LieInDamagedFilesToo) {
  std::vector<uint64_t> addresses = {0x17800, 0x17900, 0x10010, 0x10020};
  forDamaged(fileWith(note(3, 2, addresses, 32)), [](StringRef bytes) {
    auto segments = readSegments(bytes);
    if (!segments)
      return consumeError(segments.takeError());
    const AskedRanges asked = frontRanges({bytes, *segments});
    for (FileRange range : llvm::concat<const FileRange>(asked.front, asked.tail)) {
      EXPECT_LT(range.begin, range.end);
      EXPECT_LE(range.end, bytes.size());
    }
  });
}

} // namespace
