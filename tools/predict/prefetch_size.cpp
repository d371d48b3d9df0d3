//===- prefetch_size.cpp - how much of itself a file asks for at its start -===//
//
// Follows find_front() of instrument/prefetch/front.c. The file is untrusted: what LLVM does not
// accept has no front.
//
//===----------------------------------------------------------------------===//

#include "predict/prefetch_size.h"
#include "elf/elf_object.h"
#include "frontload_note.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// As in instrument/prefetch/front.c.
static constexpr uint64_t largestFront = 256 << 20;

/// The offset in the file of a tier's end, 0 if it is in no segment.
template <class ELFT>
static uint64_t offsetOf(ArrayRef<typename ELFT::Phdr> headers, uint64_t fileBytes, uint64_t end) {
  for (const auto &header : headers) {
    uint64_t offset = header.p_offset, size = header.p_filesz, address = header.p_vaddr;
    if (header.p_type == ELF::PT_LOAD && offset <= fileBytes && size <= fileBytes - offset &&
        end >= address && end - address <= size)
      return offset + (end - address);
  }
  return 0;
}

template <class ELFT>
static uint64_t endOfTiers(ArrayRef<uint8_t> descriptor, ArrayRef<typename ELFT::Phdr> headers,
                           uint64_t fileBytes) {
  using support::endian::read;
  if (descriptor.size() < FRONTLOAD_NOTE_DESCRIPTOR_SIZE(1) ||
      read<uint32_t, ELFT::Endianness>(descriptor.data()) != FRONTLOAD_NOTE_VERSION)
    return 0;
  uint32_t tiers = read<uint32_t, ELFT::Endianness>(descriptor.data() + 4);
  if (tiers < 1 || tiers > FRONTLOAD_NOTE_MAX_TIERS ||
      descriptor.size() != FRONTLOAD_NOTE_DESCRIPTOR_SIZE(tiers))
    return 0;
  uint64_t size = 0;
  for (uint32_t i = 0; i < tiers; ++i) {
    uint64_t end = read<uint64_t, ELFT::Endianness>(descriptor.data() + 8 + 8 * i);
    uint64_t offset = offsetOf<ELFT>(headers, fileBytes, end);
    if (offset <= size)
      return 0;
    size = offset;
  }
  return std::min(size, largestFront);
}

template <class ELFT> static uint64_t sizeByNote(StringRef bytes) {
  auto file = ELFFile<ELFT>::create(bytes);
  if (!file)
    return consumeError(file.takeError()), 0;
  auto headers = file->program_headers();
  if (!headers)
    return consumeError(headers.takeError()), 0;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_NOTE)
      continue;
    Error problem = Error::success();
    uint64_t size = 0;
    bool isFound = false;
    for (const auto &note : file->notes(header, problem)) {
      if (isFound || note.getType() != FRONTLOAD_NOTE_TYPE || note.getName() != FRONTLOAD_NOTE_NAME)
        continue;
      isFound = true;
      size = endOfTiers<ELFT>(note.getDesc(header.p_align == 8 ? 8 : 4), *headers, bytes.size());
    }
    consumeError(std::move(problem));
    if (isFound)
      return size;
  }
  return 0;
}

uint64_t frontSize(StringRef bytes) {
  uint64_t size = 0;
  withElfType(bytes, [&]<class ELFT>() { size = sizeByNote<ELFT>(bytes); });
  return size;
}

template <class ELFT> static bool needsLibrary(StringRef bytes, ArrayRef<FileSegment> segments) {
  using Dyn = typename ELFT::Dyn;
  auto file = ELFFile<ELFT>::create(bytes);
  if (!file)
    return consumeError(file.takeError()), false;
  auto headers = file->program_headers();
  if (!headers)
    return consumeError(headers.takeError()), false;
  for (const auto &header : *headers) {
    uint64_t offset = header.p_offset, size = header.p_filesz;
    if (header.p_type != ELF::PT_DYNAMIC || offset > bytes.size() || size > bytes.size() - offset)
      continue;
    ArrayRef entries(reinterpret_cast<const Dyn *>(bytes.data() + offset), size / sizeof(Dyn));
    uint64_t strings = 0;
    for (const Dyn &entry : entries)
      if (entry.getTag() == ELF::DT_STRTAB)
        strings = entry.getVal();
    for (const FileSegment &segment : segments) {
      if (strings < segment.address || strings - segment.address >= segment.fileBytes)
        continue;
      StringRef table =
          bytes.substr(segment.offset, segment.fileBytes).drop_front(strings - segment.address);
      for (const Dyn &entry : entries)
        if (entry.getTag() == ELF::DT_NEEDED &&
            table.substr(entry.getVal()).starts_with("libfrontload-prefetch.so"))
          return true;
    }
  }
  return false;
}

bool prefetchesItself(StringRef bytes, ArrayRef<FileSegment> segments,
                      const ELFObjectFileBase &file) {
  bool needs = false;
  withElfType(bytes, [&]<class ELFT>() { needs = needsLibrary<ELFT>(bytes, segments); });
  return needs || any_of(file.symbols(), [](const ELFSymbolRef &symbol) {
           auto name = symbol.getName();
           if (!name)
             return consumeError(name.takeError()), false;
           return *name == "frontload_prefetch_at_start";
         });
}

} // namespace frontload
