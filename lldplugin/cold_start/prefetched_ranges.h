//===- prefetched_ranges.h - the ranges that a file prefetches -------------===//
//
// A file that ld.frontload has linked has a note with the place of its front. If it was linked with
// --front-prefetch, or frontload-run starts it, its front is read before it is relocated.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_COLD_START_PREFETCHED_RANGES_H
#define FRONTLOAD_LLDPLUGIN_COLD_START_PREFETCHED_RANGES_H

#include "elf/linked_file.h"
#include <vector>

namespace frontload {

/// The ranges that instrument/prefetch asks for by the note of a file, in its order; empty if it
/// finds no front.
std::vector<FileRange> frontRanges(const LinkedFile &file);

/// Whether a program prefetches its front itself: it needs libfrontload-prefetch, or contains it,
/// according to its symbols.
bool prefetchesItself(const LinkedFile &file);

} // namespace frontload

#endif
