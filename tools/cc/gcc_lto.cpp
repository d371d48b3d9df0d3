// Objects that only gcc's own linker plugin can read.
//
// The only code that reads ELF without LLVM's ELFFile, which would load two shared libraries:
// frontload-cc, which starts once for each file of a build, would take 320,000 instructions instead
// of 200,000.
#include "cc/gcc_lto.h"
#include "elf/elf_file.h"
#include "llvm/ADT/ArrayRef.h"

using namespace llvm;

namespace frontload {

/// `count` records at `offset`; none if they are not all in the file.
template <class T> static ArrayRef<T> records(StringRef file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T))
    return {};
  return {reinterpret_cast<const T *>(file.data() + offset), static_cast<size_t>(count)};
}

template <class ELFT> static bool isSlim(StringRef file) {
  using Header = typename ELFT::Ehdr;
  using Section = typename ELFT::Shdr;
  ArrayRef<Header> header = records<Header>(file, 0, 1);
  if (header.empty() || header[0].e_type != ELF::ET_REL || header[0].e_shentsize != sizeof(Section))
    return false;
  uint64_t offset = header[0].e_shoff, count = header[0].e_shnum, names = header[0].e_shstrndx;
  ArrayRef<Section> first = records<Section>(file, offset, 1);
  if (first.empty())
    return false;
  // Numbers that do not fit in the header are in the first section.
  count = count ? count : static_cast<uint64_t>(first[0].sh_size);
  names = names == ELF::SHN_XINDEX ? static_cast<uint64_t>(first[0].sh_link) : names;
  ArrayRef<Section> sections = records<Section>(file, offset, count);
  if (names >= sections.size())
    return false;
  StringRef text = file.substr(sections[names].sh_offset, sections[names].sh_size);
  bool isLto = false;
  for (const Section &section : sections) {
    // Loaded sections are code or data, but notes are in all objects.
    if (section.sh_flags & ELF::SHF_ALLOC && section.sh_type != ELF::SHT_NOTE && section.sh_size)
      return false;
    StringRef name = text.substr(section.sh_name);
    if (!name.starts_with(".gnu.lto_"))
      continue;
    isLto = true;
    // Since gcc 10, this section has two numbers of a version, then whether there is no code, also
    // for an empty source.
    if (name.starts_with(".gnu.lto_.lto."))
      if (ArrayRef<char> isSlim = records<char>(file, section.sh_offset, 5); !isSlim.empty())
        if (!isSlim[4])
          return false;
  }
  return isLto;
}

static bool isSlimObject(StringRef file) {
  bool result = false;
  if (file.size() >= ELF::EI_NIDENT)
    withElfType(file, [&]<class ELFT>() { result = isSlim<ELFT>(file); });
  return result;
}

/// The path of a member of a thin archive by the name in its header: "/", and the offset of the
/// path in the table of `paths`, where it ends in a slash and a line feed.
static StringRef memberPath(StringRef name, StringRef paths) {
  uint64_t offset;
  if (!name.consume_front("/"))
    return name.split('/').first;
  return name.rtrim(' ').getAsInteger(10, offset) ? "" : paths.substr(offset).split("/\n").first;
}

bool needsGccLto(StringRef file, function_ref<bool(StringRef)> needsMember) {
  bool isThin = file.consume_front("!<thin>\n");
  if (!isThin && !file.consume_front("!<arch>\n"))
    return isSlimObject(file);
  // A member has a header of 60 bytes of text, 16 of them its name and ten its size, and begins at
  // an even offset.
  constexpr size_t headerSize = 60, nameSize = 16, sizeAt = 48;
  StringRef paths;
  while (file.size() >= headerSize) {
    StringRef name = file.take_front(nameSize);
    uint64_t size;
    if (file.substr(sizeAt, 10).rtrim(' ').getAsInteger(10, size))
      return false;
    file = file.drop_front(headerSize);
    // Only the tables of a thin archive are in it.
    bool isTable = name.starts_with("/ ") || name.starts_with("//") || name.starts_with("/SYM64/");
    if (isThin && !isTable) {
      if (StringRef path = memberPath(name, paths); !path.empty() && needsMember(path))
        return true;
      continue;
    }
    if (name.starts_with("//"))
      paths = file.take_front(size);
    if (isSlimObject(file.take_front(size)))
      return true;
    size = std::min<uint64_t>(size, file.size());
    file = file.drop_front(std::min<uint64_t>(size + size % 2, file.size()));
  }
  return false;
}

} // namespace frontload
