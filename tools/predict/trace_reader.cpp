// Reads a trace.
#include "predict/trace_reader.h"
#include "frontload_trace.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace llvm;

namespace frontload {

Expected<std::vector<uint64_t>> readTrace(StringRef path, StringRef bytes, ModuleFilter isWanted) {
  auto fail = [&](uint64_t offset, const Twine &what) {
    return createStringError(path + ": offset " + Twine(offset) + ": " + what);
  };
  if (!bytes.starts_with(StringRef(FRONTLOAD_TRACE_MAGIC, 8)))
    return fail(0, "not a trace: wrong magic");
  if (bytes.size() < FRONTLOAD_TRACE_HEADER_SIZE)
    return fail(bytes.size(), "truncated inside its header");
  unsigned orderByte = static_cast<uint8_t>(bytes[offsetof(frontload_trace_header, byte_order)]);
  if (orderByte != FRONTLOAD_LITTLE_ENDIAN && orderByte != FRONTLOAD_BIG_ENDIAN)
    return fail(8, "byte order " + Twine(orderByte) + " is neither 1 (little) nor 2 (big)");
  auto order = orderByte == FRONTLOAD_LITTLE_ENDIAN ? endianness::little : endianness::big;
  auto read = [&]<class T>(uint64_t offset, T) {
    return support::endian::read<T>(bytes.data() + offset, order);
  };
  if (unsigned major = read(offsetof(frontload_trace_header, major), uint16_t());
      major != FRONTLOAD_TRACE_MAJOR)
    return fail(12, "trace format " + Twine(major) + " is not " + Twine(FRONTLOAD_TRACE_MAJOR));
  uint64_t start = read(offsetof(frontload_trace_header, header_size), uint32_t());
  if (start < FRONTLOAD_TRACE_HEADER_SIZE || start > bytes.size())
    return fail(16, "a header of " + Twine(start) + " bytes");
  if (unsigned size = read(offsetof(frontload_trace_header, slot_size), uint32_t());
      size != FRONTLOAD_TRACE_SLOT_SIZE)
    return fail(20, "slot size " + Twine(size) + " is not " + Twine(FRONTLOAD_TRACE_SLOT_SIZE));
  uint64_t room = (bytes.size() - start) / FRONTLOAD_TRACE_SLOT_SIZE;
  uint64_t claimed = read(offsetof(frontload_trace_header, next_slot), uint64_t());
  uint64_t dropped = read(offsetof(frontload_trace_header, dropped_events), uint64_t());
  // A recorder extends the file by whole pages, so only another file can have been cut.
  if ((bytes.size() - start) % FRONTLOAD_TRACE_SLOT_SIZE ||
      (claimed > room && claimed - room > dropped && bytes.size() % 4096))
    return fail(bytes.size(),
                "truncated: it has " + Twine(room) + " of " + Twine(claimed) + " slots");

  struct Event {
    uint64_t address;
    uint32_t module;
  };
  std::vector<Event> events;
  DenseMap<uint64_t, bool> wanted; // by number; 64 bits wide, since the map reserves two keys
  for (uint64_t slot = 0, count = std::min(room, claimed); slot < count; ++slot) {
    uint64_t offset = start + slot * FRONTLOAD_TRACE_SLOT_SIZE;
    uint64_t word = read(offset, uint64_t());
    uint32_t module = read(offset + 8, uint32_t());
    unsigned kind = word >> 56;
    if (kind != FRONTLOAD_MODULE) {
      // Kinds of a newer minor version that are no touches end below FRONTLOAD_MODULE.
      if (kind >= FRONTLOAD_FUNCTION && kind <= FRONTLOAD_CODE)
        events.push_back({word & FRONTLOAD_ADDRESS_MASK, module});
      continue;
    }
    uint64_t idSize = word >> 40 & 0xff, slots = word >> 16 & 0xffffff, pathSize = word & 0xffff;
    uint64_t payload = idSize + pathSize;
    if (slots != 1 + divideCeil(payload, FRONTLOAD_TRACE_SLOT_SIZE) || !pathSize)
      return fail(offset, "a module record of " + Twine(slots) + " slots for a build-id of " +
                              Twine(idSize) + " bytes and a path of " + Twine(pathSize));
    slot += slots - 1;
    if (!(word >> 48 & 0xff))
      continue; // its writer was stopped
    if (slot >= room)
      return fail(offset, "a module record runs past the end");
    StringRef id = bytes.substr(offset + FRONTLOAD_TRACE_SLOT_SIZE, idSize);
    StringRef name = bytes.substr(offset + FRONTLOAD_TRACE_SLOT_SIZE + idSize, pathSize);
    if (!wanted.try_emplace(module, isWanted(name, id)).second)
      return fail(offset, "module " + Twine(module) + " is recorded twice");
  }
  if (none_of(wanted, [](const auto &entry) { return entry.second; }))
    return createStringError(path + ": none of its modules is the program");
  std::vector<uint64_t> addresses;
  for (const Event &event : events)
    if (wanted.lookup(event.module))
      addresses.push_back(event.address);
  return addresses;
}

TraceRun readRun(StringRef bytes) {
  if (!bytes.starts_with(StringRef(FRONTLOAD_TRACE_MAGIC, 8)) ||
      bytes.size() < FRONTLOAD_TRACE_HEADER_SIZE)
    return {};
  auto order = bytes[offsetof(frontload_trace_header, byte_order)] == FRONTLOAD_BIG_ENDIAN
                   ? endianness::big
                   : endianness::little;
  auto read = [&]<class T>(uint64_t offset, T) {
    return support::endian::read<T>(bytes.data() + offset, order);
  };
  if (read(offsetof(frontload_trace_header, minor), uint16_t()) < 2)
    return {};
  return {read(offsetof(frontload_trace_header, run), uint64_t()),
          bytes[offsetof(frontload_trace_header, forked)] != 0,
          read(offsetof(frontload_trace_header, pid), uint32_t())};
}

} // namespace frontload
