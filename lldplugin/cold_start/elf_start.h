//===- elf_start.h - how a linked file starts, as far as the file tells ----===//
//
// Before a program's own code runs, the dynamic linker reads its tables and writes to every
// relocated page. No trace of the program shows that, but the file does.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_COLD_START_ELF_START_H
#define FRONTLOAD_LLDPLUGIN_COLD_START_ELF_START_H

#include "elf/linked_file.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// What happens while a file is loaded, in order.
struct LoadEvents {
  /// The dynamic linker reads, or writes, at an address.
  llvm::function_ref<void(uint64_t)> read, write;
  /// It has read what it has to know of the file; what follows are the relocations.
  llvm::function_ref<void()> beforeRelocation;
};

/// Tells what the dynamic linker touches in the ELF file in `bytes` with these segments, in the
/// order of glibc's.
llvm::Error loadProgram(llvm::StringRef bytes, llvm::ArrayRef<FileSegment> segments,
                        const LoadEvents &events);

} // namespace frontload

#endif
