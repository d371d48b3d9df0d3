//===- segment_padding.h - segments that end on a page ---------------------===//
//
// A segment that is larger in memory than in the file has the kernel clear the rest of its last
// page, for which it has to read that page before the program runs a single instruction. In a
// linear file (front_script.h) zeros follow each segment up to the page where the next one begins.
// So the segments can as well contain them, and nothing is cleared.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_SEGMENT_PADDING_H
#define FRONTLOAD_LLDPLUGIN_PLAN_SEGMENT_PADDING_H

#include "llvm/ADT/ArrayRef.h"

namespace frontload {

/// Extends each loadable segment of the ELF file in `bytes` to where the next one begins, in memory
/// and in the file, if that is as far in both and what it has in memory only is zeros in the file.
/// Leaves the last segment, and all of a file that cannot be read, as they are.
void padSegments(llvm::MutableArrayRef<char> bytes);

} // namespace frontload

#endif
