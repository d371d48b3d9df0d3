//===- program_loading.h - the dynamic linker's work at a file's start ----===//
//
// Before a program's own code runs, the dynamic linker reads its tables and writes to every
// relocated page. No trace of the program shows that, but the file does.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_COLD_START_PROGRAM_LOADING_H
#define FRONTLOAD_LLDPLUGIN_COLD_START_PROGRAM_LOADING_H

#include "elf/linked_file.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// The events of loading a file, in order.
struct LoadEvents {
  /// The dynamic linker reads, or writes, at an address.
  llvm::function_ref<void(uint64_t)> read, write;
  /// The tables have been read; the relocations follow.
  llvm::function_ref<void()> beforeRelocation;
};

/// Reports what glibc's dynamic linker touches in the ELF file in `bytes` with these segments, in
/// order.
llvm::Error loadProgram(llvm::StringRef bytes, llvm::ArrayRef<FileSegment> segments,
                        const LoadEvents &events);

} // namespace frontload

#endif
