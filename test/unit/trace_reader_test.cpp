// The reader of traces takes what the format allows, and nothing else.
#include "frontload_trace.h"
#include "predict/trace_reader.h"
#include "llvm/Support/Endian.h"
#include <gtest/gtest.h>

using namespace frontload;
using namespace llvm;

namespace {

/// A trace in the making, in one byte order or the other.
class TraceBytes {
public:
  explicit TraceBytes(endianness byteOrder = endianness::little) : order(byteOrder) {
    bytes.assign(FRONTLOAD_TRACE_HEADER_SIZE, '\0');
    bytes.replace(0, 8, FRONTLOAD_TRACE_MAGIC, 8);
    bytes[8] = order == endianness::little ? FRONTLOAD_LITTLE_ENDIAN : FRONTLOAD_BIG_ENDIAN;
    put<uint16_t>(12, FRONTLOAD_TRACE_MAJOR);
    put<uint32_t>(16, FRONTLOAD_TRACE_HEADER_SIZE);
    put<uint32_t>(20, FRONTLOAD_TRACE_SLOT_SIZE);
  }

  TraceBytes &slot(uint64_t word, uint32_t module) {
    size_t at = bytes.size();
    bytes.resize(at + FRONTLOAD_TRACE_SLOT_SIZE);
    put(at, word);
    put(at + 8, module);
    put<uint64_t>(32, (bytes.size() - FRONTLOAD_TRACE_HEADER_SIZE) / FRONTLOAD_TRACE_SLOT_SIZE);
    return *this;
  }
  TraceBytes &event(uint64_t address, uint32_t module = 1, uint64_t kind = FRONTLOAD_FUNCTION) {
    return slot(kind << 56 | address, module);
  }
  /// A module whose path has at most 16 bytes.
  TraceBytes &module(StringRef path, uint32_t number = 1, uint64_t slots = 2) {
    slot(uint64_t(FRONTLOAD_MODULE) << 56 | 1ULL << 48 | slots << 16 | path.size(), number);
    slot(0, 0);
    bytes.replace(bytes.size() - FRONTLOAD_TRACE_SLOT_SIZE, path.size(), path.str());
    return *this;
  }
  template <class T> TraceBytes &put(size_t offset, T value) {
    support::endian::write<T>(bytes.data() + offset, value, order);
    return *this;
  }

  std::string bytes;

private:
  endianness order;
};

Expected<std::vector<uint64_t>> readApp(StringRef bytes) {
  return readTrace("t", bytes, [](StringRef path, StringRef) { return path == "/app"; });
}

std::string problemOf(StringRef bytes) {
  auto touched = readApp(bytes);
  return touched ? "" : toString(touched.takeError());
}

std::vector<uint64_t> touchesOf(StringRef bytes) {
  auto touched = readApp(bytes);
  if (touched)
    return *touched;
  ADD_FAILURE() << toString(touched.takeError());
  return {};
}

TraceBytes good() { return TraceBytes().module("/app").event(0x10).event(0x20); }

// Every kind of touch counts; empty slots and kinds of later versions are stepped over.
TEST(TraceFile, GivesTheTouchesInOrder) {
  TraceBytes trace = good();
  trace.event(0x5, 1, FRONTLOAD_DATA).event(0x7, 1, FRONTLOAD_CODE).slot(0, 0).event(1, 1, 0x7f);
  EXPECT_EQ(touchesOf(trace.bytes), (std::vector<uint64_t>{0x10, 0x20, 0x5, 0x7}));
  EXPECT_EQ(touchesOf(TraceBytes(endianness::big).module("/app").event(0x1234).bytes),
            std::vector<uint64_t>{0x1234});
}

// A module's record may come after its events.
TEST(TraceFile, TakesOnlyTheModulesAskedFor) {
  TraceBytes trace;
  trace.event(1, 1).event(2, 2).event(3, 9).module("/lib", 1).module("/app", 2);
  EXPECT_EQ(touchesOf(trace.bytes), std::vector<uint64_t>{2});
  EXPECT_EQ(problemOf(TraceBytes().module("/other").event(1).bytes),
            "t: none of its modules is the program");
}

TEST(TraceFile, RefusesOtherFiles) {
  EXPECT_EQ(problemOf(""), "t: offset 0: not a trace: wrong magic");
  EXPECT_EQ(problemOf(std::string(200, 'x')), "t: offset 0: not a trace: wrong magic");
  EXPECT_EQ(problemOf(good().put<uint8_t>(8, 3).bytes),
            "t: offset 8: byte order 3 is neither 1 (little) nor 2 (big)");
  EXPECT_EQ(problemOf(good().put<uint16_t>(12, 2).bytes), "t: offset 12: trace format 2 is not 1");
  EXPECT_EQ(problemOf(good().put<uint32_t>(16, 1 << 30).bytes),
            "t: offset 16: a header of 1073741824 bytes");
  EXPECT_EQ(problemOf(good().put<uint32_t>(20, 0).bytes), "t: offset 20: slot size 0 is not 16");
}

TEST(TraceFile, RefusesBadModules) {
  EXPECT_EQ(problemOf(good().module("/app").bytes), "t: offset 192: module 1 is recorded twice");
  EXPECT_EQ(problemOf(good().module("/app", 2, 3).bytes),
            "t: offset 192: a module record of 3 slots for a build-id of 0 bytes and a path of 4");
  TraceBytes runsOut = good();
  runsOut.slot(uint64_t(FRONTLOAD_MODULE) << 56 | 1ULL << 48 | 2 << 16 | 4, 2);
  EXPECT_EQ(problemOf(runsOut.bytes), "t: offset 192: a module record runs past the end");
}

// However it is cut: only where a recorder may have ended is the rest taken. Lost events are no
// cut.
TEST(TraceFile, RefusesACutTrace) {
  std::string bytes = good().bytes;
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(problemOf(StringRef(bytes).take_front(size)), "") << size;
  EXPECT_EQ(problemOf(good().put<uint64_t>(32, 100).put<uint64_t>(40, 96).bytes), "");
  EXPECT_NE(problemOf(good().put<uint64_t>(32, 100).put<uint64_t>(40, 95).bytes), "");
}

// Whatever a byte is changed to, the reader ends.
TEST(TraceFile, SurvivesEachChangedByte) {
  std::string bytes = good().bytes;
  for (char &byte : bytes) {
    char before = byte;
    for (int value = 0; value < 256; ++value) {
      byte = static_cast<char>(value);
      problemOf(bytes);
    }
    byte = before;
  }
  EXPECT_EQ(problemOf(bytes), "");
}

} // namespace
