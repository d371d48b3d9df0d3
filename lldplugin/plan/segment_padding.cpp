//===- segment_padding.cpp - segments that end on a page -------------------===//

#include "plan/segment_padding.h"
#include "elf/elf_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The size of `segment` if it reaches up to `next`; its own size in the file if it cannot.
template <class Phdr>
static uint64_t paddedSize(StringRef file, const Phdr &segment, const Phdr &next) {
  uint64_t size = segment.p_filesz, padded = next.p_offset - segment.p_offset;
  bool isAsFar = next.p_offset > segment.p_offset && next.p_vaddr - segment.p_vaddr == padded &&
                 next.p_paddr - segment.p_paddr == padded;
  if (!isAsFar || padded < segment.p_memsz || padded < size || next.p_offset > file.size() ||
      next.p_offset % std::max<uint64_t>(next.p_align, 1))
    return size;
  StringRef added = file.slice(segment.p_offset + size, segment.p_offset + segment.p_memsz);
  return added.find_first_not_of('\0') == StringRef::npos ? padded : size;
}

template <class ELFT> static Error pad(const ELFFile<ELFT> &file, MutableArrayRef<char> bytes) {
  using Phdr = typename ELFT::Phdr;
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  SmallVector<Phdr *, 16> loaded;
  for (const Phdr &header : *headers)
    if (header.p_type == ELF::PT_LOAD)
      loaded.push_back(reinterpret_cast<Phdr *>(
          bytes.data() + (reinterpret_cast<const char *>(&header) - bytes.data())));
  for (size_t i = 0; i + 1 < loaded.size(); ++i) {
    Phdr &segment = *loaded[i];
    uint64_t size = paddedSize({bytes.data(), bytes.size()}, segment, *loaded[i + 1]);
    if (size == segment.p_filesz)
      continue;
    segment.p_filesz = size;
    segment.p_memsz = size;
  }
  return Error::success();
}

void padSegments(MutableArrayRef<char> bytes) {
  consumeError(withElfFile(StringRef(bytes.data(), bytes.size()),
                           [&](const auto &file) { return pad(file, bytes); }));
}

} // namespace frontload
