//===- output_check.cpp - what must hold in a file with a front ------------===//

#include "plan/output_check.h"
#include "elf/elf_file.h"
#include "plan/front_script.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The table of .eh_frame_hdr is searched by bisection for the offset of a function from the
/// header, with the unsigned comparison of some unwinders and the signed one of others, so all
/// offsets must be ascending and of one sign. Layout: Linux Standard Base Core, section 10.6.2.
template <class ELFT> static Error checkEhFrameHdr(ArrayRef<uint8_t> header) {
  constexpr uint8_t sortedTable = dwarf::DW_EH_PE_datarel | dwarf::DW_EH_PE_sdata4;
  if (header.size() < 12 || header[2] != dwarf::DW_EH_PE_udata4 || header[3] != sortedTable)
    return Error::success(); // no search table, so nobody bisects it
  auto read = [&](size_t offset) {
    return support::endian::read32(header.data() + offset, ELFT::Endianness);
  };
  uint64_t count = read(8);
  if (count > (header.size() - 12) / 8)
    return createStringError(".eh_frame_hdr: its table is longer than the section");
  for (uint64_t i = 1; i < count; ++i) {
    int32_t previous = read(12 + 8 * (i - 1));
    int32_t current = read(12 + 8 * i);
    if (previous > current || (previous < 0 && current >= 0))
      return createStringError(".eh_frame_hdr: entry " + Twine(i) +
                               " is out of order, so exceptions would not find their handlers");
  }
  return Error::success();
}

template <class ELFT>
static Error checkEndSymbol(const ELFFile<ELFT> &file, const typename ELFT::Shdr &symtab,
                            const typename ELFT::Shdr *bss) {
  auto symbols = file.symbols(&symtab);
  if (!symbols)
    return symbols.takeError();
  auto names = file.getStringTableForSymtab(symtab);
  if (!names)
    return names.takeError();
  for (const auto &symbol : *symbols) {
    // Functions, objects and local labels of that name are the program's own; what is left is ours,
    // hidden and thereby local, or lld's. Nearly all symbols end here, unread.
    bool isLocal = symbol.getBinding() == ELF::STB_LOCAL;
    if (symbol.getType() != ELF::STT_NOTYPE || symbol.st_shndx == ELF::SHN_UNDEF ||
        (isLocal && symbol.getVisibility() != ELF::STV_HIDDEN) || symbol.st_name >= names->size())
      continue;
    if (StringRef(names->data() + symbol.st_name) == "_end" &&
        (!bss || symbol.st_value != bss->sh_addr + bss->sh_size))
      return createStringError("symbol '_end' is not at the end of .bss");
  }
  return Error::success();
}

/// Finds the end of the front: the end of its last section, or of the hot strings behind it.
template <class ELFT>
static Expected<Front> findFront(const ELFFile<ELFT> &file, HotStrings &strings) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  uint64_t cold = UINT64_MAX;
  const typename ELFT::Shdr *merged = nullptr, *last = nullptr;
  // The sections of the rest are the last that have contents and are loaded; see frontScript.
  for (const auto &section : *sections) {
    if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_type == ELF::SHT_NOBITS)
      continue;
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    bool isStrings = *name == stringsSection;
    bool isFront = *name == frontTextSection || *name == frontRodataSection ||
                   *name == ".data.rel.ro" || *name == ".data";
    if (isStrings || *name == ".text" || *name == ".rodata")
      cold = std::min<uint64_t>(cold, section.sh_offset);
    if (isStrings)
      merged = &section;
    if (isFront && section.sh_size && section.sh_offset > cold)
      return createStringError(*name + " lies after what is not in the front");
    // An empty section may lie anywhere in memory, also in no segment.
    if (section.sh_size && section.sh_offset + section.sh_size <= cold)
      last = &section;
  }
  Front front;
  if (last)
    front = {last->sh_offset + last->sh_size, last->sh_addr + last->sh_size, 0};
  if (merged) {
    auto contents = file.getSectionContents(*merged);
    if (!contents)
      return contents.takeError();
    if (uint64_t hot = strings.placePrefix(toStringRef(*contents)))
      front = {merged->sh_offset + hot, merged->sh_addr + hot, hot};
  }
  return front;
}

template <class ELFT>
static Expected<Front> check(const ELFFile<ELFT> &file, bool checkEnd, HotStrings &strings) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  auto segments = file.program_headers();
  if (!segments)
    return segments.takeError();
  for (const auto &segment : *segments)
    if (segment.p_type == ELF::PT_LOAD && segment.p_align > 1 &&
        (segment.p_offset - segment.p_vaddr) % segment.p_align)
      return createStringError("a segment's address does not fit its place in the file, so it "
                               "could not be loaded");

  const typename ELFT::Shdr *bss = nullptr, *symtab = nullptr;
  for (const auto &section : *sections) {
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (section.sh_type == ELF::SHT_SYMTAB)
      symtab = &section;
    if (*name == ".bss")
      bss = &section;
    if (*name != ".eh_frame_hdr")
      continue;
    auto contents = file.getSectionContents(section);
    if (!contents)
      return contents.takeError();
    if (Error e = checkEhFrameHdr<ELFT>(*contents))
      return e;
  }
  if (checkEnd && symtab)
    if (Error e = checkEndSymbol(file, *symtab, bss))
      return e;
  return findFront(file, strings);
}

Expected<Front> checkOutput(StringRef bytes, bool checkEnd, HotStrings &strings) {
  Front result;
  Error problem = withElfFile(bytes, [&](const auto &file) {
    Expected<Front> front = check(file, checkEnd, strings);
    if (front)
      result = *front;
    return front.takeError();
  });
  if (problem)
    return problem;
  return result;
}

} // namespace frontload
