// Segments without gaps.
//
// A segment that is larger in memory than in the file has the kernel clear the rest of its last
// page, for which it has to read that page before the program runs a single instruction. In a
// linear file (front_script.h) the file has room for all that is in memory before .bss, filled with
// zeros. So the program headers can include these zeros, and the kernel clears nothing. Segments
// that are then one in memory become one: each is a system call for the loader.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace frontload {

/// Changes the headers of the ELF file in `bytes` where its loadable segments are linear:
/// * each segment but the last reaches up to where the next one begins, in memory and in the file;
/// * sections of a segment that were only in memory now have contents;
/// * neighbours with the same flags are one.
/// A segment for which that would be wrong, and a file that cannot be read, stay as they are.
void completeSegments(llvm::MutableArrayRef<char> bytes);

} // namespace frontload
