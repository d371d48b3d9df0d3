//===- gcc_lto.cpp - objects that only gcc's own linker plugin can read ----===//

#include "cc/gcc_lto.h"
#include "elf/elf_file.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// Whether `file` is an object of gcc's without code.
template <class ELFT> static Expected<bool> isSlim(const ELFFile<ELFT> &file) {
  if (file.getHeader().e_type != ELF::ET_REL)
    return false;
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  auto names = file.getSectionStringTable(*sections);
  if (!names)
    return names.takeError();
  bool isLto = false;
  for (const auto &section : *sections) {
    // What is loaded is code or data; notes are in all objects.
    if (section.sh_flags & ELF::SHF_ALLOC && section.sh_type != ELF::SHT_NOTE && section.sh_size)
      return false;
    StringRef name = names->substr(section.sh_name);
    if (!name.starts_with(".gnu.lto_"))
      continue;
    isLto = true;
    // Since gcc 10 this says it of an object of an empty source, too: two numbers of a version,
    // then whether there is no code.
    if (!name.starts_with(".gnu.lto_.lto."))
      continue;
    auto contents = file.getSectionContents(section);
    if (!contents)
      return contents.takeError();
    if (contents->size() > 4 && !(*contents)[4])
      return false;
  }
  return isLto;
}

/// What is damaged is for the linker to refuse.
static bool isSlimObject(StringRef bytes) {
  bool result = false;
  consumeError(withElfFile(bytes, [&](const auto &file) {
    auto found = isSlim(file);
    result = found && *found;
    return found.takeError();
  }));
  return result;
}

bool needsGccLto(StringRef file) {
  if (!file.consume_front("!<arch>\n"))
    return isSlimObject(file);
  // A member is behind 60 bytes of text, of which ten are its size, and begins at an even offset.
  constexpr size_t headerSize = 60, sizeAt = 48;
  while (file.size() > headerSize) {
    uint64_t size;
    if (file.substr(sizeAt, 10).rtrim(' ').getAsInteger(10, size))
      return false;
    file = file.drop_front(headerSize);
    if (isSlimObject(file.take_front(size)))
      return true;
    size = std::min<uint64_t>(size, file.size());
    file = file.drop_front(std::min<uint64_t>(size + size % 2, file.size()));
  }
  return false;
}

} // namespace frontload
