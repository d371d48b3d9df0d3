//===- code_padding.cpp - what aligned code costs --------------------------===//

#include "plan/code_padding.h"
#include "elf/elf_file.h"
#include "plan/front_script.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

template <class ELFT> static Expected<uint64_t> paddingIn(const ELFFile<ELFT> &file) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  auto hasContents = [](const auto &section) {
    return (section.sh_flags & ELF::SHF_ALLOC) && section.sh_type != ELF::SHT_NOBITS &&
           section.sh_size;
  };
  uint64_t padding = 0;
  for (const auto &section : *sections) {
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (!hasContents(section) ||
        !is_contained({StringRef(frontTextSection), StringRef(".text")}, *name))
      continue;
    uint64_t before = 0; // the end of the contents before it
    for (const auto &other : *sections)
      if (hasContents(other) && other.sh_offset < section.sh_offset)
        before = std::max<uint64_t>(before, other.sh_offset + other.sh_size);
    if (before < section.sh_offset)
      padding += section.sh_offset - before;
  }
  return padding;
}

uint64_t codePadding(StringRef bytes) {
  uint64_t result = 0;
  consumeError(withElfFile(bytes, [&](const auto &file) {
    Expected<uint64_t> padding = paddingIn(file);
    if (padding)
      result = *padding;
    return padding.takeError();
  }));
  return result;
}

} // namespace frontload
