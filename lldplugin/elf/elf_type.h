//===- elf_type.h - the four kinds of ELF files ----------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_ELF_ELF_TYPE_H
#define FRONTLOAD_LLDPLUGIN_ELF_ELF_TYPE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"

namespace frontload {

/// Calls `f` with LLVM's type for the kind of ELF file in `bytes`; does nothing for other files.
template <class F> void withElfType(llvm::StringRef bytes, F f) {
  using namespace llvm::object;
  if (!bytes.starts_with(llvm::ELF::ElfMagic))
    return;
  auto [elfClass, elfData] = getElfArchType(bytes);
  bool little = elfData == llvm::ELF::ELFDATA2LSB;
  if (elfClass == llvm::ELF::ELFCLASS64)
    little ? f.template operator()<ELF64LE>() : f.template operator()<ELF64BE>();
  else if (elfClass == llvm::ELF::ELFCLASS32)
    little ? f.template operator()<ELF32LE>() : f.template operator()<ELF32BE>();
}

/// Writes `X(ELFT)` for each kind: the instances of a template that is defined in one file. Needs
/// using namespace llvm::object.
#define FRONTLOAD_FOR_EACH_ELF_TYPE(X) X(ELF32LE) X(ELF32BE) X(ELF64LE) X(ELF64BE)

} // namespace frontload

#endif
