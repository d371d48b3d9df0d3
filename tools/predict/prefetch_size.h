//===- prefetch_size.h - how much of itself a file asks for at its start ---===//
//
// A file that ld.frontload has linked says in a note where its front ends. If it was linked with
// --front-prefetch, or frontload-run starts it, its front is read before it is relocated.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_PREFETCH_SIZE_H
#define FRONTLOAD_TOOLS_PREDICT_PREFETCH_SIZE_H

#include "elf/linked_file.h"
#include "llvm/Object/ELFObjectFile.h"
#include <cstdint>

namespace frontload {

/// The bytes of the front by the note of a file; 0 where instrument/prefetch would find no front.
uint64_t frontSize(const LinkedFile &file);

/// Whether a program asks for its front itself: it needs libfrontload-prefetch, or has it inside,
/// as its symbols in `elf` tell.
bool prefetchesItself(const LinkedFile &file, const llvm::object::ELFObjectFileBase &elf);

} // namespace frontload

#endif
