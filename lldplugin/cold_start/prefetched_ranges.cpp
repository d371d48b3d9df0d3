//===- prefetched_ranges.cpp - the ranges that a file prefetches -----------===//
//
// Follows find_ranges() of instrument/prefetch/ranges.c. The file is untrusted: a file that LLVM
// does not accept has no front.
//
//===----------------------------------------------------------------------===//

#include "cold_start/prefetched_ranges.h"
#include "elf/elf_file.h"
#include "elf/elf_object.h"
#include "frontload_note.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <optional>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// As in instrument/prefetch.
static constexpr uint64_t maxFront = 256 << 20, minPage = 4096;

/// The offset in the file of a range's beginning, or of its end, which may be one past the last
/// byte of a segment; nothing if it is in no segment.
static std::optional<uint64_t> offsetOf(ArrayRef<FileSegment> segments, uint64_t address,
                                        bool isEnd) {
  for (const FileSegment &segment : segments)
    if (address >= segment.address && address - segment.address < segment.fileBytes + isEnd)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

/// Adds a range, or extends the last one if no page lies between. Returns whether it is valid.
static bool addRange(std::vector<FileRange> &ranges, uint64_t begin, uint64_t end,
                     ArrayRef<FileSegment> segments) {
  std::optional<uint64_t> from = offsetOf(segments, begin, false),
                          to = offsetOf(segments, end, true);
  if (!from || !to || *to <= *from || *to - *from != end - begin ||
      any_of(ranges, [&](FileRange other) { return *from < other.end && other.begin < *to; }))
    return false;
  if (!ranges.empty() && *from >= ranges.back().end &&
      *from / minPage <= (ranges.back().end - 1) / minPage + 1)
    ranges.back().end = *to;
  else
    ranges.push_back({*from, *to});
  return true;
}

/// Leaves `bytes` of the ranges: whole ones as long as they fit, then whole pages.
static void cut(std::vector<FileRange> &ranges, uint64_t bytes) {
  for (auto range = ranges.begin(); range != ranges.end(); ++range) {
    if (range->size() <= bytes) {
      bytes -= range->size();
      continue;
    }
    range->end = alignDown(range->begin + bytes, minPage);
    ranges.erase(range->begin < range->end ? range + 1 : range, ranges.end());
    return;
  }
}

template <endianness Order>
static std::vector<FileRange> rangesIn(ArrayRef<uint8_t> descriptor,
                                       ArrayRef<FileSegment> segments) {
  using support::endian::read;
  if (descriptor.size() != FRONTLOAD_NOTE_DESCRIPTOR_SIZE)
    return {};
  uint32_t version = read<uint32_t, Order>(descriptor.data());
  uint32_t count = read<uint32_t, Order>(descriptor.data() + 4);
  if (version != FRONTLOAD_NOTE_VERSION || count < 1 || count > FRONTLOAD_NOTE_MAX_RANGES)
    return {};
  std::vector<FileRange> ranges;
  for (const uint8_t *at = descriptor.data() + 8; count > 0; --count, at += 16)
    if (!addRange(ranges, read<uint64_t, Order>(at), read<uint64_t, Order>(at + 8), segments))
      return {};
  cut(ranges, maxFront);
  return ranges;
}

std::vector<FileRange> frontRanges(const LinkedFile &file) {
  std::vector<FileRange> ranges;
  consumeError(withElfFile(file.bytes, [&]<class ELFT>(const ELFFile<ELFT> &elf) -> Error {
    auto headers = elf.program_headers();
    if (!headers)
      return headers.takeError();
    bool isFound = false;
    for (const auto &header : *headers) {
      if (header.p_type != ELF::PT_NOTE || isFound)
        continue;
      Error problem = Error::success();
      for (const auto &note : elf.notes(header, problem)) {
        if (isFound || note.getType() != FRONTLOAD_NOTE_TYPE ||
            note.getName() != FRONTLOAD_NOTE_NAME)
          continue;
        isFound = true;
        ranges =
            rangesIn<ELFT::Endianness>(note.getDesc(header.p_align == 8 ? 8 : 4), file.segments);
      }
      consumeError(std::move(problem));
    }
    return Error::success();
  }));
  return ranges;
}

/// Whether the dynamic section names the library.
template <class ELFT>
static Expected<bool> needsLibrary(const ELFFile<ELFT> &elf, const LinkedFile &file) {
  auto headers = elf.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_DYNAMIC)
      continue;
    auto entries = file.table<typename ELFT::Dyn>(header.p_vaddr, header.p_filesz);
    if (!entries)
      return entries.takeError();
    uint64_t strings = 0;
    for (const auto &entry : *entries)
      if (entry.getTag() == ELF::DT_STRTAB)
        strings = entry.getVal();
    for (const auto &entry : *entries)
      if (entry.getTag() == ELF::DT_NEEDED &&
          file.at(strings + entry.getVal()).starts_with("libfrontload-prefetch.so"))
        return true;
  }
  return false;
}

bool prefetchesItself(const LinkedFile &file) {
  bool does = false;
  consumeError(withElfFile(file.bytes, [&](const auto &view) {
    auto found = needsLibrary(view, file);
    does = found && *found;
    return found.takeError();
  }));
  if (!does)
    withElfObject(file.bytes, /*isLinked=*/true, [&](const auto &object) {
      does = any_of(object.symbols(), [&](const auto &symbol) {
        return object.name(symbol) == "frontload_prefetch_at_start";
      });
    });
  return does;
}

} // namespace frontload
