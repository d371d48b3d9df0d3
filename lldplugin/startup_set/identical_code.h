//===- identical_code.h - tells code that the linker will fold -------------===//
//
// With --icf a linker keeps one of several identical functions, and which one it keeps has nothing
// to do with which one a profile names. So all that may be folded with a startup function belong to
// the startup set: the one that is kept gets its place, the others take none.
//
// What the linker will find identical is guessed from each section by itself: bytes and flags must
// be equal, and relocations as far as an object tells. Two sections that it will not fold after all
// (they refer to local symbols that differ) are both placed, which costs the size of one.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_IDENTICAL_CODE_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_IDENTICAL_CODE_H

#include "elf/elf_object.h"
#include "llvm/Support/xxhash.h"

namespace frontload {

/// A number that is equal for sections that a linker may fold. `relocations` is the section with
/// theirs, if there is one.
template <class ELFT>
uint64_t hashCode(const ElfObject<ELFT> &object, const typename ELFT::Shdr &section,
                  const typename ELFT::Shdr *relocations) {
  llvm::StringRef contents = object.contents(section);
  uint64_t hash = llvm::xxh3_64bits(contents) ^ section.sh_flags * 0x9e3779b97f4a7c15;
  if (!relocations)
    return hash;
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29); };
  object.forEachTarget(*relocations, [&](uint32_t index, int64_t addend) {
    const auto &symbol = object.symbols()[index];
    mix(uint64_t(addend));
    if (symbol.getBinding() != llvm::ELF::STB_LOCAL)
      mix(llvm::xxh3_64bits(object.name(symbol)));
    else if (uint32_t target = object.sectionOf(symbol))
      mix(object.sections()[target].sh_size);
  });
  return hash;
}

} // namespace frontload

#endif
