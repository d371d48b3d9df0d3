//===- elf_file.h - LLVM's view of an ELF file of any kind -----------------===//
//
// All code reads ELF through LLVM's ELFFile, which checks each table, or through two classes built
// on it: ElfObject for the many queries of planning, and LinkedFile for lookups by address. No
// other code follows an offset in a file, except tools/cc/gcc_lto.cpp, which says why.
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
