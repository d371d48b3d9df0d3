// The symbol tables of an ELF file, with LLVM's checked accessors: the file is untrusted.
#ifndef FRONTLOAD_RECORDER_SYMBOLS_H
#define FRONTLOAD_RECORDER_SYMBOLS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Object/ELF.h"

namespace frontload {

/// Shows each symbol of the tables of one type (SHT_SYMTAB or SHT_DYNSYM), and the names of its
/// table, to `visit`. Ends at the first error.
llvm::Error visitSymbols(
    const llvm::object::ELFFile<llvm::object::ELF64LE> &elf, unsigned tableType,
    llvm::function_ref<llvm::Error(const llvm::object::ELF64LE::Sym &, llvm::StringRef names)>
        visit);

} // namespace frontload

#endif
