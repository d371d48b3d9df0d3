//===- front_worth.h - which sections are worth a place in the front -------===//
//
// A profile may have large tables of which a few bytes were touched, and names that few runs
// touched. A section does not belong in the front if reading it along costs more than faulting it
// in now and then (io_model.h).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_FRONT_WORTH_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_FRONT_WORTH_H

#include <cstdint>

namespace frontload {

/// The windows that profiles count in, in bytes.
constexpr uint64_t windowBytes = 64 << 10;

/// Whether a section of `size` bytes should be read with the front although only this `share` of
/// the runs touches it. `windows` is how many windows of it a run touches, on the average of all
/// runs.
bool belongsToFront(uint64_t size, double windows, double share);

/// How many bytes are read by the faults for so many windows.
uint64_t bytesIfFaulted(double windows);

/// Whether the `bytes` that are touched of a section outside of the front, by this `share` of the
/// runs and at one place, should be asked for together with the front.
bool isWorthARequest(uint64_t bytes, double share);

/// Whether `bytes` that nobody needs are cheaper to read along, in a prefetch, than to make two
/// requests of one.
bool isWorthReading(uint64_t bytes);

} // namespace frontload

#endif
