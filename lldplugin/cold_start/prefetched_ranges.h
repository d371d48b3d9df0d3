//===- prefetched_ranges.h - what a file asks for of itself at its start ---===//
//
// A file that ld.frontload has linked says in a note where its front is. If it was linked with
// --front-prefetch, or frontload-run starts it, its front is read before it is relocated.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_COLD_START_PREFETCHED_RANGES_H
#define FRONTLOAD_LLDPLUGIN_COLD_START_PREFETCHED_RANGES_H

#include "elf/linked_file.h"
#include <vector>

namespace frontload {

/// The ranges of the front by the note of a file, in the order in which instrument/prefetch asks
/// for them, and no more of them than it does; empty where it would find no front.
std::vector<FileRange> frontRanges(const LinkedFile &file);

/// Whether a program asks for its front itself: it needs libfrontload-prefetch, or has it inside,
/// as its symbols tell.
bool prefetchesItself(const LinkedFile &file);

} // namespace frontload

#endif
