// Which sections are worth a place in the front.
//
// A profile may name large tables with few touched bytes, and sections that few runs touched. A
// section does not belong in the front if reading it there costs more than an occasional fault
// (io_model.h).
#pragma once

#include <cstdint>

namespace frontload {

/// How much of a tail a start asks for. Measured on a 207 MB clang that was trained with 12 of 16
/// kinds of starts, for the 4 others: 135 faults and 29.2 MB with 10.6 MB, 101 and 30.2 with 14, 57
/// and 33.7 with 21.
constexpr uint64_t maxAskedTail = 16 << 20;

/// The size of the windows that profiles count, in bytes.
constexpr uint64_t windowBytes = 64 << 10;

/// Whether the front should contain a section of `size` bytes that this `share` of the runs
/// touches. `windows` is the number of its windows that a run touches, on the average of all runs.
bool belongsToFront(uint64_t size, double windows, double share);

/// How many bytes the faults for this number of windows read.
uint64_t bytesIfFaulted(double windows);

/// Whether `bytes` that this `share` of the runs touches, at one place of a section outside of the
/// front, should be prefetched together with the front.
bool isWorthARequest(uint64_t bytes, double share);

/// Whether a prefetch should read `bytes` of unneeded data rather than split its request in two.
bool isWorthReading(uint64_t bytes);

/// The padding that a section with this alignment may need, if that is not worth reading; else 0.
/// Such a section stays out of the front, so that no padding within the front is costly.
inline uint64_t costlyPadding(uint64_t alignment) {
  return alignment && !isWorthReading(alignment - 1) ? alignment - 1 : 0;
}

} // namespace frontload
