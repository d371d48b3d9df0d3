// The kinds of sections in a front.
#include "elf/section_class.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;

namespace frontload {

static constexpr StringLiteral classNames[numSectionClasses] = {"rodata", "text", "relro", "data",
                                                                "bss"};

StringRef toString(SectionClass c) { return classNames[static_cast<unsigned>(c)]; }

std::optional<SectionClass> parseSectionClass(StringRef name) {
  const StringLiteral *found = llvm::find(classNames, name);
  return found == std::end(classNames)
             ? std::nullopt
             : std::optional(static_cast<SectionClass>(found - classNames));
}

bool hasStem(StringRef name, StringRef stem) {
  return name.starts_with(stem) && (name.size() == stem.size() || name[stem.size()] == '.');
}

std::optional<SectionClass> classifySection(StringRef name, uint32_t type, uint64_t flags) {
  using namespace ELF;
  constexpr uint64_t unmovable = SHF_TLS | SHF_LINK_ORDER | SHF_COMPRESSED | SHF_EXCLUDE;
  if (!(flags & SHF_ALLOC) || (flags & unmovable))
    return std::nullopt;
  if (type == SHT_NOBITS)
    return (flags & SHF_WRITE) && hasStem(name, ".bss") && !name.starts_with(".bss.rel.ro")
               ? std::optional(SectionClass::Bss)
               : std::nullopt;
  if (type != SHT_PROGBITS)
    return std::nullopt;
  if (flags & SHF_EXECINSTR)
    return hasStem(name, ".text") ? std::optional(SectionClass::Text) : std::nullopt;
  if (!(flags & SHF_WRITE))
    return hasStem(name, ".rodata") ? std::optional(SectionClass::Rodata) : std::nullopt;
  if (hasStem(name, ".data.rel.ro"))
    return SectionClass::Relro;
  return hasStem(name, ".data") ? std::optional(SectionClass::Data) : std::nullopt;
}

std::optional<SectionClass> classifyLinkedSection(uint32_t type, uint64_t flags) {
  using namespace ELF;
  if (!(flags & SHF_ALLOC) || (flags & SHF_TLS))
    return std::nullopt;
  if (flags & SHF_EXECINSTR)
    return SectionClass::Text;
  if (!(flags & SHF_WRITE))
    return SectionClass::Rodata;
  return type == SHT_NOBITS ? SectionClass::Bss : SectionClass::Data;
}

} // namespace frontload
