//===- prefetch_size.cpp - how much of itself a file asks for at its start -===//
//
// Follows find_front() of instrument/prefetch/front.c. The file is untrusted: a file that LLVM does
// not accept has no front.
//
//===----------------------------------------------------------------------===//

#include "predict/prefetch_size.h"
#include "elf/elf_file.h"
#include "frontload_note.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// As in instrument/prefetch/front.c.
static constexpr uint64_t largestFront = 256 << 20;

/// The offset in the file of a tier's end, 0 if it is in no segment: it may be one behind the last
/// byte of one.
static uint64_t offsetOf(ArrayRef<FileSegment> segments, uint64_t end) {
  for (const FileSegment &segment : segments)
    if (end >= segment.address && end - segment.address <= segment.fileBytes)
      return segment.offset + (end - segment.address);
  return 0;
}

template <endianness Order>
static uint64_t endOfTiers(ArrayRef<uint8_t> descriptor, ArrayRef<FileSegment> segments) {
  using support::endian::read;
  if (descriptor.size() < FRONTLOAD_NOTE_DESCRIPTOR_SIZE(1) ||
      read<uint32_t, Order>(descriptor.data()) != FRONTLOAD_NOTE_VERSION)
    return 0;
  uint32_t tiers = read<uint32_t, Order>(descriptor.data() + 4);
  if (tiers < 1 || tiers > FRONTLOAD_NOTE_MAX_TIERS ||
      descriptor.size() != FRONTLOAD_NOTE_DESCRIPTOR_SIZE(tiers))
    return 0;
  uint64_t size = 0;
  for (uint32_t i = 0; i < tiers; ++i) {
    uint64_t end = read<uint64_t, Order>(descriptor.data() + 8 + 8 * i);
    uint64_t offset = offsetOf(segments, end);
    if (offset <= size)
      return 0;
    size = offset;
  }
  return std::min(size, largestFront);
}

uint64_t frontSize(const LinkedFile &file) {
  uint64_t size = 0;
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
        size =
            endOfTiers<ELFT::Endianness>(note.getDesc(header.p_align == 8 ? 8 : 4), file.segments);
      }
      consumeError(std::move(problem));
    }
    return Error::success();
  }));
  return size;
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

bool prefetchesItself(const LinkedFile &file, const ELFObjectFileBase &elf) {
  bool needs = false;
  consumeError(withElfFile(file.bytes, [&](const auto &view) {
    auto found = needsLibrary(view, file);
    needs = found && *found;
    return found.takeError();
  }));
  return needs || any_of(elf.symbols(), [](const ELFSymbolRef &symbol) {
           auto name = symbol.getName();
           if (!name)
             return consumeError(name.takeError()), false;
           return *name == "frontload_prefetch_at_start";
         });
}

} // namespace frontload
