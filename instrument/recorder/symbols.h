// The symbol tables of an ELF file, with LLVM's checked accessors: the file is untrusted.
#ifndef FRONTLOAD_RECORDER_SYMBOLS_H
#define FRONTLOAD_RECORDER_SYMBOLS_H

#include "bytes_left.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Object/ELF.h"

namespace frontload {

/// The names of a symbol table. In an honest file a name may be the end of another one, but all of
/// them together are little longer than the file; each of a damaged one may be as long as the file.
class SymbolNames {
public:
  explicit SymbolNames(uint64_t fileSize) : left(16 * fileSize) {}
  /// The name of a symbol of the current table.
  llvm::Expected<llvm::StringRef> of(const llvm::object::ELF64LE::Sym &symbol);

private:
  friend llvm::Error
  visitSymbols(const llvm::object::ELFFile<llvm::object::ELF64LE> &elf, unsigned tableType,
               llvm::function_ref<llvm::Error(const llvm::object::ELF64LE::Sym &, SymbolNames &)>);
  llvm::StringRef table;
  BytesLeft left;
};

/// Calls `visit` for each symbol of the tables of one type (SHT_SYMTAB or SHT_DYNSYM), with the
/// names of its table. Ends at the first error; tables that overlap are an error.
llvm::Error visitSymbols(
    const llvm::object::ELFFile<llvm::object::ELF64LE> &elf, unsigned tableType,
    llvm::function_ref<llvm::Error(const llvm::object::ELF64LE::Sym &, SymbolNames &)> visit);

} // namespace frontload

#endif
