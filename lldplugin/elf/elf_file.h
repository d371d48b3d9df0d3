//===- elf_file.h - an ELF file of whatever kind, by LLVM's view of it -----===//
//
// Whoever reads ELF here reads it by LLVM's ELFFile, which checks each table before it hands it
// out, or by what this room makes of that: ElfObject, which plans ask millions of questions, and
// LinkedFile, which finds things by their address. Nobody else follows the offsets of a file, but
// for tools/cc/gcc_lto.cpp, which says why.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_ELF_ELF_FILE_H
#define FRONTLOAD_LLDPLUGIN_ELF_ELF_FILE_H

#include "elf/elf_type.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// Calls `f` with LLVM's view of the ELF file in `bytes`, an ELFFile of one of the four kinds.
/// Fails as `f` does, or if there is no such view.
template <class F> llvm::Error withElfFile(llvm::StringRef bytes, F f) {
  llvm::Error result = llvm::createStringError("not an ELF file");
  withElfType(bytes, [&]<class ELFT>() {
    llvm::consumeError(std::move(result));
    auto file = llvm::object::ELFFile<ELFT>::create(bytes);
    result = file ? f(*file) : file.takeError();
  });
  return result;
}

} // namespace frontload

#endif
