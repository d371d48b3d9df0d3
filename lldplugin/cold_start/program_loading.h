// What is read before a program's own code runs.
//
// Before a program's own code runs, the dynamic linker reads its tables and writes to every
// relocated page. No trace of the program shows that, but the file does.
//
// A file that ld.frontload has linked has a note with the place of its front. If it was linked with
// --front-prefetch, or frontload-run starts it, its front is read before it is relocated.
#pragma once

#include "elf/linked_file.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace frontload {

/// The ranges that instrument/prefetch asks for by the note of a file, in its order; empty if it
/// finds no front.
AskedRanges frontRanges(const LinkedFile &file);

/// Whether a program prefetches its front itself: it needs libfrontload-prefetch, or contains it,
/// according to its symbols.
bool prefetchesItself(const LinkedFile &file);

/// The offset of the dynamic linker's name (PT_INTERP); 0 without one.
uint64_t interpreterOffset(llvm::StringRef bytes);

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
